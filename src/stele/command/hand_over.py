"""The client of the local worker (`worker.py`, which has the protocol): it lets the worker run a command.

Every job starts one, so it imports little, and `_socket` and `_signal`, without the enumerations of `socket` and
`signal`, which take half as long as the start of Python.
"""

import _signal
import _socket
import os
import sys
from array import array

FORWARDED = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGUSR1)
DECLINED = b"declined\n"
SIZE = 8  # bytes that say how long a request is


def is_one_process(argv: list[str]) -> bool:
    """Whether a command line, with general options as the workflow writes them, certainly asks for one process.

    >>> is_one_process(["--nodes", "1", "--gpus", "0", "pretraining", "pretrain"]), is_one_process(["scoring", "score"])
    (True, True)
    >>> is_one_process(["--nodes", "2", "--gpus", "1", "pretraining", "pretrain"]), is_one_process(["--gpus=2", "x"])
    (False, False)
    """
    options = argv
    while options and options[0].startswith("-"):
        if options[0] != "--cpus" and not (options[0] in ("--nodes", "--gpus") and options[1:2] in (["0"], ["1"])):
            return False
        options = options[2:]
    return True


def hand_over(path: str, arguments: list[str], package: str = "stele") -> int | None:
    """Lets the worker at `path` run a package's command. Returns its exit code, or None if no worker accepts it."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        return None
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    parts = [sys.prefix, str(os.getpid()), package, os.getcwd(), str(len(arguments)), *arguments, *environment]
    message = b"\0".join(map(os.fsencode, parts))
    message = len(message).to_bytes(SIZE, "big") + message
    standard_files = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", [0, 1, 2]))
    sent = connection.sendmsg([message], [standard_files])
    if sent < len(message):  # sending nothing fails too, where the worker has declined and hung up already
        connection.sendall(message[sent:])
    for number in FORWARDED:
        _signal.signal(number, lambda received, frame: connection.sendall(b"%d\n" % received))
    answer = b""
    while not answer.endswith(b"\n"):
        part = connection.recv(64)
        if not part:
            print("stele: error: the local worker went away; run the same command again", file=sys.stderr)
            return 1
        answer += part
    return None if answer == DECLINED else int(answer)

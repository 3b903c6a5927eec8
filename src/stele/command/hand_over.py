"""The client of the local worker (`worker.py`, which has the protocol): it lets the worker run a command.

Every job starts one, so it imports little: with argparse, dataclasses and pathlib it would take twice the time, and
with json a quarter longer.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
DECLINED = b"declined\n"
SIZE = 8  # bytes that say how long a request is


def is_one_process(argv: Sequence[str]) -> bool:
    """Whether a command line, with general options as the workflow writes them, certainly asks for one process.

    >>> is_one_process(["--nodes", "1", "--gpus", "0", "pretraining", "pretrain"]), is_one_process(["scoring", "score"])
    (True, True)
    >>> is_one_process(["--nodes", "2", "--gpus", "1", "pretraining", "pretrain"]), is_one_process(["--gpus=2", "x"])
    (False, False)
    """
    options = list(argv)
    while options and options[0].startswith("-"):
        if options[0] != "--cpus" and not (options[0] in ("--nodes", "--gpus") and options[1:2] in (["0"], ["1"])):
            return False
        options = options[2:]
    return True


def hand_over(path: str, arguments: Sequence[str], package: str = "stele") -> int | None:
    """Lets the worker at `path` run a package's command. Returns its exit code, or None if no worker accepts it."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        return None
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    parts = [sys.prefix, str(os.getpid()), package, os.getcwd(), str(len(arguments)), *arguments, *environment]
    message = b"\0".join(map(os.fsencode, parts))
    message = len(message).to_bytes(SIZE, "big") + message
    sent = socket.send_fds(connection, [message], [0, 1, 2])
    if sent < len(message):  # sending nothing fails too, where the worker has declined and hung up already
        connection.sendall(message[sent:])
    for number in FORWARDED:
        signal.signal(number, lambda received, frame: connection.sendall(b"%d\n" % received))
    answer = b""
    while not answer.endswith(b"\n"):
        part = connection.recv(64)
        if not part:
            print("stele: error: the local worker went away; run the same command again", file=sys.stderr)
            return 1
        answer += part
    return None if answer == DECLINED else int(answer)

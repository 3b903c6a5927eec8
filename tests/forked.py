"""Several processes as the launcher would start them, but forked from this one, which has torch loaded."""

import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable

from tests.waiting import PATIENCE


def forked(world: int, work: Callable[[int], object]) -> list[int]:
    """Calls work(rank) in `world` processes with a gloo group; returns how each ended (0, an exit code, -signal).

    When one fails the others are ended, as torchrun does.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = {_start(rank, world, port, work): rank for rank in range(world)}
    ended, deadline = [0] * world, time.monotonic() + PATIENCE
    while running:
        hung = time.monotonic() > deadline
        for pid, rank in list(running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                ended[rank] = os.waitstatus_to_exitcode(status)
                del running[pid]
        if hung or any(ended):
            for pid in running:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        assert not hung, "the processes wait for one another"
    return ended


def _start(rank: int, world: int, port: int, work: Callable[[int], object]) -> int:
    def joined() -> None:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in place.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", STELE_DEVICE="cpu", ACCELERATE_USE_CPU="true")
        work(rank)

    return child(joined)


def child(work: Callable[[], object]) -> int:
    """Forks a process that calls work() and ends with 0, or with 1 after an exception, which it shows."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        from accelerate import PartialState

        PartialState._reset_state()  # that of the process which forked: one alone
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)

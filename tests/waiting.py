"""Waiting in tests: it ends at once when what is waited for is there, and fails only for what hangs.

No test sets its own deadline: a machine may be slow, and busy with other things.
"""

import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import TypeVar

PATIENCE = 900  # seconds after which something counts as hung
Answer = TypeVar("Answer")


def wait_for(
    condition: Callable[[], Answer], what: str = "it", message: Callable[[], str] = str, every: float = 0.02
) -> Answer:
    """The first true answer of `condition`, looked at every so many seconds; `message()` is shown if it never comes."""
    until = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < until, f"{what} never came; {message()}"
        time.sleep(every)
    return answer


def exit_code(process: BaseProcess) -> int:
    """How a process of multiprocessing ended (negative: the signal); one that hangs is killed and fails the test."""
    process.join(PATIENCE)
    if process.exitcode is None:
        process.kill()
        raise AssertionError(f"{process.name} hangs")
    return process.exitcode

"""Jobs that are killed on their way, in a process of their own that is forked from this one."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

from tests.waiting import exit_code

Patch = tuple[Any, str, Callable[..., Any]]  # a module, the name of one of its functions, what it is replaced by


def ended(run: Callable[[], object], *patches: Patch) -> int:
    """How a process that calls `run` with the patches ended (negative: the signal)."""

    def patched() -> None:
        for module, name, function in patches:
            setattr(module, name, function)
        run()

    process = multiprocessing.get_context("fork").Process(target=patched)
    process.start()
    return exit_code(process)


def killed(run: Callable[[], object], *patches: Patch) -> None:
    """Calls `run` with patches by which it kills itself, with kill -9."""
    assert ended(run, *patches) == -signal.SIGKILL, "it was to be killed"


def kill_at(module: Any, name: str, call: int = 1) -> Patch:
    """Kills the process instead of the call-th call of a function."""
    original, calls = getattr(module, name), []

    def function(*given, **named):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*given, **named)

    return module, name, function


def kill_after(step: int, number: int = signal.SIGKILL, label: str = "") -> Patch:
    """Sends the process a signal right after a step of a training, whose label has `label` in it."""
    from stele.training import loop
    from stele.training.callbacks import Snapshots

    original = loop.train

    def train(*given, callbacks, **more):
        end = {step: lambda: os.kill(os.getpid(), number)} if label in more.get("label", "") else {}
        return original(*given, callbacks={**callbacks, "end": Snapshots(end)}, **more)

    return loop, "train", train

"""Progress with an estimate: a bar on a terminal, a line now and then in a log file."""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from threading import RLock
from typing import TypeVar

T = TypeVar("T")
LOG_INTERVAL = 10.0  # seconds between two lines in a log


def bar(total: int | None, label: str, unit: str = "it"):
    """A tqdm bar on standard error to be updated by hand; used as a context manager."""
    terminal = sys.stderr.isatty()
    return _tqdm()(
        total=total,
        desc=label,
        unit=unit,
        unit_scale=unit == "B",  # a scaled count begins with 0.00
        dynamic_ncols=terminal,
        mininterval=0.2 if terminal else LOG_INTERVAL,
        maxinterval=LOG_INTERVAL,
        ascii=not terminal,
        file=_Lines() if not terminal else None,
        disable=os.environ.get("RANK", "0") != "0",  # of several processes, the first
    )


@cache
def _tqdm() -> type:
    """tqdm's class with a lock of this process alone.

    Its default lock is shared with forked processes: one that was killed while it held the lock would stop all others.
    """
    from tqdm import tqdm

    def own_lock() -> None:
        tqdm.set_lock(RLock())

    own_lock()
    os.register_at_fork(after_in_child=own_lock)
    return tqdm


class _Lines:
    """Writes each refresh of a bar as a line of its own, for logs."""

    def write(self, text: str) -> None:
        text = text.strip("\r\n ")
        if text:
            sys.stderr.write(text + "\n")

    def flush(self) -> None:
        sys.stderr.flush()


def track(iterable: Iterable[T], total: int | None, label: str, unit: str = "it") -> Iterator[T]:
    """Yields the items of `iterable` and shows how far it has come and how long it will still take."""
    with bar(total, label, unit) as shown:
        for item in iterable:
            yield item
            shown.update()

"""The state of a training run on disk, from which it resumes as if it had never stopped."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stele.files.atomic import atomic_file
from stele.files.reading import reading

FILE = "training.pt"
State = dict[str, Any]  # of tensors, numbers, texts, and lists and mappings of them


def save(folder: Path, values: State) -> None:
    """Writes the state atomically: a run killed while writing leaves the previous state."""
    import torch

    with atomic_file(Path(folder) / FILE, "wb") as handle:
        torch.save(dict(values), handle)


def load(folder: Path, device: Any) -> State | None:
    """Loads the saved state, or returns None if there is none. Raises SteleError if the file is damaged."""
    import torch

    path = Path(folder) / FILE
    if not path.exists():
        return None
    # a file server or a GPU that fails says nothing about the file, which may hold days of training
    advice = f"run the same command again; if that fails alike on another node, delete {folder} to train from the start"
    with reading(path, "training state", advice):
        return torch.load(path, map_location=device, weights_only=True)


def rows_to_tensors(rows: list[dict[str, float]]) -> State:
    """Packs the log into a float64 tensor [rows, names], NaN for a missing entry: small, without pickled objects."""
    import torch

    names = sorted(set().union(*rows))
    flat = [[row.get(name, math.nan) for name in names] for row in rows]
    return {"names": names, "values": torch.tensor(flat, dtype=torch.float64).reshape(len(rows), len(names))}


def tensors_to_rows(log: State) -> list[dict[str, float]]:
    names = log["names"]
    return [
        {name: value for name, value in zip(names, row, strict=True) if not math.isnan(value)}
        for row in log["values"].tolist()
    ]


@contextmanager
def stop_signals() -> Iterator[list[str]]:
    """Collects SIGINT, SIGTERM and SIGUSR1 (a scheduler's notice before its time limit) instead of ending the process.

    Yields the list of names of the signals received so far. Outside the main thread signals stay as they are.
    """
    import signal
    import threading

    received: list[str] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {n: signal.signal(n, lambda number, frame: received.append(signal.Signals(number).name)) for n in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

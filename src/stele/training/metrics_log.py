"""The log of a run: losses of each step, counts over the run; read from the device now and then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from stele.errors import SteleError
from stele.training.processes import ProcessContext

EVERY = 50  # steps whose losses stay on the device before they are read and checked
NORM = "gradient_norm"  # may be infinite now and then under float16: the step is then skipped

Losses = dict[str, tuple[Any, "float | None"]]  # name -> sum of weighted losses, sum of weights (None: weighted before)


class Figure(NamedTuple):
    """A mean over a micro-batch that the curve shows, weighted as its loss is; no part of the loss."""

    value: Tensor
    weight: float


def weigh(value: Tensor | tuple[Tensor, float]) -> tuple[Tensor, float | None]:
    """A micro-batch's share of the step's loss, and its weight where it came as (mean loss, weight)."""
    return (value[0] * value[1], value[1]) if isinstance(value, tuple) else (value, None)


def merge(totals: Losses, parts: Losses) -> None:
    """Adds the losses of another micro-batch or process to `totals`."""
    for name, (part, weight) in parts.items():
        value, weights = totals.get(name, (0.0, None if weight is None else 0.0))
        totals[name] = (value + part, None if weight is None else weights + weight)


class MetricsLog:
    """The log of a run: `rows`, one a step, and `counts`."""

    def __init__(self, process: ProcessContext) -> None:
        self.process = process
        self.rows: list[dict[str, float]] = []
        self.counts: dict[str, int] = {}
        self._waiting: list[tuple[dict[str, float], Losses, dict[str, int]]] = []

    def add(self, step: int, rate: float, losses: Losses, counts: Mapping[str, int]) -> None:
        """Takes note of a step; its losses may still be on the device."""
        self._waiting.append(({"step": step, "learning_rate": rate}, losses, dict(counts)))
        if len(self._waiting) >= EVERY:
            self.flush()

    def flush(self) -> None:
        """Reads what waits, summed over processes; all of them must come here together.

        A loss that is not a finite number ends the run, and so never reaches a saved state.
        """
        read = [
            (row, {name: (float(value), weight) for name, (value, weight) in losses.items()}, counts)
            for row, losses, counts in self._waiting
        ]
        self._waiting.clear()
        for other in self.process.gather_others(read):
            for (_, losses, counts), (_, theirs, more) in zip(read, other, strict=True):
                merge(losses, theirs)
                counts.update({name: counts.get(name, 0) + number for name, number in more.items()})
        for row, losses, counts in read:
            self._enter(row, losses)
            for name, number in counts.items():
                self.counts[name] = self.counts.get(name, 0) + number

    def _enter(self, row: dict[str, float], losses: Losses) -> None:
        means = {name: value if weight is None else value / weight for name, (value, weight) in losses.items()}
        bad = [f"{name} = {value}" for name, value in means.items() if name != NORM and not math.isfinite(value)]
        if bad:
            raise SteleError(
                f"training diverged at step {int(row['step'])}: {', '.join(bad)}; lower the learning rate, "
                f"clip gradients (clip_norm) or use float32"
            )
        self.rows.append({**row, **means})

    def tail(self, share: float = 0.05) -> dict[str, float]:
        """Mean losses over the last twentieth of the steps."""
        rows = self.rows[-max(1, round(len(self.rows) * share)) :]
        names = sorted({name for row in rows for name in row} - {"step", "learning_rate"})
        columns = {name: [row[name] for row in rows if name in row] for name in names}
        return {name: round(sum(values) / len(values), 6) for name, values in columns.items()}

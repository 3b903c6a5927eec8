"""The training curve: the log of a run's losses, and its CSV file with one line per step."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stele.errors import SteleError
from stele.files import formats
from stele.files.atomic import atomic_file
from stele.files.reading import reading

if TYPE_CHECKING:
    from torch import Tensor

    from stele.training.processes import ProcessContext

FIRST = ("step", "learning_rate")
FILE = "curve.csv"  # in the folder of a trained model, beside the outputs of its record


def write_curve(folder: Path, rows: Sequence[dict[str, float]]) -> None:
    """Writes FILE with one line per step: step, learning rate, then all other columns in alphabetical order.

    A cell is empty where a step has no such value (no batch of that kind).
    """
    names = [*FIRST, *sorted(set().union(*rows) - set(FIRST))]
    with atomic_file(folder / FILE) as handle:
        lines = ([int(row["step"]), *(f"{row[n]:.7g}" if n in row else "" for n in names[1:])] for row in rows)
        formats.write_csv(handle, [names, *lines])


def read_csv(path: Path) -> list[dict[str, float]]:
    with reading(path, "loss curve", "train again"), open(path, encoding="utf-8", newline="") as handle:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(handle)]


# --- log --------------------------------------------------------------------------------------------------------------
EVERY = 50  # steps whose losses stay on the device before they are read and checked
NORM = "gradient_norm"  # may be infinite or undefined now and then under float16: the step is then skipped

Losses = dict[str, tuple[Any, float]]  # name -> (sum of weighted losses, sum of weights)


class Figure(NamedTuple):
    """A mean over a micro-batch that the curve shows but the loss excludes, and its weight among micro-batches."""

    value: Tensor
    weight: float


def diverged(step: int, what: str) -> SteleError:
    """Error for a run that computed infinite or undefined numbers; `what` names them."""
    return SteleError(
        f"training diverged at step {step}: {what}; lower the learning rate, clip gradients (clip_norm) or use float32"
    )


def weigh(value: Tensor | tuple[Tensor, float]) -> tuple[Tensor, float]:
    """(Weighted loss, weight) of a micro-batch; a loss alone has weight 1."""
    mean, weight = value if isinstance(value, tuple) else (value, 1.0)
    return mean * weight, weight


def merge(totals: Losses, parts: Losses) -> None:
    """Adds the losses of another micro-batch or process to `totals`."""
    for name, (part, weight) in parts.items():
        value, weights = totals.get(name, (0.0, 0.0))
        totals[name] = value + part, weights + weight


class MetricsLog:
    """Log of a training run: `rows`, one for each step, and `counts`, summed over all steps."""

    def __init__(self, process: ProcessContext) -> None:
        self.process = process
        self.rows: list[dict[str, float]] = []
        self.counts: dict[str, int] = {}
        self._waiting: list[tuple[dict[str, float], Losses, dict[str, int]]] = []

    def add(self, step: int, rate: float, losses: Losses, counts: Mapping[str, int]) -> None:
        """Adds a step to the log; its losses may still be on the device."""
        self._waiting.append(({"step": step, "learning_rate": rate}, losses, dict(counts)))
        if len(self._waiting) >= EVERY:
            self.flush()

    def flush(self) -> None:
        """Reads the waiting losses off the device, summed over processes, which must all call this together.

        Raises SteleError if a loss is not finite, so that such a loss never reaches a saved state.
        """
        read = [
            (row, {name: (float(value), weight) for name, (value, weight) in losses.items()}, counts)
            for row, losses, counts in self._waiting
        ]
        self._waiting.clear()
        for other in self.process.gather_others(read):
            for (_, losses, counts), (_, theirs, their_counts) in zip(read, other, strict=True):
                merge(losses, theirs)
                counts.update({name: counts.get(name, 0) + number for name, number in their_counts.items()})
        for row, losses, counts in read:
            self._enter(row, losses)
            for name, number in counts.items():
                self.counts[name] = self.counts.get(name, 0) + number

    def _enter(self, row: dict[str, float], losses: Losses) -> None:
        means = {name: value / weight for name, (value, weight) in losses.items()}
        bad = [f"{name} = {value}" for name, value in means.items() if name != NORM and not math.isfinite(value)]
        if bad:
            raise diverged(int(row["step"]), ", ".join(bad))
        # a row without the norm, as `saved_state` reads it back
        self.rows.append(row | {name: mean for name, mean in means.items() if not math.isnan(mean)})

    def tail(self, share: float = 0.05) -> dict[str, float]:
        """Means of all columns over the last `share` of the steps; infinite gradient norms (float16) are ignored."""
        rows = self.rows[-max(1, round(len(self.rows) * share)) :]
        columns: dict[str, list[float]] = {}
        for name in sorted(set().union(*rows) - set(FIRST)):
            if finite := [row[name] for row in rows if math.isfinite(row.get(name, math.nan))]:
                columns[name] = finite
        return {name: round(sum(values) / len(values), 6) for name, values in columns.items()}

"""The training curve: the log of a run's losses, its CSV file with one line per step, and its picture."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

from stele.errors import SteleError
from stele.files import formats
from stele.files.atomic import atomic_file
from stele.files.reading import reading

if TYPE_CHECKING:
    from torch import Tensor

    from stele.training.processes import ProcessContext

FIRST = ("step", "learning_rate")
UNDRAWN = ("_guess", "_cosine")  # endings of columns that are in the CSV but not in the picture
SUFFIXES = (".csv", ".svg")  # numbers and picture
WIDTH, HEIGHT = 340, 220  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 50, 325, 50, 190  # edges of its curve


def columns(rows: Sequence[dict[str, float]]) -> list[str]:
    """Names of the curve's columns: step, learning rate, then all others in alphabetical order."""
    return [*FIRST, *sorted(set().union(*rows) - set(FIRST))]


def write_csv(path: Path, rows: Sequence[dict[str, float]]) -> None:
    """Writes one line per step; a cell is empty where a step has no such value (no batch of that kind)."""
    names = columns(rows)
    with atomic_file(path) as handle:
        lines = ([int(row["step"]), *(f"{row[n]:.7g}" if n in row else "" for n in names[1:])] for row in rows)
        formats.write_csv(handle, [names, *lines])


def read_csv(path: Path) -> list[dict[str, float]]:
    with reading(path, "loss curve", "train again"), open(path, encoding="utf-8", newline="") as handle:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(handle)]


def copy_curve(curve: Path, folder: Path) -> None:
    """Copies the CSV file `curve` and its .svg into a folder, as curve.csv and curve.svg."""
    for suffix in SUFFIXES:
        shutil.copyfile(curve.with_suffix(suffix), folder / f"curve{suffix}")


def smoothed(values: Sequence[float], span: int) -> list[float]:
    """Running mean of `values` over the last `span` of them.

    >>> smoothed([4.0, 2.0, 0.0], 2)
    [4.0, 3.0, 1.0]
    """
    means, total = [], 0.0
    for index, value in enumerate(values):
        total += value - (values[index - span] if index >= span else 0.0)
        means.append(total / min(index + 1, span))
    return means


def draw(path: Path, rows: Sequence[dict[str, float]], title: str) -> None:
    """Draws losses and accuracies as an SVG, each in a panel; matplotlib would take half a second."""
    names = [name for name in columns(rows)[2:] if not name.endswith(UNDRAWN)]
    size = f'width="{WIDTH * max(1, len(names))}" height="{HEIGHT}"'
    with atomic_file(path) as handle:
        handle.write(f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">\n')
        handle.write(f'<rect {size} fill="white"/>\n{_text(LEFT, 16, title)}\n')
        for number, name in enumerate(names):
            handle.write(f'<g transform="translate({number * WIDTH} 0)">\n{_panel(name, rows)}\n</g>\n')
        handle.write("</svg>\n")


def _panel(name: str, rows: Sequence[dict[str, float]]) -> str:
    points = [(row["step"], row[name]) for row in rows if math.isfinite(row.get(name, math.nan))]
    if not points:
        return _text(LEFT, TOP, name)
    steps, values = zip(*points, strict=True)
    means = smoothed(values, max(1, len(values) // 25))
    lines = [
        _text(LEFT, TOP - 8, name),
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="gray"/>',
        _text(LEFT - 4, TOP + 8, f"{max(values):.3g}", "end"),
        _text(LEFT - 4, BOTTOM, f"{min(values):.3g}", "end"),
        _text(LEFT, BOTTOM + 14, f"step {steps[0]:.0f}"),
        _text(RIGHT, BOTTOM + 14, f"{steps[-1]:.0f}", "end"),
    ]
    for heights, color, width in ((values, "silver", 0.6), (means, "steelblue", 1.4)):
        places = zip(_scaled(steps, LEFT, RIGHT), _scaled(heights, BOTTOM, TOP, values), strict=True)
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="{width}"/>')
    return "\n".join(lines)


def _scaled(values: Sequence[float], first: int, last: int, among: Sequence[float] = ()) -> list[float]:
    """Scales values linearly: the least value (of `among`, if given) becomes `first`, the greatest becomes `last`."""
    low, high = min(among or values), max(among or values)
    return [first + (value - low) / ((high - low) or 1.0) * (last - first) for value in values]


def _text(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


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

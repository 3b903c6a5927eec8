"""Loss curves: a CSV with one line a step, and its picture."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

from stele.files import formats
from stele.files.atomic import atomic_file
from stele.files.reading import reading

FIRST = ("step", "learning_rate")
UNDRAWN = ("_guess", "_cosine")  # ends of columns that the CSV alone has: each picture takes a tenth of a second
SUFFIXES = (".csv", ".png", ".pdf")  # numbers and pictures


def columns(rows: Sequence[dict[str, float]]) -> list[str]:
    """Step and learning rate, then the rest by name."""
    return [*FIRST, *sorted({name for row in rows for name in row} - set(FIRST))]


def write_csv(path: Path, rows: Sequence[dict[str, float]]) -> None:
    """One line a step; what a step did not have (no batch of that kind) is left empty."""
    names = columns(rows)
    with atomic_file(path) as handle:
        lines = ([int(row["step"]), *(f"{row[n]:.7g}" if n in row else "" for n in names[1:])] for row in rows)
        formats.write_csv(handle, [names, *lines])


def read_csv(path: Path) -> list[dict[str, float]]:
    with reading(path, "loss curve", "train again"), open(path, encoding="utf-8", newline="") as handle:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(handle)]


def copy_curve(curve: Path, folder: Path) -> None:
    """Puts a curve's files (`curve` is the CSV) into a folder, as curve.csv and so on."""
    for suffix in SUFFIXES:
        shutil.copyfile(curve.with_suffix(suffix), folder / f"curve{suffix}")


def smoothed(values: Sequence[float], span: int) -> list[float]:
    """A running mean over the last `span` values.

    >>> smoothed([4.0, 2.0, 0.0], 2)
    [4.0, 3.0, 1.0]
    """
    means, total = [], 0.0
    for index, value in enumerate(values):
        total += value - (values[index - span] if index >= span else 0.0)
        means.append(total / min(index + 1, span))
    return means


def draw(path: Path, rows: Sequence[dict[str, float]], title: str) -> None:
    """Draws losses and accuracies (thin: as measured, thick: running mean) to `path` (.png) and a .pdf."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = [name for name in columns(rows)[2:] if not name.endswith(UNDRAWN)]
    names = [name for name in drawn if any(math.isfinite(row.get(name, math.nan)) for row in rows)]
    width = 3.4 * max(1, len(names))
    figure = Figure(figsize=(width, 2.6))
    FigureCanvasAgg(figure)
    # margins in inches: matplotlib's own layouts measure every label, which takes as long as drawing
    figure.subplots_adjust(left=0.5 / width, right=1 - 0.15 / width, bottom=0.17, top=0.8, wspace=0.25)
    for axes, name in zip(figure.subplots(1, max(1, len(names)), squeeze=False)[0], names, strict=False):
        points = [(row["step"], row[name]) for row in rows if name in row]
        steps, values = zip(*points, strict=True)
        axes.plot(steps, values, color="0.75", linewidth=0.6)
        axes.plot(steps, smoothed(values, max(1, len(values) // 25)), color="tab:blue", linewidth=1.4)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("step", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.locator_params(nbins=5)
        axes.grid(alpha=0.25)
    figure.suptitle(title, fontsize=9)
    for target, options in ((path, {"dpi": 110}), (path.with_suffix(".pdf"), {"metadata": {"CreationDate": None}})):
        with atomic_file(target, "wb") as handle:
            figure.savefig(handle, format=target.suffix[1:], **options)

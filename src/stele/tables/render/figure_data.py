"""Lookup of the values or the file behind each series of a figure, with its state, as for the cells of tables.

A file lies beside a result, in the folder of its seeds, as `{metric}_{language}.csv`, with its record as `.json`:

- projection: a line for each sentence: `line` (from 0), `language`, `x`, `y`; the record has `explained`, the two
  coordinates' shares of variance
- lengths: a line for each length that occurs: `tokens` and `documents`, from the shortest on
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from stele.artifacts.records import read_record
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.files.reading import reading
from stele.papers.figure import Figure, Panel, Series, file_key, file_name
from stele.papers.paper import TODAY
from stele.papers.table_parts import CellSource, resolve
from stele.published.verdicts import published_for
from stele.tables.values.context import Context
from stele.tables.values.lookup import STATES, Outcome, Results, State, lookup_absence, lookup_value

DRAWN = ("file of a figure", "remove it and run again")  # for errors: the kind of file, and the remedy
FAIL = State("fail", "", "its pretraining diverged", STATES["measured"].colour)  # as in tables
POINT_STATES = {**STATES, FAIL.name: FAIL}
T = TypeVar("T")


@dataclass(frozen=True)
class Projection:
    """Projected sentences, language -> line -> (x, y), and the shares of variance that the two coordinates explain."""

    points: dict[str, dict[int, tuple[float, float]]]
    explained: tuple[float, float]


@dataclass(frozen=True)
class Lengths:
    """Pairs of a length in tokens and the number of documents of that length, shortest first."""

    counts: list[tuple[int, int]]

    @property
    def documents(self) -> int:
        return sum(count for _, count in self.counts)

    def share_up_to(self, length: float) -> float:
        """Share of documents that are at most `length` tokens long."""
        return sum(count for tokens, count in self.counts if tokens <= length) / self.documents


@dataclass(frozen=True)
class PanelSeries:
    """One series in one panel (the whole panel if None), with the outcomes of its points or of its file."""

    panel: Panel
    series: Series | None
    outcomes: tuple[Outcome, ...]
    data: Projection | Lengths | None = None

    @property
    def measured(self) -> int:
        """Number of measured points; 1 for a file that exists."""
        return sum(outcome.state == "measured" for outcome in self.outcomes)


def panel_series(figure: Figure, context: Context, results: Results) -> list[PanelSeries]:
    """Looks up all series of a figure, panel by panel."""
    drawn, languages = [], [series.key for series in figure.series]
    read = partial(read_projection, languages=languages) if figure.kind == "projection" else read_lengths
    for panel in figure.panels:
        shown = _with_published(figure, panel) if figure.paper == TODAY else panel
        for series, targets in figure.parts(panel):
            references = [resolve(target) for target in targets]
            if figure.from_files:
                outcome, data = find_file(context, results, references[0], read)
                drawn.append(PanelSeries(shown, series, (outcome,), data))
            else:
                outcomes = (lookup_value(context, results, reference) for reference in references)
                drawn.append(PanelSeries(shown, series, tuple(map(_without_diverged, outcomes))))
    return drawn


def _without_diverged(outcome: Outcome) -> Outcome:
    """Copies an outcome without its number, which the reason then gives, if every pretraining behind it diverged."""
    if not outcome.diverged:
        return outcome
    reason = f"{outcome.reason.removeprefix('pretraining diverged: ')}; measured {outcome.value:.4g}"
    return Outcome(FAIL.name, reason, labels=outcome.labels)


def _with_published(figure: Figure, panel: Panel) -> Panel:
    """Copies a panel of today's encoders, with published values that were read at their source as printed values."""
    printed: dict[str, dict[float, float]] = {}
    for series in figure.series:
        for point in series.points:
            verdicts = published_for(resolve(figure.target_of(panel, series, point)), None, (), None, {})
            if verdicts and verdicts[0].published.judges:
                printed.setdefault(series.key, {})[point.place] = verdicts[0].published.value
    return panel.model_copy(update={"printed": printed})


# --- files ------------------------------------------------------------------------------------------------------------
def find_file(
    context: Context, results: Results, reference: CellSource, read: Callable[[Path], T]
) -> tuple[Outcome, T | None]:
    """Looks up a file: its outcome and, if it exists undamaged, its content as `read` returns it."""
    name = file_key(reference)
    if name in context.failed:
        return Outcome("failed", f"log: {context.failed[name]}"), None
    path = _path(context, results, reference)
    if path is None or name in context.outdated or not context.in_scale(reference):
        return lookup_absence(context, reference), None
    try:
        record = read_record(path.with_suffix(".json"))
        if record.get("content") != sha256(path):
            raise SteleError(f"{path}: not the file that its record describes; remove it and run again")
        data = read(path)
    except SteleError as error:
        return Outcome("unreadable", str(error)), None
    return Outcome("measured", languages=reference.languages, labels=tuple(sorted(record.get("labels", ())))), data


def _path(context: Context, results: Results, reference: CellSource) -> Path | None:
    """Path of the file of the context's seeds, else of the first seeds that exist; a count's file has no seeds."""
    folder, name = results.path(reference.result).with_suffix(""), f"{file_name(reference)}.csv"
    seeds = context.seeds.get(reference.result.name, "pt*-ft*")
    return next(iter([*folder.glob(name), *sorted(folder.glob(f"{seeds}/{name}"))]), None)


def read_projection(path: Path, languages: list[str]) -> Projection:
    """Reads projected sentences, one point for each line and language. Raises SteleError if the file is damaged."""
    points: dict[str, dict[int, tuple[float, float]]] = {language: {} for language in languages}
    with reading(path, *DRAWN):
        for row in _rows(path, ("line", "language", "x", "y")):
            if row["language"] not in points:
                raise SteleError(f"{path}: want the languages {' and '.join(languages)}, found {row['language']!r}")
            points[row["language"]][int(row["line"])] = float(row["x"]), float(row["y"])
    first, second = points.values()
    if not first or first.keys() != second.keys():
        raise SteleError(f"{path}: want a point in each language for every line; remove it and run again")
    explained = read_record(path.with_suffix(".json")).get("explained", ())
    if not (isinstance(explained, list) and list(map(type, explained)) == [float, float]):
        raise SteleError(f"{path.with_suffix('.json')}: want two shares as `explained`, found {explained!r}")
    return Projection(points, (explained[0], explained[1]))


def read_lengths(path: Path) -> Lengths:
    """Reads counted lengths. Raises SteleError if the file is damaged."""
    with reading(path, *DRAWN):
        counts = [(int(row["tokens"]), int(row["documents"])) for row in _rows(path, ("tokens", "documents"))]
    if not counts or any(tokens < 0 or documents < 1 for tokens, documents in counts):
        raise SteleError(f"{path}: want lengths with at least one document each; remove it and run again")
    return Lengths(sorted(counts))


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yields the rows of a CSV file. Raises SteleError if its columns are not `columns`."""
    with open(path, encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle)
        if tuple(rows.fieldnames or ()) != columns:
            raise SteleError(f"{path}: want the columns {', '.join(columns)}, found {rows.fieldnames}")
        yield from rows

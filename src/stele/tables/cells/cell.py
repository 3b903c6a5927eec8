"""Spec + context + results -> cells: each with its printed number, ours, its state, and why.

Nothing here is stored: a cell's state follows from what the results folder holds at this moment, then from what the
context knows. The order of the tests in `find` is the order of the answers' worth to a reader.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from stele.artifacts.records import GENERATED, STAND_IN, WHOLE_ANCESTRY, Record, content_digest, read_ancestry
from stele.artifacts.results import Metric, Result, mean_over_seeds, read_result
from stele.catalogue.models import seen_questions
from stele.errors import SteleError
from stele.files.reading import read_object
from stele.papers.table import Table, groups_for_extra_rows, printed_under, reference_of, source_of
from stele.papers.table_parts import CellSource, Column, Group, Line, Printed, Report, TableRow, Target
from stele.tables.cells import numbers
from stele.tables.cells.context import Context
from stele.tables.published.beside import beside
from stele.tables.published.verdicts import Verdict

NOT_THE_PAPERS = {GENERATED, STAND_IN}  # labels of numbers that no paper's stand beside


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: a state, why, and if measured the value (a fraction) and the languages in it.

    `deviation` is the standard deviation over seeds, where the result averages several. `guess` is what a random order
    scores, and the standard error of the value's distance from it, where the result says so. `diverged`: the value is
    that of pretrainings that all came to nothing; where some did, the reason alone says so.
    """

    state: str
    reason: str = ""
    value: float | None = None
    languages: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    deviation: float | None = None
    diverged: bool = False
    guess: tuple[float, float] | None = None


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    `column` is where it belongs, in every output; `printed_under` is where the paper prints it, another column only
    where the paper exchanged two. In tables of today's encoders `published` are the published numbers, the one that is
    shown first, and `seen` the training questions of its benchmark that the model saw.
    """

    table: Table
    group: Group
    row: TableRow
    line: Line
    column: Column
    printed_under: Column
    printed: Printed | None
    extra: bool
    reference: CellSource | None
    outcome: Outcome
    seeds: tuple[str, ...] = ()  # whose mean it is, `pt0-ft1`; none: those of the configuration
    published: tuple[Verdict, ...] = ()
    seen: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"{self.group.key}/{self.row.key}/{self.line.key}/{self.column.key}"

    @property
    def report(self) -> Report:
        return self.column.report or self.line.report or self.table.report

    @property
    def direction(self) -> str:
        return self.column.direction or self.line.direction or self.table.direction

    @property
    def measured(self) -> bool:
        return self.outcome.state == "measured"

    @property
    def shows_number(self) -> bool:
        """Whether a number of ours stands in it: not where it reads `fail`, which is measured, too."""
        return self.measured and not self.outcome.diverged

    @property
    def comparable(self) -> bool:
        """Whether our number may be held against the paper's: not that of generated data or of a stand-in."""
        return not NOT_THE_PAPERS & {*self.outcome.labels}

    @property
    def complete(self) -> bool:
        """Whether our value covers all languages that the cell stands for."""
        return (
            self.measured
            and self.reference is not None
            and len(self.outcome.languages) == len(self.reference.languages)
        )


class Results:
    """A folder of results, each file read once, damaged ones told apart from missing ones."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.read = cache(self._read)
        self.digest = cache(content_digest)

    def path(self, benchmark: str, model: str, setting: str) -> Path:
        return self.folder / benchmark / model / f"{setting}.json"

    def paths(self, result: tuple[str, str, str], seeds: Sequence[str] = ()) -> list[Path]:
        """The files that a result is read from: the mean over the configuration's seeds, or a table's own seeds."""
        path = self.path(*result)
        return [path.with_suffix("") / f"{name}.json" for name in seeds] or [path]

    def read_seeds(self, result: tuple[str, str, str], seeds: Sequence[str]) -> Result | SteleError | None:
        """A result: the file that averages the configuration's seeds, or the mean over those that a table names.

        An error or a missing file (None) of one seed is that of them all.
        """
        if not seeds:
            return self.read(*result)
        read = [self.read(*result, path) for path in self.paths(result, seeds)]
        bad = [result_read for result_read in read if not isinstance(result_read, Result)]
        return bad[0] if bad else mean_over_seeds(read)

    @cached_property
    def ancestry(self) -> Record:
        """What kept results come from, where one file has it of all; {} where each result has its own."""
        path = self.folder / WHOLE_ANCESTRY
        return read_ancestry(path) if path.is_file() else {}

    def _read(self, benchmark: str, model: str, setting: str, path: Path | None = None) -> Result | SteleError | None:
        """The result, the error that reading it gave, or None when there is no such file."""
        path = path or self.path(benchmark, model, setting)
        try:
            result = read_result(path)
        except FileNotFoundError:
            return None
        except (SteleError, OSError) as error:
            return error if isinstance(error, SteleError) else SteleError(f"{path}: {error.strerror}")
        holds = (result.benchmark, result.model, result.setting)
        if holds != (benchmark, model, setting):
            return SteleError(f"{path}: holds {'/'.join(holds)}; remove it and run again")
        return result


def counted(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that every count is of: the tables' own, without rows of added models and lists that explain words."""
    return [cell for cell in cells if cell.table.counted and not cell.extra]


def count_text(cells: Sequence[Cell]) -> str:
    """How many cells there are, and how many are not counted: `168 cells (without 8 in added rows)`."""
    added = sum(cell.extra for cell in cells)
    return f"{len(counted(cells))} cells" + (f" (without {added} in added rows)" if added else "")


def table_cells(table: Table, context: Context, results: Results) -> list[Cell]:
    """All cells of a table, in printed order, rows added by the configuration at the end of their groups."""
    return [
        _cell(table, context, results, group, row, line, column, extra)
        for group, row, extra in _rows(table, context)
        for line in table.lines
        for column in table.columns
    ]


def _rows(table: Table, context: Context) -> Iterator[tuple[Group, TableRow, bool]]:
    added = groups_for_extra_rows(table)
    for group in table.groups:
        for row in group.rows:
            yield group, row, False
        there = {row.target.model for other, row in table.rows() if other.target == group.target}
        for model in context.rows_added(table.id) if group in added else ():
            if model.model not in there:
                # a key that no spec can have, so that an address never means two rows
                key, label = f"+{model.model}", model.label or model.model
                yield group, TableRow.model_construct(key=key, label=label, target=Target(model=model.model)), True


def _cell(
    table: Table,
    context: Context,
    results: Results,
    group: Group,
    row: TableRow,
    line: Line,
    column: Column,
    extra: bool,
) -> Cell:
    under = printed_under(table, row, column)
    value = (row.cells(line.key) or [None] * len(table.columns))[table.columns.index(under)]
    printed = None if extra or table.of_today else value if isinstance(value, Printed) else Printed(value=value)
    reference = reference_of(table, group, row, line, column)
    seeds = context.seeds_of(table, reference.result) if reference else ()
    outcome = _derive(table, context, results, group, row, column, under, printed, reference, seeds)
    cell = Cell(table, group, row, line, column, under, printed, extra, reference, outcome, seeds)
    return _with_published(cell, results) if table.of_today and reference else cell


def _with_published(cell: Cell, results: Results) -> Cell:
    """A cell of today's encoders: what is published of it stands where others have what a paper prints."""
    reference, outcome = cell.reference, cell.outcome
    assert reference is not None
    path = results.path(*reference.result)
    result = results.read(*reference.result) if cell.shows_number else None
    assert not isinstance(result, SteleError)
    record = read_object(path, "result") if result else {}
    found = beside(reference, outcome.value if result else None, outcome.languages, result, record)
    value = float(numbers.scaled(found[0].published.value, cell.report)) if found else None
    seen = seen_questions(*reference.result)
    return replace(cell, printed=Printed(value=value) if found else None, published=found, seen=seen)


def _derive(
    table: Table,
    context: Context,
    results: Results,
    group: Group,
    row: TableRow,
    column: Column,
    under: Column,
    printed: Printed | None,
    reference: CellSource | None,
    seeds: tuple[str, ...],
) -> Outcome:
    """The state of one cell."""
    if table.kind == "stated":
        return Outcome("stated")
    source = source_of(row, under)
    if source and (context.recompute == "own" or reference is None):
        text = table.sources[source].text
        if printed is None or printed.value is None:
            return Outcome("unavailable", f"{text} gives no number")
        return Outcome("borrowed", text)
    reason = row.unavailable.get(column.key) or group.unavailable.get(column.key)
    if reference is None:
        return Outcome("unavailable", reason or "the paper leaves it blank and no setting of ours belongs there")
    outcome = find(context, results, reference, seeds)
    if outcome.state in ("not run", "not built") and reason:
        return Outcome("unavailable", reason)
    return outcome


def find(context: Context, results: Results, reference: CellSource, seeds: Sequence[str] = ()) -> Outcome:
    """What the results folder holds for a value, else what the context knows."""
    result = results.read_seeds(reference.result, seeds) if context.is_current(*reference.result) else None
    if isinstance(result, SteleError):
        return Outcome("unreadable", str(result))
    if result is None:
        return absent(context, reference)
    metric = result.metrics.get(reference.metric)
    if metric is None:
        return Outcome("not run", f"{results.path(*reference.result)} holds no {reference.metric}")
    present = tuple(code for code in reference.languages if code in metric.languages)
    if present:
        labels = tuple(sorted(set(result.labels)))
        value, deviation = _mean(metric, present), _deviation(metric, present)
        reason = _divergence(result)
        return Outcome(
            "measured", reason, value, present, labels, deviation, result.has_diverged, _guess(metric, present)
        )
    missing = f"{results.path(*reference.result)} holds no {', '.join(reference.languages)}"
    return _outside(context, reference) or _left_out(context, reference) or Outcome("not run", missing)


def _divergence(result: Result) -> str:
    """Which of a result's pretrainings came to nothing, and why; "" where none did."""
    runs = result.diverged
    if result.has_diverged and len(runs) == 1:
        return f"pretraining diverged: {next(iter(runs.values()))}"
    by_seed = "; ".join(f"{seed}: {why}" for seed, why in sorted(runs.items()))
    return by_seed and f"pretraining diverged in {len(runs)} of {len(result.seed_names)} seeds: {by_seed}"


def absent(context: Context, reference: CellSource) -> Outcome:
    """Why there is no current file for a value."""
    known = context.known(*reference.result)
    state = "not run" if known.state == "planned" else known.state
    if state in ("not run", "failed") and (outside := _outside(context, reference) or _left_out(context, reference)):
        return outside
    return Outcome(state, known.reason)


def _outside(context: Context, reference: CellSource) -> Outcome | None:
    """`not in scale`, where all languages of the cell are left out of this run."""
    in_scale = context.languages_in_scale.get(reference.benchmark)
    if in_scale is None or set(reference.languages) & set(in_scale):
        return None
    return Outcome("not in scale", f"not among the languages of this run (scale {context.scale or 'not given'})")


def _left_out(context: Context, reference: CellSource) -> Outcome | None:
    """`unavailable`, where the row is evaluated in no language of the cell."""
    reasons = context.left_out.get(reference.result.name, {})
    in_scale = context.languages_in_scale.get(reference.benchmark, reference.languages)
    wanted = [code for code in reference.languages if code in in_scale]
    return Outcome("unavailable", reasons[wanted[0]]) if wanted and set(wanted) <= reasons.keys() else None


def _mean(metric: Metric, languages: tuple[str, ...]) -> float:
    """The plain mean of some languages' values, unrounded; exact for one language."""
    return math.fsum(metric.languages[code] for code in languages) / len(languages)


def _guess(metric: Metric, languages: tuple[str, ...]) -> tuple[float, float] | None:
    """The mean guess of some languages and the error of the mean, whose parts may all lie on one side (one question in
    several languages); None where a language has none."""
    if any(code not in metric.guess.languages or code not in metric.guess.errors for code in languages):
        return None
    parts = (metric.guess.languages, metric.guess.errors)
    guess, error = (math.fsum(part[code] for code in languages) / len(languages) for part in parts)
    return guess, error


def _deviation(metric: Metric, languages: tuple[str, ...]) -> float | None:
    """The sample standard deviation over seeds of that mean, None for one seed."""
    by_seed = list(zip(*(metric.values.languages.get(code, []) for code in languages), strict=False))
    return statistics.stdev(math.fsum(seed) / len(seed) for seed in by_seed) if len(by_seed) > 1 else None

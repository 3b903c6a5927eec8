"""Cells of a table, from its spec, the context and a folder of results: printed number, our number, state, reason."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stele.artifacts.records import GENERATED, STAND_IN
from stele.catalogue.models import seen_questions
from stele.files.reading import read_object
from stele.papers.table import Table, TableCell, groups_for_extra_rows
from stele.papers.table_parts import Group, Printed, TableRow, Target
from stele.published.verdicts import Verdict, published_for
from stele.tables.values import numbers
from stele.tables.values.context import Context
from stele.tables.values.lookup import Outcome, Results, lookup_value

NOT_THE_PAPERS = {GENERATED, STAND_IN}  # labels of numbers that are never compared with a paper's


@dataclass(frozen=True)
class Cell(TableCell):
    """One cell of a table with its outcome.

    `extra` says that the configuration added its row. In tables of today's encoders `published` holds the published
    numbers, the shown one first, and `seen` names the benchmarks whose training questions the model saw.
    """

    outcome: Outcome
    extra: bool = False
    seeds: tuple[str, ...] = ()  # the seeds averaged (`pt0-ft1`); none: those of the configuration
    published: tuple[Verdict, ...] = ()
    seen: tuple[str, ...] = ()

    @cached_property
    def printed(self) -> Printed | None:
        """The printed number or words; in tables of today's encoders the published number that is shown."""
        if self.published:
            return Printed(value=float(numbers.scaled(self.published[0].published.value, self.report)))
        return super().printed

    @property
    def printed_text(self) -> str:
        """The printed number or words, without marks; "-" for a dash, "" if the paper prints nothing."""
        value = self.printed.value if self.printed else ""
        return "-" if value is None else numbers.printed(value, self.report) if isinstance(value, float) else value

    @property
    def measured(self) -> bool:
        return self.outcome.state == "measured"

    @property
    def shows_number(self) -> bool:
        """Whether the cell shows a number of ours; a cell that reads `fail` is measured and shows none."""
        return self.measured and not self.outcome.diverged

    @property
    def comparable(self) -> bool:
        """Whether our number may be compared with the paper's: not if it is of generated data or a stand-in."""
        return not NOT_THE_PAPERS & {*self.outcome.labels}

    @property
    def complete(self) -> bool:
        """Whether our value covers all languages of the cell."""
        return self.measured and len(self.outcome.languages) == len(self.reference.languages)


def counted(cells: Iterable[Cell]) -> list[Cell]:
    """Selects the cells that count: those of papers' rows, without added models and tables that explain words."""
    return [cell for cell in cells if cell.table.counted and not cell.extra]


def count_text(cells: Sequence[Cell]) -> str:
    """Text with the number of cells, and of cells that do not count: `168 cells (without 8 in added rows)`."""
    added = sum(cell.extra for cell in cells)
    return f"{len(counted(cells))} cells" + (f" (without {added} in added rows)" if added else "")


def table_cells(table: Table, context: Context, results: Results) -> list[Cell]:
    """Looks up all cells of a table, in printed order; rows added by the configuration end their groups."""
    return [
        _cell(cell, extra, context, results)
        for group, row, extra in _rows(table, context)
        for cell in table.cells_of(group, row)
    ]


def _rows(table: Table, context: Context) -> Iterator[tuple[Group, TableRow, bool]]:
    added = groups_for_extra_rows(table)
    for group in table.groups:
        for row in group.rows:
            yield group, row, False
        if group not in added:
            continue
        existing = {row.target.model for other, row in table.rows() if other.target == group.target}
        for model in context.rows_added(table.id):
            if model.model not in existing:
                # no spec can have such a key, so addresses stay unique
                key, label = f"+{model.model}", model.label or model.model
                yield group, TableRow.model_construct(key=key, label=label, target=Target(model=model.model)), True


def _cell(cell: TableCell, extra: bool, context: Context, results: Results) -> Cell:
    reference = cell.reference
    seeds = context.seeds_of(cell.table, reference.result) if reference else ()
    outcome = _outcome(cell, seeds, context, results)
    filled = Cell(cell.table, cell.group, cell.row, cell.line, cell.column, outcome, extra, seeds)
    if not cell.table.of_today or reference is None:
        return filled
    return replace(filled, published=_published(filled, results), seen=seen_questions(*reference.result))


def _outcome(cell: TableCell, seeds: tuple[str, ...], context: Context, results: Results) -> Outcome:
    """Outcome of a cell: from its spec if that decides it, else from the results folder."""
    table, reference = cell.table, cell.reference
    if table.kind == "stated":
        return Outcome("stated")
    if cell.source and (context.recompute == "own" or reference is None):
        text = table.sources[cell.source].text
        if cell.printed is None or cell.printed.value is None:
            return Outcome("unavailable", f"{text} gives no number")
        return Outcome("borrowed", text)
    reason = cell.row.unavailable.get(cell.column.key) or cell.group.unavailable.get(cell.column.key)
    if reference is None:
        return Outcome("unavailable", reason or "the paper leaves it blank and no setting of ours belongs there")
    outcome = lookup_value(context, results, reference, seeds)
    if outcome.state in ("not run", "not built") and reason:
        return Outcome("unavailable", reason)
    return outcome


def _published(cell: Cell, results: Results) -> tuple[Verdict, ...]:
    """Published numbers for a cell of today's encoders, the shown one first."""
    reference, outcome = cell.reference, cell.outcome
    result, record = None, {}
    if cell.shows_number:
        result = results.read_seeds(reference.result, cell.seeds)
        record = read_object(results.paths(reference.result, cell.seeds)[0], "result")
    return published_for(reference, outcome.value if result else None, outcome.languages, result, record)

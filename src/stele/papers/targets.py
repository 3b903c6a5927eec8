"""From a table's levels to the value of ours in each cell: targets merged, results named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stele.artifacts.results import RunKey as Result
from stele.papers.table import Table, load_spec
from stele.papers.table_parts import Column, Group, Line, Row, Target


@dataclass(frozen=True)
class Reference:
    """One value of our chain: a result, a metric of it, and one language or the mean of several."""

    benchmark: str
    model: str
    setting: str
    metric: str
    languages: tuple[str, ...]
    average: bool

    @property
    def result(self) -> Result:
        """The row of results whose file holds the value."""
        return Result(self.benchmark, self.model, self.setting)


def merge(targets: Iterable[Target]) -> Target:
    """One target from several levels, the later winning; a language and an average exclude each other."""
    merged: dict = {}
    for target in targets:
        given = target.model_dump(exclude_unset=True)
        if "language" in given:
            merged.pop("average", None)
        if "average" in given:
            merged.pop("language", None)
        merged |= given
    return Target(**merged)


def resolve(target: Target) -> Reference | None:
    """The value that a merged target names, None when a part is missing: then no result of ours belongs there."""
    setting = target.setting.get(target.benchmark or "") if isinstance(target.setting, dict) else target.setting
    languages = (target.language,) if target.language else tuple(target.average or ())
    languages = tuple(code for code in languages if target.language or code not in target.without)
    if not (target.benchmark and target.model and setting and target.metric and languages):
        return None
    return Reference(target.benchmark, target.model, setting, target.metric, languages, average=target.language is None)


def reference_of(table: Table, group: Group, row: Row, line: Line, column: Column) -> Reference | None:
    """The value of ours that one cell shows."""
    return resolve(asked_for(table, group, row, line, column))


def asked_for(table: Table, group: Group, row: Row, line: Line, column: Column) -> Target:
    """The target of one cell, merged from all levels; parts may be missing."""
    of_cell = row.targets.get(column.key, Target())
    return merge([table.target, group.target, row.target, line.target, column.target, of_cell])


def printed_under(table: Table, row: Row, column: Column) -> Column:
    """The column under which the paper prints what belongs to `column` (another one where it exchanged two)."""
    relabel = table.relabel if row.relabel is None else row.relabel
    return next(c for c in table.columns if relabel.get(c.key, c.key) == column.key)


def source_of(row: Row, column: Column) -> str | None:
    """The key of the source that a printed number was borrowed from, None for the paper's own."""
    return row.borrowed.get(column.key) if isinstance(row.borrowed, dict) else row.borrowed


def groups_for_extra_rows(table: Table) -> list[Group]:
    """The groups that an added row can join; of those with the same targets, the last.

    A group can be joined when its rows add nothing to a cell's target but the model.
    """
    model = Row(key="model", label="", target=Target(model="model"))
    last = {repr(group.target): group for group in table.groups if table.kind == "result"}
    places = [(line, column) for line in table.lines for column in table.columns]
    return [
        group
        for group in table.groups
        if group in last.values() and any(reference_of(table, group, model, line, column) for line, column in places)
    ]


def accepts_rows(table: Table) -> bool:
    """Whether a model that is added to all tables gets a row here: not where the rows are variants of one model."""
    return not table.variants and bool(groups_for_extra_rows(table))


def references(table: Table, recompute: str = "own", extra_models: Iterable[str] = ()) -> Iterator[Reference]:
    """All values that a table shows: its own rows, with `recompute="all"` the borrowed ones too, and added rows."""
    extra = [Row(key="extra", label=model, target=Target(model=model)) for model in extra_models]
    rows = [*table.rows(), *((group, row) for group in groups_for_extra_rows(table) for row in extra)]
    for group, row in rows if table.kind == "result" else ():
        for column in table.columns:
            if source_of(row, printed_under(table, row, column)) and recompute == "own":
                continue
            for line in table.lines:
                if value := reference_of(table, group, row, line, column):
                    yield value


def results_needed(table: Table, recompute: str = "own", extra_models: Iterable[str] = ()) -> list[Result]:
    """The rows of results that a table is made of, in order.

    >>> from stele.papers.table import load_spec
    >>> results_needed(load_spec("paper_tables/msm/table_12.yaml"))                        # doctest: +SKIP
    [Row(benchmark='lareqa', model='mbert', setting='zero_shot'), ...]
    """
    return sorted({value.result for value in references(table, recompute, extra_models)})


def table_rows(spec: Path | str, recompute: str = "own", extra_models: Iterable[str] = ()) -> list[Result]:
    """`results_needed` of a spec's file."""
    return results_needed(load_spec(spec), recompute, extra_models)

"""The context of a run: facts that its results do not hold (scale, rows that cannot be built, added rows)."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.command.arguments import Job, ResultsFolder
from stele.errors import SteleError
from stele.files.reading import read_object
from stele.files.strict import Strict, validate
from stele.papers.table import Table
from stele.papers.table_parts import CellSource

log = logging.getLogger(__name__)


class RowState(Strict):
    """The state of one result that has no file, as the run knows it."""

    state: Literal["planned", "not built", "not in scale", "unavailable", "failed"]
    reason: str = ""


class ExtraRow(Strict):
    """A row that no paper prints: a model that config.yaml (or the catalogue) adds to tables."""

    model: str
    label: str = ""
    tables: list[str] | None = Field(
        None, description="tables that get the row, e.g. `msm/2`; null: every table that it fits"
    )


class Context(Strict):
    """Scale, states and reasons that all tables of a run share. A cell is measured if its result file has its value.

    Of the values in a file, those in languages that the run leaves out are not shown.
    """

    scale: str = ""
    languages_in_scale: dict[str, list[str]] = Field(
        {}, description="benchmark -> its languages in this scale; a benchmark that is missing has all"
    )
    recompute: Literal["own", "all"] = "own"
    rows: dict[str, RowState] = Field({}, description="`{model}/{setting}/{benchmark}` -> state of the row")
    left_out: dict[str, dict[str, str]] = Field(
        {}, description="`{model}/{setting}/{benchmark}` -> language in which it is not evaluated -> reason"
    )
    failed: dict[str, str] = Field({}, description="`{model}/{setting}/{benchmark}` -> log of the failed job")
    outdated: list[str] = Field(
        [], description="`{model}/{setting}/{benchmark}` of results that this run had to rebuild but did not"
    )
    extra_rows: list[ExtraRow] = Field([])
    view: Literal["side", "difference"] = Field(
        "side", description="first view of a table; `layout.py` defines the views"
    )
    unfinished: bool = Field(False, description="whether the run ended before all its rows were built")
    seeds: dict[str, str] = Field(
        {},
        description="`{model}/{setting}/{benchmark}` -> seeds whose files a figure draws; a row that is missing: the "
        "first seeds",
    )
    table_seeds: dict[str, dict[str, list[str]]] = Field(
        {},
        description="table with its own seeds (`kept/7`) -> `{model}/{setting}/{benchmark}` -> seeds whose mean it "
        "shows (`pt0-ft1`); a row that is missing is read as in other tables",
    )

    def seeds_of(self, table: Table, row: RunKey) -> tuple[str, ...]:
        """Seeds over which a table averages a row's result, from the context or else from the table's spec.

        An empty list means the seeds of the configuration.
        """
        rows = self.table_seeds.get(table.id)
        return tuple(table.seeds.names() if rows is None else rows.get(row.name, ()))

    def in_scale(self, reference: CellSource) -> list[str]:
        """The languages of a value that this run evaluates; its file may hold others, from an earlier run."""
        languages = self.languages_in_scale.get(reference.benchmark, reference.languages)
        return [code for code in reference.languages if code in languages]

    def is_current(self, row: RunKey) -> bool:
        """Whether a result's file, if it exists, is up to date: its job neither failed nor was left undone."""
        return row.name not in self.failed and row.name not in self.outdated

    def known(self, row: RunKey) -> RowState:
        """State of a result that has no current file, "planned" by default."""
        if row.name in self.failed:
            return RowState(state="failed", reason=f"log: {self.failed[row.name]}")
        return self.rows.get(row.name, RowState(state="planned"))

    def rows_added(self, table: str) -> list[ExtraRow]:
        """Rows added to one table (`msm/2`), each model once."""
        return list({row.model: row for row in self.extra_rows if row.tables is None or table in row.tables}.values())


class ContextJob(Job):
    """A job that renders tables."""

    context: Path | None = None
    """Context that a run wrote (JSON): scale, rows that cannot be built, added rows; default: the results' own."""
    results_dir: ResultsFolder = Path("results")
    difference: bool = False
    """Show differences from the papers' numbers also for generated data and stand-ins, where they mean nothing."""


def read_context(args: ContextJob) -> Context:
    """Reads the context of a job; `--difference` changes its view."""
    context = context_of(args.results_dir, args.context)
    return context.model_copy(update={"view": "difference"}) if args.difference else context


def context_of(folder: Path, given: Path | None = None) -> Context:
    """Reads the given context, else the one that a run wrote into a folder of results; without either it is empty.

    Raises SteleError if the file is not a context.
    """
    path = given or folder / "tables/context.json"
    if given is None and not path.is_file():
        return Context()
    return validate(Context, read_object(path, "context of tables"), str(path))


def date_by_hand(written: Iterable[Path | str], context: Path | None, results_dir: Path) -> None:
    """Dates what was rendered without a run's context before any input: else the next run takes it for finished."""
    for path in written if context is None else ():
        if Path(path).resolve().is_relative_to(results_dir.resolve()):
            os.utime(path, (1, 1))


def refuse(damaged: Iterable[str], context: Context) -> None:
    """Raises SteleError that lists the damaged results behind written tables; in an unfinished run it only warns."""
    reasons = sorted(set(damaged))
    if reasons and not context.unfinished:
        raise SteleError("\n".join(["damaged results are shown as unreadable:", *reasons]))
    for problem in reasons:
        log.warning("%s", problem)

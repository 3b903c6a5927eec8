"""The parts of a table's spec: targets, printed cells, columns, lines, rows, groups, notes and sources.

A part knows its own keys and types only; `table.py` checks what must hold between parts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from stele.artifacts.results import RunKey as Result
from stele.catalogue import entries
from stele.catalogue.schema.models import Model
from stele.errors import unknown
from stele.files.strict import Seed, Strict, unique

Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.]*$")]
Direction = Literal["higher", "lower", "none"]  # none: counts and the like, where no number is better


class Target(Strict):
    """Names our value for a cell: benchmark, model, setting, metric, language. Every part may be given at any level."""

    benchmark: str | None = Field(None, description="benchmark of benchmarks.yaml")
    model: str | None = Field(None, description="model of models.yaml")
    setting: str | dict[str, str] | None = Field(None, description="setting of settings.yaml, or benchmark -> setting")
    metric: str | None = Field(None, description="metric of the benchmark")
    language: str | None = Field(None, description="language whose value is shown")
    average: Annotated[list[str], AfterValidator(unique)] | None = Field(
        None, description="languages whose values are averaged, with equal weights"
    )
    without: list[str] = Field([], description="languages that are left out of the row's averages")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.language and self.average:
            raise ValueError(f"a target has one `language` or an `average`, not both; found {self.language}")
        return self


@dataclass(frozen=True)
class CellSource:
    """Source of one of our values: a result, a metric of it, and one language or the mean of several."""

    benchmark: str
    model: str
    setting: str
    metric: str
    languages: tuple[str, ...]
    average: bool

    @property
    def result(self) -> Result:
        """Result whose file holds the value."""
        return Result(self.benchmark, self.model, self.setting)


def merge(targets: Iterable[Target]) -> Target:
    """Merges targets of several levels, the later winning; a language and an average replace each other."""
    merged: dict = {}
    for target in targets:
        named = {name: getattr(target, name) for name in target.model_fields_set}
        if "language" in named:
            merged.pop("average", None)
        if "average" in named:
            merged.pop("language", None)
        merged |= named
    return Target.model_construct(**merged)


def resolve(target: Target) -> CellSource | None:
    """Source of the value that a merged target names; None if a part is missing, so that no result belongs there."""
    setting = target.setting.get(target.benchmark or "") if isinstance(target.setting, dict) else target.setting
    languages = (target.language,) if target.language else tuple(target.average or ())
    languages = tuple(code for code in languages if target.language or code not in target.without)
    if not (target.benchmark and target.model and setting and target.metric and languages):
        return None
    return CellSource(
        target.benchmark, target.model, setting, target.metric, languages, average=target.language is None
    )


class Report(Strict):
    """Format of a printed fraction: it is multiplied by `scale` and has `decimals`."""

    scale: float = Field(100, gt=0)
    decimals: int = Field(1, ge=0, le=6)


class Printed(Strict):
    """A printed cell that carries marks. Without marks it is the bare number or words; null is a dash."""

    value: float | str | None
    bold: bool = False
    marks: str = Field("", description="symbols printed with the number, which the table's `marks` explain")
    difference: float | None = Field(
        None, description="difference from the row `differences_from`, printed in brackets after the number"
    )


PrintedCell = float | str | Printed | None


class Source(Strict):
    """The source of borrowed numbers; `table` and `row` name the place if that paper is one of ours."""

    text: str = Field(description="source in words")
    table: str | None = Field(None, pattern=r"^[a-z0-9_]+/\d+$", description="table of one of our papers, e.g. msm/14")
    row: str | None = Field(None, description="group/row in that table, e.g. all/mbert")


class Significance(Strict):
    """Significance tests between our rows, as the paper states them, else with these defaults."""

    test: Literal["fisher", "t_test"] = Field(
        "fisher", description="paired, two-sided test: Fisher's randomisation test, or the t-test"
    )
    level: float = Field(0.05, gt=0, lt=1, description="corrected p-value below which a difference is marked")
    correction: Literal["holm", "bonferroni", "none"] = Field(
        "holm", description="correction over all tests of the table"
    )
    against: str | dict[str, str] | None = Field(
        None,
        description="model with which the other rows are compared, or benchmark -> model; null: the best row is "
        "compared with the second-best",
    )

    @property
    def baselines(self) -> set[str]:
        """Models against which the other rows are tested, of all benchmarks."""
        return {*self.against.values()} if isinstance(self.against, dict) else {self.against} - {None}

    def baseline(self, benchmark: str) -> str | None:
        """Model against which the other rows of a benchmark are tested."""
        return self.against.get(benchmark) if isinstance(self.against, dict) else self.against


class Column(Strict):
    key: Key
    header: str
    group: str = Field("", description="header above, shared by neighbouring columns")
    target: Target = Target()
    report: Report | None = None
    direction: Direction | None = None


class Line(Strict):
    """A line that every row of a table has, with its own metric."""

    key: Key
    label: str = ""
    target: Target = Target()
    report: Report | None = None
    direction: Direction | None = None


class TableRow(Strict):
    key: Key
    label: str
    target: Target = Target()
    targets: dict[str, Target] = Field(
        {}, description="column -> parts of the target that differ in that cell alone; they replace all others"
    )
    printed: list[PrintedCell] | dict[str, list[PrintedCell]] | None = Field(
        None,
        description="printed cells, one per column: a number, words, or null for a dash; line -> cells if the table "
        "has several lines",
    )
    borrowed: str | dict[str, str] | None = Field(
        None, description="key of `sources` if the row is borrowed, or column -> key of `sources`"
    )
    relabel: dict[str, str] | None = Field(None, description="replaces the table's `relabel` for this row; {}: none")
    unavailable: dict[str, str] = Field({}, description="column -> reason why we cannot have a number there")

    def cells(self, line: str) -> list[PrintedCell] | None:
        """Printed cells of one line; None for a row that no paper prints."""
        return self.printed.get(line) if isinstance(self.printed, dict) else self.printed


class Group(Strict):
    key: Key
    label: str = ""
    target: Target = Target()
    unavailable: dict[str, str] = Field({}, description="column -> reason why we cannot have a number there")
    models: list[str] | Literal["today"] = Field(
        [],
        description="instead of `rows`: models that get a row without printed numbers, labelled as in models.yaml; "
        "today: all encoders with `trained_on`, which are used as they are",
    )
    rows: list[TableRow] = Field([])

    @model_validator(mode="after")
    def _has_rows(self) -> Self:
        if bool(self.models) == bool(self.rows):
            raise ValueError(f"group {self.key}: want `rows`, or `models` in their place")
        known = entries(Model)
        today = [key for key, model in known.items() if model.is_complete]
        for key in today if self.models == "today" else self.models:
            if key not in known:
                raise ValueError(str(unknown("model", key, known, f"group {self.key}")))
            self.rows.append(TableRow(key=key, label=known[key].label, target=Target(model=key)))
        return self


class Footnote(Strict):
    """A note on cells: a fact, or a known contradiction, which is shown and never silently repaired."""

    text: str
    issue: str | None = Field(None, description="number of the contradiction in the list of inconsistencies")
    at: list[str] = Field([], description="addresses of the cells that the note is about; empty: the whole table")


class Deviation(Strict):
    """A printed number that other numbers contradict, with the reason; the check refuses unlisted deviations."""

    at: str = Field(description="address of the cell; group/row/*/* for a copied row")
    kind: Literal["average", "same target", "bold", "difference", "borrowed differently", "copied row"]
    why: str = Field(description="reason for the deviation")
    issue: str | None = None
    tables: list[Annotated[str, Field(pattern=r"^[a-z0-9_]+/\d+$")]] = Field(
        [], description="other tables that the contradicting numbers are in, e.g. ccp/3"
    )


class Seeds(Strict):
    """Seeds whose mean a table shows instead of the configuration's; a kind that is not named keeps those."""

    pretraining: Annotated[list[Seed], AfterValidator(unique)] = Field([])
    finetuning: Annotated[list[Seed], AfterValidator(unique)] = Field([])

    def names(self) -> list[str]:
        """Names of all pairs of seeds, as in file names (`pt0-ft1`); empty if only the configuration's seeds count."""
        if not (self.pretraining or self.finetuning):
            return []
        return [f"pt{p}-ft{f}" for p in self.pretraining or [0] for f in self.finetuning or [0]]

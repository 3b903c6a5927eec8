"""Addresses of a paper's printed numbers: cells of its tables, points of its figures.

An address is a table or a figure and a pattern, `*` and `?` allowed within each part: `group/row/line/column` in a
table, whose column is the one with the printed number, and `panel/series/point` in a figure, a point by
its place on the horizontal axis. If the pattern matches nothing, the error names its first wrong part and the nearest
key.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from stele.errors import SteleError, unknown
from stele.files.strict import Strict
from stele.papers.figure import Figure, load_figure
from stele.papers.table import Table, load_specs
from stele.papers.table_parts import CellSource, Direction, Significance, Target, merge, resolve

PARTS = {"table": ("group", "row", "line", "column"), "figure": ("panel", "series", "point")}
# in the words that explain a mark, and not "not significant", "no statistically significant", "insignificant"
SIGNIFICANT = re.compile(r"(?<!\bno )(?<!\bnot )(?<!\bnon-)(?<!in)(?<!statistically )(statistically )?significan")


class Address(Strict):
    """Cells of a table or points of a figure, or their differences from others."""

    table: int | None = Field(None, ge=1, description="number of the table")
    figure: int | None = Field(None, ge=1, description="number of the figure")
    at: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)] = Field(
        description="cells as group/row/line/column of a table, points as panel/series/point of a figure; `*` and "
        "`?` are wildcards"
    )
    minus: Self | None = Field(None, description="address that is subtracted, so that this address gives differences")
    instead: Target | None = Field(
        None, description="parts of the cells' targets to replace, for values that no cell prints"
    )

    @property
    def patterns(self) -> list[str]:
        return [self.at] if isinstance(self.at, str) else self.at

    @property
    def place(self) -> str:
        """Name of the table or figure: `table 5`."""
        return f"table {self.table}" if self.table else f"figure {self.figure}"

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.table is None) == (self.figure is None):
            raise ValueError("an address must name either a `table` or a `figure`")
        return self


@dataclass(frozen=True)
class PrintedValue:
    """One printed number, or None with the reason; `scale` is the factor by which the paper multiplied a fraction.

    The column in `parts` is the one that the number belongs to, as in all output; `printed_at` has the column in which
    the paper prints it, by which an address finds it.
    """

    place: str
    parts: tuple[str, ...]
    printed_at: tuple[str, ...]
    number: float | None
    missing: str
    scale: float
    decimals: int | None
    direction: Direction = "higher"
    target: Target = field(default_factory=Target)
    borrowed: bool = False  # copied from another paper
    significant: bool | None = None  # None: no significance marks there
    significance: Significance | None = None  # the table's test; None for a figure
    other: str = ""  # differences from the printed value's target

    @property
    def name(self) -> str:
        return f"{self.place} {'/'.join(self.parts)}{self.other}"

    @property
    def metric(self) -> str | None:
        return self.target.metric

    @property
    def average(self) -> bool:
        return self.target.average is not None

    @property
    def reference(self) -> CellSource | None:
        """Source of our value for this place; None if no result of ours belongs there."""
        return resolve(self.target)

    @property
    def baseline(self) -> str | None:
        """The model with which the marks of significance in this table compare."""
        if self.significance is None or self.target.benchmark is None:
            return None
        return self.significance.baseline(self.target.benchmark)

    def instead(self, target: Target) -> Self:
        """Copies the value with another target, for which no paper prints a number."""
        changed = target.model_dump(exclude_unset=True)
        return replace(
            self,
            number=None,
            missing="not printed",
            target=merge([self.target, target]),
            borrowed=False,
            significant=None,
            other=f" ({', '.join(f'{key} {value}' for key, value in sorted(changed.items()))})",
        )


@dataclass(frozen=True)
class PrintedPaper:
    """Printed values of one paper, by the number of the table or figure."""

    paper: str
    tables: dict[int, list[PrintedValue]]
    figures: dict[int, list[PrintedValue]]


def load_paper(folder: Path | str) -> PrintedPaper:
    """Reads the printed values from the specs in a paper's folder, such as `paper_tables/msm`."""
    folder = Path(folder)
    tables = {table.number: list(_cells(table)) for table in load_specs(folder)}
    figures = {
        figure.number: list(_points(figure)) for figure in map(load_figure, sorted(folder.glob("figure_*.yaml")))
    }
    return PrintedPaper(folder.resolve().name, tables, figures)


def printed_at(address: Address, paper: PrintedPaper) -> list[PrintedValue]:
    """Printed values at an address, in printed order; none has a number with `instead`; `minus` is ignored.

    Raises SteleError for a table, a figure or a key that the paper does not have.
    """
    kind = "table" if address.table else "figure"
    numbered = paper.tables if address.table else paper.figures
    number = address.table or address.figure
    if number not in numbered:
        valid = ", ".join(map(str, sorted(numbered))) or "none"
        raise SteleError(f"{paper.paper} has no {kind} {number}; want one of its {kind}s here: {valid}")
    values = numbered[number]
    chosen: dict[tuple[str, ...], PrintedValue] = {}
    for pattern in address.patterns:
        wanted = tuple(pattern.split("/"))
        if len(wanted) != len(PARTS[kind]):
            raise SteleError(f"{address.place}: {pattern!r}: want {'/'.join(PARTS[kind])}")
        matching = {value.parts: value for value in values if all(map(fnmatchcase, value.printed_at, wanted))}
        if not matching:
            raise _no_match(address.place, pattern, PARTS[kind], [value.printed_at for value in values])
        chosen |= matching
    selected = [value for value in values if value.parts in chosen]
    return [value.instead(address.instead) for value in selected] if address.instead else selected


def _no_match(place: str, pattern: str, names: Sequence[str], valid: Sequence[tuple[str, ...]]) -> SteleError:
    """Builds the error for the first part of a pattern that no address matches along with the parts before it."""
    for index, (name, wanted) in enumerate(zip(names, pattern.split("/"), strict=True)):
        agreeing = [parts for parts in valid if fnmatchcase(parts[index], wanted)]
        if not agreeing:
            return unknown(name, wanted, {parts[index] for parts in valid}, f"{place}: {pattern!r}")
        valid = agreeing
    raise AssertionError(pattern)  # something matches


def _cells(table: Table) -> Iterator[PrintedValue]:
    for cell in table.cells():
        parts, printed = tuple(cell.address.split("/")), cell.printed  # every cell of a paper's table is printed
        yield PrintedValue(
            place=f"table {table.number}",
            parts=parts,
            printed_at=(*parts[:-1], cell.printed_under.key),
            number=cell.number,
            missing="a dash" if printed.value is None else f"words: {printed.value}",
            scale=cell.report.scale,
            decimals=cell.report.decimals,
            direction=cell.direction,
            target=cell.target,
            borrowed=cell.source is not None,
            significant=_significant(table, printed.marks),
            significance=table.significance,
        )


def _significant(table: Table, marks: str) -> bool | None:
    """Whether a cell's marks say that it is significant; None in a table that has no such mark."""
    meaning = {mark for mark, text in table.marks.items() if SIGNIFICANT.search(text.lower())}
    return bool(meaning & {marks, *marks}) if meaning else None


def _points(figure: Figure) -> Iterator[PrintedValue]:
    for panel in figure.panels:
        for series in figure.series:
            printed = panel.printed.get(series.key, {})
            for point in series.points or [None]:
                target = figure.target_of(panel, series, point)
                at = point.place if point else figure.reference
                parts = (panel.key, series.key, "-" if at is None else f"{at:g}")
                yield PrintedValue(
                    place=f"figure {figure.number}",
                    parts=parts,
                    printed_at=parts,
                    number=printed.get(at),
                    missing="no number is printed there",
                    scale=1,
                    decimals=3,  # as in all figures of the papers
                    target=target,
                )

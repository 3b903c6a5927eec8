"""A paper's data plot as data: the model of `paper_tables/{paper}/figure_NN.yaml`. Unknown keys are refused.

A figure has panels, and series that are drawn in each panel. The target of a series names our value for it; it is
merged from figure, panel, series and, on a curve, point, the later one winning. There are three kinds of figure:

- curves: a value for each point of a series; the metric of a result
- distribution: a series is the file `lengths_{language}.csv` beside a result, drawn as a density
- projection: a panel is the file `projection_{language}.csv` beside a result; its two series are the two languages
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from stele.catalogue import entries
from stele.catalogue.schema.models import Model
from stele.files.strict import Strict
from stele.papers.paper import TODAY, PaperPart, read_part, repeated
from stele.papers.table_parts import CellSource, Key, Target, merge, resolve


class Axis(Strict):
    """One axis; without ticks in the spec matplotlib chooses them."""

    label: str
    scale: Literal["linear", "log"] = "linear"
    unit: str = Field("", description="unit, printed in brackets after the label")
    factor: float = Field(1, description="number by which values are multiplied for display")
    range: tuple[float, float] | None = Field(
        None, strict=False, description="first and last displayed value, as in the paper"
    )
    ticks: list[float] = Field(
        [], description="displayed values with a tick, as in the paper; empty: chosen by matplotlib"
    )


class Point(Strict):
    """One point of a curve."""

    at: float | None = Field(
        None,
        description="place on the horizontal axis; default: the parameters of the point's model in models.yaml, in "
        "millions",
    )
    target: Target

    @property
    def place(self) -> float:
        """Place of the point on the horizontal axis. Raises ValueError if it is unknown."""
        if self.at is not None:
            return self.at
        known = entries(Model).get(self.target.model or "")
        if known is None or known.parameters is None:
            raise ValueError(f"`at`: models.yaml has no parameters of {self.target.model!r}; give its place")
        return known.parameters / 1e6


class Series(Strict):
    key: Key
    label: str
    target: Target = Target()
    points: list[Point] = Field([], description="points of a curve, from left to right")


class Panel(Strict):
    key: Key
    title: str = ""
    y: Axis | None = Field(None, description="vertical axis of this panel; null: the figure's")
    target: Target = Target()
    printed: dict[str, dict[float, float]] = Field(
        {}, description="series -> place on the horizontal axis -> value that the paper prints, in the unit of results"
    )


class Figure(PaperPart):
    """One data plot of a paper, or of today's encoders: published numbers take the place of printed ones."""

    KIND = "figure"

    kind: Literal["curves", "distribution", "projection"] = Field(
        description="what is drawn: curves of metrics, distributions of lengths, or projections of vectors"
    )
    caption: str = Field(description="caption in our words")
    target: Target = Target()
    x: Axis = Field(description="horizontal axis")
    y: Axis | None = Field(None, description="vertical axis of the panels without their own")
    reference: float | None = Field(
        None, description="distribution: length that is marked, with the share of texts up to it"
    )
    highlighted: int | None = Field(
        None, ge=1, description="projection: number of highlighted pairs, spread evenly over all"
    )
    series: Annotated[list[Series], Field(min_length=1)]
    panels: Annotated[list[Panel], Field(min_length=1)]
    footnotes: list[str] = Field([], description="notes below the figure")

    @property
    def from_files(self) -> bool:
        """Whether the figure draws files that lie beside results, instead of values in the results."""
        return self.kind != "curves"

    def axis(self, panel: Panel) -> Axis:
        """Vertical axis of a panel."""
        return panel.y or self.y  # a spec without one is refused

    def target_of(self, panel: Panel, series: Series | None = None, point: Point | None = None) -> Target:
        """Target of a panel, of a series in it or of a point of that series; parts may be missing."""
        return merge([self.target, panel.target, *(part.target for part in (series, point) if part)])

    def parts(self, panel: Panel) -> list[tuple[Series | None, list[Target]]]:
        """Series of a panel, None for a whole panel, each with the targets of its points or that of its file."""
        if self.kind == "projection":
            return [(None, [self.target_of(panel)])]
        parts = [(series, series.points if self.kind == "curves" else [None]) for series in self.series]
        return [(series, [self.target_of(panel, series, point) for point in points]) for series, points in parts]

    def references(self) -> Iterator[CellSource]:
        """Yields the sources of all values that the figure shows; a shared value comes several times."""
        yield from (value for target in self._targets() if (value := resolve(target)))

    def _targets(self) -> Iterator[Target]:
        return (target for panel in self.panels for _, targets in self.parts(panel) for target in targets)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


OWN = {"distribution": "reference", "projection": "highlighted"}  # a key of this kind only


def _problems(figure: Figure) -> Iterator[str]:
    yield from repeated("panel", (panel.key for panel in figure.panels))
    yield from repeated("series", (series.key for series in figure.series))
    for kind, key in OWN.items():
        is_set = getattr(figure, key) is not None
        if is_set and figure.kind != kind:
            yield f"`{key}` belongs to the kind {kind}, found in {figure.kind}"
        if not is_set and figure.kind == kind:
            yield f"the kind {kind} needs `{key}`"
    if figure.x.factor != 1:
        yield "`x.factor` changes nothing; give the places as shown"
    axes = [figure.x, figure.y, *(panel.y for panel in figure.panels)]
    if figure.kind != "curves" and any(axis and axis.scale == "log" for axis in axes):
        yield f"`scale: log` belongs to the kind curves, found in {figure.kind}"
    yield from _problems_of_points(figure)
    if figure.kind == "projection" and len(figure.series) != 2:
        yield f"a projection has two series, its languages; found {len(figure.series)}"
    for target in figure._targets():
        if resolve(target) is None:
            yield f"want benchmark, model, setting, metric and language; found {target.model_dump(exclude_unset=True)}"
    for panel in figure.panels:
        if (panel.y or figure.y) is None:
            yield f"panel {panel.key!r}: no vertical axis; give `y` here or in the figure"
        yield from _problems_of_printed(figure, panel)


def _problems_of_points(figure: Figure) -> Iterator[str]:
    for series in figure.series:
        places = [point.place for point in series.points]
        if bool(places) != (figure.kind == "curves"):
            yield f"series {series.key!r}: " + ("no `points`" if not places else "`points` belong to the kind curves")
        if places != sorted(set(places)):
            yield f"series {series.key!r}: points must go from left to right, found {places}"


def _problems_of_printed(figure: Figure, panel: Panel) -> Iterator[str]:
    places: dict[str, Iterable[float | None]] = {
        series.key: [point.place for point in series.points] or [figure.reference] for series in figure.series
    }
    for key, values in panel.printed.items():
        if figure.paper == TODAY:
            yield f"panel {panel.key!r}: published numbers stand in references.tsv: no `printed` here"
        if key not in places or figure.kind == "projection":
            yield f"panel {panel.key!r}: `printed` has {key!r}, which is not a series with values"
        elif lost := sorted(set(values) - set(places[key])):
            yield f"panel {panel.key!r}: `printed` has a value of {key!r} at {lost[0]:g}, where it has no point"
        axis = panel.y or figure.y
        for value in values.values() if figure.kind == "curves" and axis and axis.range else ():
            if not axis.range[0] <= value * axis.factor <= axis.range[1]:
                wanted = "want values as in results, such as 0.405 for 40.5 %"
                yield f"panel {panel.key!r}: `printed` has {value:g} of {key!r}, outside the axis' `range`; {wanted}"


def load_figure(path: Path | str) -> Figure:
    """Reads the spec of a figure. Raises SteleError, which names the file and the key, if it is invalid."""
    return read_part(Figure, path)


def file_name(value: CellSource) -> str:
    """Name, without suffix, of the file beside a result that holds a drawn value."""
    return f"{value.metric}_{'_'.join(value.languages)}"


def file_key(value: CellSource) -> str:
    """Name of that file in a context: the name of its result, then its own."""
    return f"{value.result.name}/{file_name(value)}"

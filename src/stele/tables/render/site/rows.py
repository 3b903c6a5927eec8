"""The rows of a folder of results, as a site lists them: by model and by benchmark, with the tables that show each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stele import catalogue
from stele.artifacts.results import Result, read_placed, result_files
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.tables.render.pages import Drawn, Link

OF_DATASETS = "statistics"  # the benchmark whose rows are of datasets, not of models
SIZES = {"parameters"}
DISTANCES = {"alignment", "uniformity_query", "uniformity_passage"}  # of vectors: no fractions


@dataclass(frozen=True)
class Value:
    """A metric's average over languages; `std` over seeds, None of one."""

    metric: str
    average: float | None
    std: float | None

    @property
    def said(self) -> str:
        """As a table says it: a fraction in points of a hundred, a distance as it is, a size in whole numbers."""
        if self.average is None:
            return "—"
        if self.metric in SIZES:
            return f"{self.average:,.0f}"
        scale, decimals = (1, 2) if self.metric in DISTANCES else (100, 1)
        spread = "" if self.std is None else f" ± {scale * self.std:.{decimals}f}"
        return f"{scale * self.average:.{decimals}f}{spread}"


@dataclass(frozen=True)
class SiteRow:
    """One row: a model under a setting of a benchmark."""

    benchmark: str
    model: str
    setting: str
    seeds: int
    values: list[Value]
    labels: list[str]
    diverged: bool
    tables: list[Link]

    @property
    def href(self) -> str:
        """Its result, below the site."""
        return f"results/{self.benchmark}/{self.model}/{self.setting}.json"


def rows(results: Path, drawn: Iterable[Drawn]) -> list[SiteRow]:
    """All rows of models in a folder of results, in the order of their files."""
    shown = showing(drawn)
    aliases = catalogue.load("settings")["aliases"]  # pages are called by what a result says of itself
    placed = (read_placed(path, aliases) for path in result_files(results))
    read = [one for one in placed if one.benchmark != OF_DATASETS]
    return [_row(one, shown.get((one.benchmark, one.model, one.setting), [])) for one in read]


def showing(drawn: Iterable[Drawn]) -> dict[tuple[str, str, str], list[Link]]:
    """(benchmark, model, setting) -> the tables of which a cell shows it."""
    shown: dict[tuple[str, str, str], dict[str, Link]] = {}
    for one in drawn:
        link = Link(one.summary.title, f"{one.table.paper}.html#{one.id}")
        for cell in one.cells:
            if cell.unfolded.result:
                shown.setdefault(cell.unfolded.result, {})[link.href] = link
    return {result: list(links.values()) for result, links in shown.items()}


def _row(result: Result, tables: list[Link]) -> SiteRow:
    values = [Value(name, metric.average, metric.std.average) for name, metric in result.metrics.items()]
    return SiteRow(
        result.benchmark,
        result.model,
        result.setting,
        len(result.seed_names),
        values,
        result.labels,
        result.has_diverged,
        tables,
    )


def model_label(key: str) -> str:
    """What tables call a model; its key, where it is a user's."""
    models = catalogue.entries(Model)
    return models[key].label if key in models else key


def model_title(key: str) -> str:
    """Its key and what tables call it, which alone may be a bare number there."""
    label = model_label(key)
    return key if label == key else f"{key}: {label}"


def benchmark_title(key: str) -> str:
    """What a benchmark is called; its key, where it is a user's."""
    benchmarks = catalogue.entries(Benchmark)
    return benchmarks[key].title if key in benchmarks else key


def by(rows: Sequence[SiteRow], key: str) -> dict[str, list[SiteRow]]:
    """Rows by `model` or `benchmark`, in the order of their first."""
    groups: dict[str, list[SiteRow]] = {}
    for row in rows:
        groups.setdefault(getattr(row, key), []).append(row)
    return groups

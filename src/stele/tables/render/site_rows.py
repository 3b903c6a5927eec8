"""Rows of a site: a model under a setting of a benchmark, with its averages and the tables that show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stele import catalogue
from stele.artifacts.results import read_placed, result_files
from stele.papers.table_parts import Report
from stele.tables.render.pages import Drawn, Link
from stele.tables.values import numbers

OF_DATASETS = "statistics"  # the benchmark whose rows are of datasets, not of models
WHOLE = "all"  # stands for the languages of a number that is of none alone
SIZES = {"parameters"}
DISTANCES = {"alignment", "uniformity_query", "uniformity_passage"}  # of vectors: no fractions


@dataclass(frozen=True)
class Value:
    """A metric's average over languages and its standard deviation over seeds, None for one seed."""

    metric: str
    average: float | None
    std: float | None

    @property
    def words(self) -> str:
        """Text of the value as in a table: a fraction in percent, a distance as it is, a size in whole numbers."""
        if self.average is None:
            return "—"
        if self.metric in SIZES:
            return f"{self.average:,.0f}"
        report = Report(scale=1, decimals=2) if self.metric in DISTANCES else Report()
        spread = "" if self.std is None else f" ± {numbers.ours(self.std, report)}"
        return f"{numbers.ours(self.average, report)}{spread}"


@dataclass(frozen=True)
class SiteRow:
    """One row: a model under a setting of a benchmark; its averages cover `languages`."""

    benchmark: str
    model: str
    setting: str
    seeds: list[str]
    languages: list[str]
    values: list[Value]
    labels: list[str]
    diverged: bool
    tables: list[Link]

    @property
    def seed_counts(self) -> str:
        """Numbers of seeds of pretraining and of fine-tuning, "5 × 2", or of pairs if not all of these are there."""
        pretraining, finetuning = (len({name.split("-")[side] for name in self.seeds}) for side in (0, 1))
        all_there = pretraining * finetuning == len(self.seeds)
        return (f"{pretraining} × {finetuning}" if all_there else str(len(self.seeds))) if self.seeds else "—"

    @property
    def href(self) -> str:
        """Path of its result, relative to the site."""
        return f"results/{self.benchmark}/{self.model}/{self.setting}.json"


def rows(results: Path, drawn: Iterable[Drawn]) -> list[SiteRow]:
    """Reads all rows of models from a folder of results, in the order of their files."""
    tables = _tables_by_result(drawn)
    aliases = catalogue.load("settings")["aliases"]  # pages are named by the keys in the result
    site_rows = []
    for path in result_files(results):
        result = read_placed(path, aliases)
        is_copy = path.stem != result.setting and path.with_stem(result.setting).is_file()  # under a short name
        if result.benchmark == OF_DATASETS or is_copy:
            continue
        key = (result.benchmark, result.model, result.setting)
        values = [Value(name, metric.average, metric.std.average) for name, metric in result.metrics.items()]
        links = tables.get(key, [])
        languages = sorted({code for metric in result.metrics.values() for code in metric.languages} - {WHOLE})
        site_rows.append(SiteRow(*key, result.seed_names, languages, values, result.labels, result.has_diverged, links))
    return site_rows


def _tables_by_result(drawn: Iterable[Drawn]) -> dict[tuple[str, str, str], list[Link]]:
    """Links to the tables that show a result in a cell, by (benchmark, model, setting)."""
    links: dict[tuple[str, str, str], dict[str, Link]] = {}
    for table in drawn:
        link = Link(table.summary.title, f"{table.table.paper}.html#{table.id}")
        for cell in table.cells:
            if cell.result:
                links.setdefault(cell.result, {})[link.href] = link
    return {result: list(by_href.values()) for result, by_href in links.items()}

"""Pages of a site besides those of papers: index, claims, models, benchmarks, provenance of the numbers, search."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.artifacts.records import GENERATED, STAND_IN
from stele.artifacts.results import Metric, Result, RunKey, read_placed, result_files
from stele.catalogue.models import model_label
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.files.formats import amount
from stele.papers.table_parts import Report
from stele.tables.render.claims import PaperClaims
from stele.tables.render.jinja import MEANINGS, OF_PAPER
from stele.tables.render.pages import Drawn, Link, PaperPages, page, shared_labels
from stele.tables.render.pictures import curves, draw_curve
from stele.tables.render.terms import TERMS
from stele.tables.values import numbers
from stele.tables.values.cell import NOT_THE_PAPERS

NAV = (
    Link("Stele", "index.html"),
    Link("Tables", "tables.html"),
    Link("Claims", "claims.html"),
    Link("Models", "models.html"),
    Link("Benchmarks", "benchmarks.html"),
    Link("How", "how.html"),
    Link("Search", "search.html"),
)
PAGES = {  # the site's own pages, with their titles
    "index": "Stele",
    "claims": "All claims",
    "models": "Models",
    "benchmarks": "Benchmarks",
    "how": "How each number was made",
    "search": "Search",
}
OF_MODEL = {
    *("base", "recipe", "override", "checkpoint", "snapshot_of", "encoding", "licence", "parameters", "trained_on")
}
OF_BENCHMARK = {"languages", "metrics", "data"}
OF_DATASETS = "statistics"  # its rows are datasets, not models
WHOLE = "all"  # stands for the language of a number over several languages
SIZES = {"parameters"}
DISTANCES = {"alignment", "uniformity_query", "uniformity_passage"}  # not fractions


# --- rows: a model under a setting of a benchmark, with its averages and the tables that show it ----------------------
@dataclass(frozen=True)
class SiteRow:
    """One row: the result of a model under a setting of a benchmark, and the tables that show it."""

    result: Result
    tables: list[Link]

    @property
    def languages(self) -> list[str]:
        return sorted({code for metric in self.result.metrics.values() for code in metric.languages} - {WHOLE})

    @property
    def values(self) -> dict[str, str]:
        """Text of each metric's average over languages."""
        return {name: value_text(name, metric) for name, metric in self.result.metrics.items()}

    @property
    def seed_counts(self) -> str:
        """Numbers of seeds of pretraining and of fine-tuning, "5 × 2", or of pairs if not all of these are there."""
        seeds = self.result.seed_names
        pretraining, finetuning = (len({name.split("-")[side] for name in seeds}) for side in (0, 1))
        all_there = pretraining * finetuning == len(seeds)
        return (f"{pretraining} × {finetuning}" if all_there else str(len(seeds))) if seeds else "—"

    @property
    def href(self) -> str:
        """Path of its result, relative to the site."""
        return f"results/{self.result.benchmark}/{self.result.model}/{self.result.setting}.json"


def value_text(name: str, metric: Metric) -> str:
    """Text of an average as in a table: a fraction in percent, a distance as it is, a size in whole numbers.

    Its standard deviation over seeds follows, if there are several.
    """
    if metric.average is None:
        return "—"
    if name in SIZES:
        return f"{metric.average:,.0f}"
    report = Report(scale=1, decimals=2) if name in DISTANCES else Report()
    spread = "" if metric.std.average is None else f" ± {numbers.ours(metric.std.average, report)}"
    return f"{numbers.ours(metric.average, report)}{spread}"


def rows(results: Path, drawn: Iterable[Drawn]) -> list[SiteRow]:
    """Reads all rows of models from a folder of results, in the order of their files."""
    tables = _tables_by_result(drawn)
    aliases = catalogue.load("settings")["aliases"]  # pages are named by the result's keys
    site_rows = []
    for path in result_files(results):
        result = read_placed(path, aliases)
        is_copy = path.stem != result.setting and path.with_stem(result.setting).is_file()  # under a short name
        if result.benchmark == OF_DATASETS or is_copy:
            continue
        site_rows.append(SiteRow(result, tables.get(RunKey(result.benchmark, result.model, result.setting), [])))
    return site_rows


def _tables_by_result(drawn: Iterable[Drawn]) -> dict[RunKey, list[Link]]:
    """Links to the tables that show a row's result in a cell."""
    links: dict[RunKey, dict[str, Link]] = {}
    for table in drawn:
        link = Link(table.summary.title, f"{table.table.paper}.html#{table.id}")
        for cell in table.cells:
            if cell.result:
                links.setdefault(cell.result, {})[link.href] = link
    return {result: list(by_href.values()) for result, by_href in links.items()}


# --- pages ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Contents:
    """Content of a site.

    claims: by paper; trainings, finetunings: packed facts of both (claims/judging/trainings.py); ancestry: digest ->
    facts of a job behind a result; about: facts of all results together.
    """

    papers: Sequence[PaperPages]
    claims: Mapping[str, PaperClaims]
    rows: Sequence[SiteRow]
    trainings: Sequence[Mapping[str, Any]]
    finetunings: Sequence[Mapping[str, Any]]
    ancestry: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Any]

    @cached_property
    def labels(self) -> list[str]:
        """Labels of every page, from all tables and from results outside tables."""
        labels = shared_labels([drawn.summary for paper in self.papers for drawn in paper.tables])
        labels += [label.partition(" (")[0] for row in self.rows for label in row.result.labels]
        texts = list(dict.fromkeys(labels))
        if NOT_THE_PAPERS & {*texts} and not any(text.startswith(OF_PAPER.not_theirs) for text in texts):
            texts.append(f"{OF_PAPER.not_theirs}: {self.about['size']}")
        return texts

    @property
    def generated(self) -> bool:
        return any(label.startswith(GENERATED) for label in self.labels)

    @cached_property
    def models(self) -> dict[str, list[SiteRow]]:
        return dict(sorted(by(self.rows, "model").items()))

    @cached_property
    def benchmarks(self) -> list[dict[str, Any]]:
        """Facts of each benchmark with its rows."""
        known = catalogue.entries(Benchmark)
        listed = []
        for key, of_benchmark in by(self.rows, "benchmark").items():
            facts = known[key].model_dump(mode="json", include=OF_BENCHMARK) if key in known else {}
            languages = sorted({code for row in of_benchmark for code in row.languages})
            if its := facts.get("languages"):
                share = f"{len(languages)} of its {len(its)}" if {*languages} <= {*its} else str(len(languages))
                facts["languages"] = f"{share} here: {', '.join(languages)}"
            title = known[key].title if key in known else key  # a user's own benchmark has no title
            entry = {"key": key, "title": title, "facts": facts, "rows": of_benchmark}
            listed.append(entry | {"count": len(languages)})
        return listed

    def checked(self, kind: str, unchecked: str) -> int:
        """Number of claims that have a verdict of a kind, on print or on runs."""
        counts = [of_paper.counts[kind] for of_paper in self.claims.values()]
        return sum(count for of_paper in counts for state, count in of_paper.items() if state != unchecked)

    @property
    def was_run(self) -> Iterator[tuple[str, str]]:
        """Pairs of name and text of facts counted from the results: data, models, trainings, results."""
        rows = [row for row in self.rows if row.result.benchmark != "parameters"]
        languages = {code for row in rows for pair in row.languages for code in pair.split("-")}
        yield "data", f"{'synthetic' if self.generated else 'real'} text, {amount(len(languages), 'language')}"
        counted = [row.result for row in self.rows if row.result.benchmark == "parameters"]
        averages = [next(iter(result.metrics.values())).average for result in counted]
        if sizes := [size for size in averages if size is not None]:
            smallest, largest = (f"{size / 1e6:.2f}" for size in (min(sizes), max(sizes)))
            yield "models", f"{smallest} M{f' to {largest} M' if largest != smallest else ''} parameters"
        counts = Counter(facts.get("job") for facts in self.ancestry.values())
        for name, job, trainings in (
            ("pretraining", "pretrain", self.trainings),
            ("fine-tuning", "finetune", self.finetunings),
        ):
            costs = {
                "steps": [training["steps"] for training in trainings if "steps" in training],
                "CPU-seconds": [training["cpu_seconds"] for training in trainings if "cpu_seconds" in training],
            }
            medians = [f"{statistics.median(values):,.0f} {unit}" for unit, values in costs.items() if values]
            if counts[job] and medians:
                yield name, f"{counts[job]} trainings; the median one took {' and '.join(medians)}"
        results = sum(len(row.result.seed_names) for row in rows)
        yield "results", f"{results}, each a model, a benchmark and a pair of seeds"


def texts(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yields file name and content of the site's own pages."""
    for name, title in PAGES.items():
        yield f"{name}.html", page(f"site/{name}", contents.labels, NAV, title=title, contents=contents, **WORDS)
    for key, rows in contents.models.items():
        yield f"model-{key}.html", _model(key, rows, contents)


def origin(key: str) -> str:
    """Origin of a model in a few words: recipe with the keys that it changes, and base; checkpoint; or snapshot."""
    models = catalogue.entries(Model)
    if key not in models:
        return ""
    model = models[key]
    if model.recipe:
        changed = f" ({', '.join(model.override)} changed)" if model.override else ""
        return f"{model.recipe}{changed} from {model.base}"
    return model.checkpoint or (f"a snapshot of {model.snapshot_of}" if model.snapshot_of else "no encoder")


def _model(key: str, rows: Sequence[SiteRow], contents: Contents) -> str:
    models = catalogue.entries(Model)
    known = models[key].model_dump(mode="json", exclude_defaults=True, include=OF_MODEL) if key in models else {}
    ancestors = contents.ancestry.values()
    trained = [facts for facts in ancestors if (facts.get("job"), facts.get("model")) == ("pretrain", key)]
    pretrainings = sorted(
        (training for training in contents.trainings if training["model"] == key), key=lambda training: training["seed"]
    )
    finetunings = [training for training in contents.finetunings if training["model"] == key]
    return page(
        "site/model",
        contents.labels,
        NAV,
        title=model_title(key),
        key=key,
        stand_in=STAND_IN if any(STAND_IN in row.result.labels for row in rows) else "",
        facts=known,
        rows=rows,
        recipe=next((facts["recipe"] for facts in trained if "recipe" in facts), {}),
        curves=[{"picture": draw_curve(curve), "words": curve.words} for curve in curves(pretrainings)],
        cost=list(_cost(pretrainings, finetunings)),
    )


def _cost(pretrainings: Sequence[Mapping[str, Any]], finetunings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields sentences on the mean CPU time of pretrainings and of fine-tunings, if records have the times."""
    for name, trainings in (("A seed of pretraining", pretrainings), ("A fine-tuning", finetunings)):
        seconds = [training["cpu_seconds"] for training in trainings if "cpu_seconds" in training]
        devices = ", ".join(sorted({training["device"] for training in trainings if "device" in training}))
        if seconds:
            yield f"{name} took {sum(seconds) / len(seconds):.0f} CPU-seconds on average of {len(seconds)} ({devices})."


def model_title(key: str) -> str:
    """A model's key and label; the label alone may be a bare number."""
    models = catalogue.entries(Model)
    label = models[key].label if key in models else key
    return key if label == key else f"{key}: {label}"


def by(rows: Sequence[SiteRow], key: str) -> dict[str, list[SiteRow]]:
    """Groups rows by `model` or `benchmark`, in the order of first occurrence."""
    groups: dict[str, list[SiteRow]] = {}
    for row in rows:
        groups.setdefault(getattr(row.result, key), []).append(row)
    return groups


WORDS = {
    "meanings": MEANINGS,
    "terms": TERMS,
    "model_label": model_label,
    "model_title": model_title,
    "origin": origin,
}

"""The pages of a site beside those of papers: index, claims, models, benchmarks, how numbers were made, search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.tables.render.claim_parts import PaperClaims
from stele.tables.render.pages import Drawn, Link, page, shared_labels
from stele.tables.render.pictures import Picture
from stele.tables.render.site.curve import curves, picture
from stele.tables.render.site.rows import SiteRow, benchmark_title, by, model_label, model_title
from stele.tables.render.words import ON_PRINT, SEEN

NAV = (
    Link("Stele", "index.html"),
    Link("Tables", "tables.html"),
    Link("Claims", "claims.html"),
    Link("Models", "models.html"),
    Link("Benchmarks", "benchmarks.html"),
    Link("How", "how.html"),
    Link("Search", "search.html"),
)
OF_MODEL = (
    "base",
    "recipe",
    "override",
    "checkpoint",
    "snapshot_of",
    "encoding",
    "licence",
    "parameters",
    "trained_on",
)
OF_BENCHMARK = {"languages", "metrics", "data"}


@dataclass(frozen=True)
class Contents:
    """What a site is of.

    trainings, finetunings: as stele.claims.judging.trainings keeps them; ancestry: digest -> what a result comes from;
    about: what is said of all results together.
    """

    drawn: Sequence[Drawn]
    claims: Mapping[str, PaperClaims]
    figures: Sequence[Picture]
    rows: Sequence[SiteRow]
    trainings: Sequence[Mapping[str, Any]]
    finetunings: Sequence[Mapping[str, Any]]
    ancestry: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Any]

    @property
    def names(self) -> dict[str, str]:
        """Paper -> its name, in the order of pages."""
        return {one.table.paper: one.table.about.name for one in self.drawn}


def texts(contents: Contents) -> Iterator[tuple[str, str]]:
    """(file, page) of the site's own pages."""
    papers = _papers(contents)
    yield "index.html", _index(contents, papers)
    yield "claims.html", page("site/claims", NAV, title="All claims", papers=papers)
    models = by(contents.rows, "model")
    listed = [
        {"key": key, "label": model_label(key), "made": _made(key), "rows": len(of_model)}
        for key, of_model in sorted(models.items())
    ]
    yield "models.html", page("site/models", NAV, title="Models", models=listed)
    for key, rows in models.items():
        yield f"model-{key}.html", _model(key, rows, contents)
    yield "benchmarks.html", page("site/benchmarks", NAV, title="Benchmarks", benchmarks=_benchmarks(contents.rows))
    yield "how.html", page("site/how", NAV, title="How each number was made", facts=contents.about)
    yield "search.html", page("site/search", NAV, title="Search", entries=list(_entries(contents)))


def _papers(contents: Contents) -> list[dict[str, Any]]:
    tables = Counter(one.table.paper for one in contents.drawn)
    none = PaperClaims([], [], {"print": {}, "runs": {}}, "", [], {})
    return [
        {"key": paper, "name": name, "tables": tables[paper], "claims": contents.claims.get(paper, none)}
        for paper, name in contents.names.items()
    ]


def _index(contents: Contents, papers: Sequence[Mapping[str, Any]]) -> str:
    return page(
        "site/index",
        NAV,
        title="Stele: tables and claims on cross-lingual dense retrieval",
        papers=papers,
        tables=len(contents.drawn),
        rows=len(contents.rows),
        results=sum(row.seeds for row in contents.rows),
        scale=contents.about["scale"],
        labels=shared_labels([one.summary for one in contents.drawn]),
    )


def _made(key: str) -> str:
    """What a model is made from, in a few words."""
    models = catalogue.entries(Model)
    if key not in models:
        return ""
    model = models[key]
    if model.recipe:
        return f"{model.recipe} from {model.base}"
    return model.checkpoint or (f"a snapshot of {model.snapshot_of}" if model.snapshot_of else "no encoder")


def _model(key: str, rows: Sequence[SiteRow], contents: Contents) -> str:
    models = catalogue.entries(Model)
    known = models[key].model_dump(mode="json", exclude_defaults=True, include=OF_MODEL) if key in models else {}
    recipes = [
        facts["recipe"]
        for facts in contents.ancestry.values()
        if facts.get("job") == "pretrain" and facts.get("model") == key and "recipe" in facts
    ]
    kept = sorted((one for one in contents.trainings if one["model"] == key), key=lambda one: one["seed"])
    return page(
        "site/model",
        NAV,
        title=model_title(key),
        key=key,
        facts=known,
        rows=rows,
        recipe=recipes[0] if recipes else {},
        curves=[{"picture": picture(curve), "said": curve.said} for curve in curves(kept)],
        cost=list(_cost(kept, [one for one in contents.finetunings if one["model"] == key])),
    )


def _cost(pretrainings: Sequence[Mapping[str, Any]], finetunings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What trainings of either kind took, a sentence each where records say it."""
    for what, kept in (("A seed of pretraining", pretrainings), ("A fine-tuning", finetunings)):
        seconds = [one["cpu_seconds"] for one in kept if "cpu_seconds" in one]
        devices = ", ".join(sorted({one["device"] for one in kept if "device" in one}))
        if seconds:
            yield f"{what} took {sum(seconds) / len(seconds):.0f} CPU-seconds on average of {len(seconds)} ({devices})."


def _benchmarks(rows: Sequence[SiteRow]) -> list[dict[str, Any]]:
    known = catalogue.entries(Benchmark)
    listed = []
    for key, of_benchmark in by(rows, "benchmark").items():
        facts = known[key].model_dump(mode="json", include=OF_BENCHMARK) if key in known else {}
        listed.append({"key": key, "title": benchmark_title(key), "facts": facts, "rows": of_benchmark})
    return listed


def _entries(contents: Contents) -> Iterator[dict[str, Any]]:
    """All that can be looked for: kind and link."""
    for one in contents.drawn:
        text = f"{one.summary.title}: {one.summary.caption}"
        yield {"kind": "table", "link": Link(text, f"{one.table.paper}.html#{one.id}")}
    for figure in contents.figures:
        yield {"kind": "figure", "link": Link(figure.title, f"{figure.paper}.html#{figure.id}")}
    for paper, claims in contents.claims.items():
        for claim in (*claims.main, *claims.others):
            verdicts = ", ".join([ON_PRINT.get(claim.print, claim.print), *([SEEN[claim.runs]] if claim.runs else [])])
            text = f"{contents.names[paper]}: {claim.text} ({verdicts})"
            yield {"kind": "claim", "link": Link(text, f"{paper}.html#{claim.id}")}
    for key in sorted(by(contents.rows, "model")):
        yield {"kind": "model", "link": Link(model_title(key), f"model-{key}.html")}
    for key in by(contents.rows, "benchmark"):
        yield {"kind": "benchmark", "link": Link(f"{key}: {benchmark_title(key)}", f"benchmarks.html#{key}")}

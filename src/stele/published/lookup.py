"""Lookup of published numbers for a value in a table of today's encoders, each with its verdict, the shown one first.

The order never depends on our number. First come numbers that were read at their source, then those with the
instruction of our benchmark, those of our revision, and those with the smallest tolerance. If a source prints numbers
by language but not their mean, the mean is computed here, and its note says so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from stele import catalogue
from stele.artifacts.records import own_checkpoint
from stele.artifacts.results import Result
from stele.catalogue.references import AVERAGE, language_of, languages_of, published
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import PublishedBenchmark, PublishedScore
from stele.papers.table_parts import CellSource
from stele.published.verdicts import SETTING, Verdict, other_revision, repositories, verdict


def published_for(
    value: CellSource, ours: float | None, present: Sequence[str], result: Result | None, record: Mapping[str, Any]
) -> tuple[Verdict, ...]:
    """Published numbers for a value, the best source first; `present` are the languages that our number covers.

    Without a result of ours `result` is None and `record` empty; the checkpoint is then the catalogue's.
    """
    if value.setting != SETTING:
        return ()
    checkpoint = own_checkpoint(record, value.model) if result else _of_catalogue(value.model)
    scores = _scores(value, frozenset(repositories(value.model, checkpoint)))
    scores.sort(key=lambda score: _preference(score, value.benchmark, checkpoint))
    language = AVERAGE if value.average else value.languages[0]
    if result is None or ours is None:
        place = (value.benchmark, value.model, language, value.metric)
        return tuple(Verdict(*place, None, score, "not measured", "", ()) for score in scores)
    lacking = [code for code in value.languages if code not in present]
    return tuple(verdict(result, record, score, language, ours, lacking) for score in scores)


def _preference(score: PublishedScore, benchmark: str, checkpoint: Mapping[str, Any]) -> tuple[bool, int, bool, float]:
    """Sort key of a published number: the number with the lowest key is shown."""
    rank = catalogue.entry(PublishedBenchmark, benchmark).rank(score.benchmark)
    return not score.judges, rank, bool(other_revision(checkpoint, score)), score.tolerance


def _of_catalogue(model: str) -> dict[str, str | None]:
    """Checkpoint of a model in the catalogue; {} for a model that is not in it."""
    entry = catalogue.entries(Model).get(model)
    return {"repository": entry.checkpoint, "revision": entry.revision} if entry else {}


def _scores(value: CellSource, models: frozenset[str]) -> list[PublishedScore]:
    """Published numbers for exactly the languages of a value; for a source with single languages only, their mean."""
    wanted = frozenset(value.languages)
    exact: list[PublishedScore] = []
    by_language: dict[tuple[str, ...], dict[str, PublishedScore]] = defaultdict(dict)  # source -> language -> number
    for model in sorted(models):
        for score in _index().get((value.benchmark, model, value.metric), ()):
            covered = _covered(value.benchmark, score.subset)
            if covered == wanted:
                exact.append(score)
            if value.average and len(covered) == 1:
                by_language[_source(score)].setdefault(*covered, score)
    with_mean = {_source(score) for score in exact}
    means = []
    for source, parts in by_language.items():
        if source not in with_mean and parts.keys() >= wanted:
            means.append(_mean(parts, value))
    return exact + means


def _source(score: PublishedScore) -> tuple[str, ...]:
    return score.benchmark, score.model, score.system, score.split, score.source, score.model_revision, score.status


def _mean(scores: Mapping[str, PublishedScore], value: CellSource) -> PublishedScore:
    """Mean of a source's numbers by language, with a note that it was computed here."""
    chosen = [scores[code] for code in value.languages]
    changes = {
        "value": math.fsum(score.value for score in chosen) / len(chosen),
        "tolerance": max(score.tolerance for score in chosen),
        "note": f"mean of {len(chosen)} published numbers, computed here",
    }
    return chosen[0].model_copy(update=changes)


@cache
def _covered(benchmark: str, subset: str) -> frozenset[str]:
    """Our languages that a source's subset covers; empty if it covers other languages too, or none of ours."""
    language, entry = language_of(benchmark, subset), catalogue.entry(Benchmark, benchmark)
    if language == AVERAGE:
        return frozenset(() if entry.whole else entry.languages)
    return frozenset([language] if language else languages_of(benchmark, subset))


@cache
def _index() -> dict[tuple[str, str, str], list[PublishedScore]]:
    """Published numbers by (benchmark, model, metric), in the order of references.tsv."""
    index = defaultdict(list)
    for benchmark, scores in published().items():
        for score in scores:
            index[benchmark, score.model, score.metric].append(score)
    return dict(index)

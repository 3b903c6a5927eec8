"""The published numbers beside one value of a table of today's encoders, the one that is shown first, with verdicts.

Which is shown never depends on our number: one that was read at its source, with the instruction of our benchmark, of
the revision that we have, and with the smallest tolerance. A mean that a source prints by language only is taken over
what it prints, and says so.
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
from stele.tables.published.verdicts import SETTING, Verdict, other_revision, repositories, verdict


def beside(
    value: CellSource, ours: float | None, present: Sequence[str], result: Result | None, record: Mapping[str, Any]
) -> tuple[Verdict, ...]:
    """The published numbers of a value, the best source first; `present` are the languages that ours is over.

    `result` and its `record` are None and empty where there is none of ours; then sources are found by the catalogue.
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
    """What is shown first is lowest."""
    rank = catalogue.entry(PublishedBenchmark, benchmark).rank(score.benchmark)
    return not score.judges, rank, bool(other_revision(checkpoint, score)), score.tolerance


def _of_catalogue(model: str) -> dict[str, str | None]:
    """The checkpoint that a model of the catalogue is."""
    known = catalogue.entries(Model).get(model)
    return {"repository": known.checkpoint, "revision": known.revision} if known else {}


def _scores(value: CellSource, models: frozenset[str]) -> list[PublishedScore]:
    """What is published of exactly the languages of a value; where a source has each of them, their mean."""
    wanted, by_source = frozenset(value.languages), defaultdict(dict)
    exact = []
    known = _index()
    for score in (one for model in sorted(models) for one in known.get((value.benchmark, model, value.metric), ())):
        covered, source = _covered(value.benchmark, score.subset), _source(score)
        if covered == wanted:
            exact.append(score)
        if value.average and len(covered) == 1:
            by_source[source].setdefault(*covered, score)
    given = {_source(score) for score in exact}
    return [*exact, *(_mean(of, value) for key, of in by_source.items() if of.keys() >= wanted and key not in given)]


def _source(score: PublishedScore) -> tuple[str, ...]:
    return score.benchmark, score.model, score.system, score.split, score.source, score.model_revision, score.status


def _mean(scores: Mapping[str, PublishedScore], value: CellSource) -> PublishedScore:
    """The mean of a source's numbers by language, as a number of its own."""
    chosen = [scores[code] for code in value.languages]
    changes = {
        "value": math.fsum(score.value for score in chosen) / len(chosen),
        "tolerance": max(score.tolerance for score in chosen),
        "note": f"mean of {len(chosen)} published numbers, computed here",
    }
    return chosen[0].model_copy(update=changes)


@cache
def _covered(benchmark: str, subset: str) -> frozenset[str]:
    """Our codes that a source's subset is over; none where it is of none of ours, or of more than the tables know."""
    language, entry = language_of(benchmark, subset), catalogue.entry(Benchmark, benchmark)
    if language == AVERAGE:
        return frozenset(() if entry.whole else entry.languages)
    return frozenset([language] if language else languages_of(benchmark, subset))


@cache
def _index() -> dict[tuple[str, str, str], list[PublishedScore]]:
    """(benchmark, model, metric) -> what is published of it, in the order of references.tsv."""
    index = defaultdict(list)
    for benchmark, scores in published().items():
        for score in scores:
            index[benchmark, score.model, score.metric].append(score)
    return dict(index)

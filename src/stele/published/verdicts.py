"""Published numbers of our values, and verdicts on ours against them: OK, near or FAIL, if both measure the same.

A run is comparable if it used all of the real data, an unmodified public checkpoint, and the split that the source
evaluated. A model that takes an instruction must have been given the same one, which alone changes its numbers by up to
.1. Other differences may change a number but no verdict; a note beside the verdict names them: another revision, other
practices of the source, a prompt or length from config.yaml, 16 bits, a length that is not the model's.

The order of a value's published numbers never depends on ours. Numbers that were read at their source come first, then
numbers with our benchmark's instruction, of our revision, and with the smallest tolerance. If a source prints numbers
by language but not their mean, the mean is computed here, and its note says so.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from stele import catalogue
from stele.artifacts.records import GENERATED, LIMITED, STAND_IN, encoded, encoding_notes, own_checkpoint
from stele.artifacts.results import Metric, Result
from stele.catalogue.datasets import evaluated_in
from stele.catalogue.references import AVERAGE, language_of, languages_of, published
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import PublishedBenchmark, PublishedScore
from stele.papers.table_parts import CellSource
from stele.recipes.encoding import BENCHMARK, EncodingSpec

State = Literal["OK", "near", "FAIL", "not comparable", "context", "not measured"]
SETTING = "direct"
NAMED = 20  # most languages in a reason
NEAR = 2  # multiple of the tolerance
EXACT = {key: EncodingSpec.model_fields[key].default for key in ("weights", "precision")}  # 32 bits
SCALE, LENGTHS = "scale", ("query_length", "passage_length")
ROUNDING = 1e-12  # added to a tolerance, so that binary fractions move no difference across its edge


class Verdict(NamedTuple):
    """Comparison of one of our numbers (a fraction, None if missing) with a published one."""

    benchmark: str
    model: str
    language: str
    metric: str
    ours: float | None
    published: PublishedScore
    state: State
    why: str
    notes: tuple[str, ...]

    @property
    def difference(self) -> float:
        return math.nan if self.ours is None else self.ours - self.published.value


def verdicts(result: Result, record: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yields the verdicts on a result, one for each published number of its metrics; `record` is its record."""
    about = catalogue.entries(PublishedBenchmark).get(result.benchmark)
    if about is None:
        return
    ids = repositories(result.model, own_checkpoint(record, result.model))
    for score in published()[result.benchmark]:
        metric = result.metrics.get(score.metric)
        if score.model in ids and metric is not None:
            language, ours, lacking = _our_number(result.benchmark, score.subset, metric)
            if ours is not None:
                yield verdict(result, record, score, language, ours, lacking)


def verdict(
    result: Result, record: Mapping[str, Any], score: PublishedScore, language: str, ours: float, lacking: Sequence[str]
) -> Verdict:
    """Judges one number of a result; `lacking` are the languages that our mean should cover and does not."""
    facts = encoded(record)
    encoding, decided_by = facts.get("encoding", {}), facts.get("encoding_decided_by", {})
    incomparable = (
        _incomparable_result(result)
        or _incomparable_score(score, result.benchmark, lacking)
        or _other_instruction(score, result.benchmark, encoding)
    )
    state, why = judge(ours, score, incomparable)
    unlike = catalogue.entry(PublishedBenchmark, result.benchmark).unlike  # differences of protocol
    notes = (
        *other_weights(result.model, own_checkpoint(record, result.model), score),
        *(practice for practice, models in unlike.items() if score.model in models),
        *encoding_notes(record),
        *_other_encoding(encoding, decided_by),
    )
    return Verdict(result.benchmark, result.model, language, score.metric, ours, score, state, why, notes)


def _our_number(benchmark: str, subset: str, metric: Metric) -> tuple[str, float | None, list[str]]:
    """Language of a subset (or name of its mean), our number for it, and the languages that our number lacks."""
    language, codes = language_of(benchmark, subset), languages_of(benchmark, subset)
    if language == AVERAGE:
        codes = evaluated_in(catalogue.entry(Benchmark, benchmark))
        return AVERAGE, metric.average, [code for code in codes if code not in metric.languages]
    if language:
        return language, metric.languages.get(language), []
    present = [metric.languages[code] for code in codes if code in metric.languages]
    mean = math.fsum(present) / len(present) if present else None
    return subset, mean, [code for code in codes if code not in metric.languages]


def judge(ours: float, score: PublishedScore, incomparable: str = "") -> tuple[State, str]:
    """Returns the state of one number, and the reason if it is not comparable or only context."""
    if incomparable:
        return "not comparable", incomparable
    if not math.isfinite(ours):
        return "not comparable", "ours is not a number"
    if not score.judges:
        return "context", f"the source is {score.status}"
    distance = abs(ours - score.value)
    if distance <= score.tolerance + ROUNDING:
        return "OK", ""
    return ("near" if distance <= NEAR * score.tolerance + ROUNDING else "FAIL"), ""


def _incomparable_result(result: Result) -> str:
    """Why a result cannot be compared with published numbers; "" if it can."""
    for label, why in (
        (GENERATED, "the data are generated"),
        (STAND_IN, "the checkpoint is a stand-in"),
        (LIMITED, "a try with a few queries"),
    ):
        if label in result.labels:
            return why
    if result.setting != SETTING:
        return f"published of the model as it is, ours is the setting {result.setting}"
    return ""


def _incomparable_score(score: PublishedScore, benchmark: str, lacking: Sequence[str]) -> str:
    about = catalogue.entry(PublishedBenchmark, benchmark)
    if score.split != about.split:
        return f"published of the split {score.split}, ours is {about.split}"
    if lacking:
        rest = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        return f"our average lacks {', '.join(lacking[:NAMED])}{rest}"
    return ""


def repositories(model: str, checkpoint: Mapping[str, Any]) -> set[str]:
    """Names that sources may use for a model.

    They are its repository and the one with the same weights and code; without a repository, our key of the model. A
    folder that config.yaml sets for a model of the catalogue counts as a copy of its checkpoint.
    """
    known = catalogue.entries(Model).get(model)
    ids = {checkpoint.get("repository"), model if known and known.kind else None}
    if known and checkpoint and not checkpoint.get("repository"):
        ids.add(known.checkpoint)
    if known and known.checkpoint in ids:
        ids.add(known.same_weights_as)
    return {name for name in ids if name}


def other_weights(model: str, checkpoint: Mapping[str, Any], score: PublishedScore) -> tuple[str, ...]:
    """Note that a number was published for other weights than ours, as far as known; empty if not."""
    if checkpoint and not checkpoint.get("repository") and catalogue.entries(Model).get(model):
        return (f"ours is a user's folder, taken for {score.model}; its revision is not known",)
    if checkpoint.get("repository") != score.model and score.model != model:
        return (f"published of {score.model}, the same weights",)
    return other_revision(checkpoint, score)


def other_revision(checkpoint: Mapping[str, Any], score: PublishedScore) -> tuple[str, ...]:
    """Note that a number was published for another revision of a checkpoint than ours; empty if not."""
    ours, theirs = checkpoint.get("revision"), score.model_revision
    if not theirs or ours == theirs or checkpoint.get("repository") != score.model:
        return ()
    return (f"published of revision {theirs[:12]}, ours is {str(ours)[:12]}",)


def _other_instruction(score: PublishedScore, benchmark: str, encoding: Mapping[str, Any]) -> str:
    """Reason that a number was published with another instruction than ours; "" if not, or if the model takes none.

    Sources are assumed to have used the benchmark's instruction unless published.yaml says otherwise.
    """
    protocol, ours = catalogue.entry(Benchmark, benchmark).encoding, encoding.get("instruction")
    of_benchmark = protocol.instruction if protocol else ""
    theirs = catalogue.entry(PublishedBenchmark, benchmark).instructions.get(score.benchmark, of_benchmark)
    if not ours or ours == theirs:
        return ""
    return f"published with another instruction: {theirs!r}, ours is {ours!r}"


def _other_encoding(encoding: Mapping[str, Any], decided_by: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields keys of the encoding that may differ from the source's: set in config.yaml, 16 bits, other lengths."""
    chosen = decided_by.get("config", ())
    for key in chosen:
        yield f"config.yaml sets {key}: {encoding.get(key)!r}"
    for key, exact in EXACT.items():
        if key not in chosen and encoding.get(key, exact) != exact:
            yield f"{key}: {encoding[key]}"
    for origin in (SCALE, BENCHMARK):
        for key in LENGTHS:
            if key in decided_by.get(origin, ()):
                yield f"the {origin} decides {key}: {encoding.get(key)}"


# --- the published numbers of a cell, the one that is shown first -----------------------------------------------------
def published_for(
    value: CellSource, ours: float | None, present: Sequence[str], result: Result | None, record: Mapping[str, Any]
) -> tuple[Verdict, ...]:
    """Published numbers for a value, the best source first; `present` are the languages that our number covers.

    Without a result of ours `result` is None and `record` empty; the checkpoint is then the catalogue's.
    """
    if value.setting != SETTING:
        return ()
    if result:
        checkpoint = own_checkpoint(record, value.model)
    else:
        entry = catalogue.entries(Model).get(value.model)
        checkpoint = {"repository": entry.checkpoint, "revision": entry.revision} if entry else {}
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


def _scores(value: CellSource, models: frozenset[str]) -> list[PublishedScore]:
    """Published numbers for exactly the languages of a value; for a source with single languages only, their mean."""
    wanted = frozenset(value.languages)
    exact: list[PublishedScore] = []
    by_language: dict[tuple[str, ...], dict[str, PublishedScore]] = defaultdict(dict)  # source -> language -> number
    scores = [score for score in published().get(value.benchmark, ()) if score.metric == value.metric]
    for score in sorted((score for score in scores if score.model in models), key=lambda score: score.model):
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
    """Our languages that a source's subset covers; empty if it covers any other."""
    language, entry = language_of(benchmark, subset), catalogue.entry(Benchmark, benchmark)
    if language == AVERAGE:
        return frozenset(() if entry.whole else entry.languages)
    return frozenset([language] if language else languages_of(benchmark, subset))

"""Whether a number of ours is the one that others published: OK, near or FAIL, where both are of the same thing.

A run is comparable where it is of real data and a public checkpoint, whole, with the model as it is, and of the split
that the source evaluated; a model that takes an instruction must have been given the same one, which alone moves its
numbers by up to .1. What else differs and may move a number (another revision, what a source does otherwise, a prompt
or length of config.yaml, 16 bits, a length that is none of the model's) is said beside the verdict, which it leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from stele import catalogue
from stele.artifacts.records import GENERATED, LIMITED, STAND_IN, ancestor, encoding_notes, own_checkpoint
from stele.artifacts.results import Metric, Result
from stele.catalogue.datasets import dataset
from stele.catalogue.datasets import languages_of as languages_of_dataset
from stele.catalogue.references import AVERAGE, language_of, languages_of, published
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import PublishedBenchmark, PublishedScore
from stele.recipes.encoding import BENCHMARK, EncodingSpec

State = Literal["OK", "near", "FAIL", "not comparable", "context", "not measured"]
SETTING = "direct"
NAMED = 20  # languages that a reason names
NEAR = 2  # times the tolerance
EXACT = {key: EncodingSpec.model_fields[key].default for key in ("weights", "precision")}  # 32 bits
SCALE, LENGTHS = "scale", ("query_length", "passage_length")
ROUNDING = 1e-12  # a difference at the edge of a tolerance lies within it, whatever binary fractions make of it


class Verdict(NamedTuple):
    """One number of ours, a fraction, beside one that was published; None where there is none of ours."""

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
    """The verdicts on a result, whose file holds `record`, by metric, language (or the name of a mean) and source."""
    about = catalogue.entries(PublishedBenchmark).get(result.benchmark)
    if about is None:
        return
    ids = repositories(result.model, own_checkpoint(record, result.model))
    for score in published()[result.benchmark]:
        metric = result.metrics.get(score.metric)
        if score.model in ids and metric is not None:
            language, ours, lacking = _ours(result.benchmark, score.subset, metric)
            if ours is not None:
                yield verdict(result, record, score, language, ours, lacking)


def verdict(
    result: Result, record: Mapping[str, Any], score: PublishedScore, language: str, ours: float, lacking: Sequence[str]
) -> Verdict:
    """The verdict on one number of a result; `lacking` are languages that a mean of ours should be over and is not."""
    encoding, decided_by = _encoding(record)
    other = _other(score, result.benchmark, lacking) or _told(score, result.benchmark, encoding)
    state, why = judge(ours, score, _incomparable(result) or other)
    weights = other_weights(result.model, own_checkpoint(record, result.model), score)
    notes = (*weights, *_unlike(score, result.benchmark), *encoding_notes(record), *_changed(encoding, decided_by))
    return Verdict(result.benchmark, result.model, language, score.metric, ours, score, state, why, notes)


def _ours(benchmark: str, subset: str, metric: Metric) -> tuple[str, float | None, list[str]]:
    """What our number of a subset goes by, the number, and the languages that it lacks."""
    language, codes = language_of(benchmark, subset), languages_of(benchmark, subset)
    if language == AVERAGE:
        return AVERAGE, metric.average, [code for code in _all_of(benchmark) if code not in metric.languages]
    if language:
        return language, metric.languages.get(language), []
    present = [metric.languages[code] for code in codes if code in metric.languages]
    mean = math.fsum(present) / len(present) if present else None
    return subset, mean, [code for code in codes if code not in metric.languages]


def _all_of(benchmark: str) -> Sequence[str]:
    """The languages that a benchmark's mean is over on real data."""
    entry = catalogue.entry(Benchmark, benchmark)
    return languages_of_dataset(dataset(entry.judgments[0])) if entry.whole else entry.languages


def judge(ours: float, score: PublishedScore, incomparable: str = "") -> tuple[State, str]:
    """The verdict on one number, and why it is none."""
    if incomparable:
        return "not comparable", incomparable
    if not math.isfinite(ours):
        return "not comparable", "ours is no number"
    if not score.judges:
        return "context", f"the source is {score.status}"
    distance = abs(ours - score.value)
    if distance <= score.tolerance + ROUNDING:
        return "OK", ""
    return ("near" if distance <= NEAR * score.tolerance + ROUNDING else "FAIL"), ""


def _incomparable(result: Result) -> str:
    """Why nothing of a result can be held against a published number; "" where it can."""
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


def _other(score: PublishedScore, benchmark: str, lacking: Sequence[str]) -> str:
    """Why one published number is of something else; "" where it is of the same."""
    about = catalogue.entry(PublishedBenchmark, benchmark)
    if score.split != about.split:
        return f"published of the split {score.split}, ours is {about.split}"
    if lacking:
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        return f"our average lacks {', '.join(lacking[:NAMED])}{more}"
    return ""


def repositories(model: str, checkpoint: Mapping[str, Any]) -> set[str]:
    """What sources may call a model: its repository, that of the same weights with code, and for others our own key.

    A folder that config.yaml gives a known model is taken for a copy of its checkpoint.
    """
    known = catalogue.entries(Model).get(model)
    ids = {checkpoint.get("repository"), model if known and known.kind else None}
    if known and checkpoint and not checkpoint.get("repository"):
        ids.add(known.checkpoint)
    if known and known.checkpoint in ids:
        ids.add(known.same_weights_as)
    return {name for name in ids if name}


def other_weights(model: str, checkpoint: Mapping[str, Any], score: PublishedScore) -> tuple[str, ...]:
    """A note, where a number was published of other files than ours, as far as that is known."""
    if checkpoint and not checkpoint.get("repository") and catalogue.entries(Model).get(model):
        return (f"ours is a folder of one's own, taken for {score.model}; its revision is not known",)
    if checkpoint.get("repository") != score.model and score.model != model:
        return (f"published of {score.model}, the same weights",)
    return other_revision(checkpoint, score)


def other_revision(checkpoint: Mapping[str, Any], score: PublishedScore) -> tuple[str, ...]:
    """A note, where a number was published of another revision of a checkpoint than this one."""
    ours, theirs = checkpoint.get("revision"), score.model_revision
    if not theirs or ours == theirs or checkpoint.get("repository") != score.model:
        return ()
    return (f"published of revision {theirs[:12]}, ours is {str(ours)[:12]}",)


def _encoding(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Sequence[str]]]:
    """How the texts of a result became vectors, and who decided which keys of that."""
    facts = ancestor(record, "retrieve") or ancestor(record, "encode_pairs")
    return facts.get("encoding", {}), facts.get("encoding_decided_by", {})


def _told(score: PublishedScore, benchmark: str, encoding: Mapping[str, Any]) -> str:
    """Why a number is of another instruction than ours; "" where it is of the same, or the model takes none.

    Sources are taken to have told what the benchmark does, where published.yaml does not say what else.
    """
    protocol, ours = catalogue.entry(Benchmark, benchmark).encoding, encoding.get("instruction")
    of_benchmark = protocol.instruction if protocol else ""
    theirs = catalogue.entry(PublishedBenchmark, benchmark).instructions.get(score.benchmark, of_benchmark)
    if not ours or ours == theirs:
        return ""
    return f"published with another instruction: {theirs!r}, ours is {ours!r}"


def _unlike(score: PublishedScore, benchmark: str) -> list[str]:
    """What the sources of a number do otherwise than is done here."""
    unlike = catalogue.entry(PublishedBenchmark, benchmark).unlike
    return [what for what, models in unlike.items() if score.model in models]


def _changed(encoding: Mapping[str, Any], decided_by: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What may be another encoding than the source's: config.yaml's keys, 16 bits, lengths that are not the model's."""
    chosen = decided_by.get("config", ())
    for key in chosen:
        yield f"config.yaml sets {key}: {encoding.get(key)!r}"
    for key, exact in EXACT.items():
        if key not in chosen and encoding.get(key, exact) != exact:
            yield f"{key}: {encoding[key]}"
    for who in (SCALE, BENCHMARK):
        for key in LENGTHS:
            if key in decided_by.get(who, ()):
                yield f"the {who} decides {key}: {encoding.get(key)}"

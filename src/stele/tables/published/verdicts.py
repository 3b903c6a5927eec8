"""Whether a number of ours is the one that others published: OK, near or FAIL, where both are of the same thing.

A run is comparable where it is of real data and a public checkpoint, whole, with the model as it is, and of the split
that the source evaluated. What differs and may move a number (another revision, a prompt or length of config.yaml) is
said beside the verdict and does not change it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from stele import catalogue
from stele.artifacts.records import GENERATED, LIMITED, STAND_IN, ancestor, own_checkpoint
from stele.artifacts.results import Metric, Result
from stele.catalogue.references import AVERAGE, language_of, published
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import PublishedBenchmark, PublishedScore

State = Literal["OK", "near", "FAIL", "not comparable", "context"]
SETTING = "direct"
NEAR = 2  # times the tolerance
ROUNDING = 1e-12  # a difference at the edge of a tolerance lies within it, whatever binary fractions make of it


class Verdict(NamedTuple):
    """One number of ours, a fraction, beside one that was published."""

    benchmark: str
    model: str
    language: str
    metric: str
    ours: float
    published: PublishedScore
    state: State
    why: str
    notes: tuple[str, ...]

    @property
    def difference(self) -> float:
        return self.ours - self.published.value


def verdicts(result: Result, record: Mapping[str, Any]) -> Iterator[Verdict]:
    """The verdicts on a result, whose file holds `record`, by metric, language and source."""
    about = catalogue.entries(PublishedBenchmark).get(result.benchmark)
    if about is None:
        return
    ids, checkpoint = _ids(result.model, record), own_checkpoint(record, result.model)
    reason, notes = _incomparable(result, record), tuple(_changed(record))
    for score in published()[result.benchmark]:
        metric, language = result.metrics.get(score.metric), language_of(result.benchmark, score.subset)
        if score.model not in ids or metric is None or language is None:
            continue
        ours = metric.average if language == AVERAGE else metric.languages.get(language)
        if ours is None:
            continue
        state, why = judge(ours, score, reason or _other(score, about, language, metric, result.benchmark))
        revision = _revision(checkpoint, score)
        yield Verdict(
            result.benchmark, result.model, language, score.metric, ours, score, state, why, (*revision, *notes)
        )


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


def _incomparable(result: Result, record: Mapping[str, Any]) -> str:
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


def _other(score: PublishedScore, about: PublishedBenchmark, language: str, metric: Metric, benchmark: str) -> str:
    """Why one published number is of something else; "" where it is of the same."""
    if score.split != about.split:
        return f"published of the split {score.split}, ours is {about.split}"
    if language == AVERAGE:
        missing = [code for code in catalogue.entry(Benchmark, benchmark).languages if code not in metric.languages]
        if missing:
            return f"our average lacks {', '.join(missing)}"
    return ""


def _ids(model: str, record: Mapping[str, Any]) -> set[str]:
    """What sources may call a model: its repository, that of the same weights with code, and for others our own key."""
    known, checkpoint = catalogue.entries(Model).get(model), own_checkpoint(record, model)
    ids = {checkpoint.get("repository"), model if known and known.kind else None}
    if known and known.checkpoint in ids:
        ids.add(known.same_weights_as)
    return {name for name in ids if name}


def _revision(checkpoint: Mapping[str, Any], score: PublishedScore) -> tuple[str, ...]:
    ours, theirs = checkpoint.get("revision"), score.model_revision
    if not theirs or ours == theirs or checkpoint.get("repository") != score.model:
        return ()
    return (f"published of revision {theirs[:12]}, ours is {str(ours)[:12]}",)


def _changed(record: Mapping[str, Any]) -> Iterator[str]:
    """What config.yaml made of the encoding."""
    decided = ancestor(record, "retrieve").get("encoding_decided_by", {})
    encoding = ancestor(record, "retrieve").get("encoding", {})
    for key in decided.get("config", ()):
        yield f"config.yaml sets {key}: {encoding.get(key)!r}"

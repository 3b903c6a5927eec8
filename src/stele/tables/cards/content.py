"""The content of a result card: facts of the model, tables of numbers and verdicts, warnings, the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stele import catalogue
from stele.artifacts.records import own_checkpoint
from stele.artifacts.results import Metric
from stele.catalogue.models import seen_questions
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.tables.cards import again, encoding
from stele.tables.cards.evaluated import Evaluated, notes, passages, queries, seconds
from stele.tables.published.verdicts import Verdict, verdicts

AVERAGE = "average"
SHOWN = 24  # lines of a table that is not folded
STATES = ("FAIL", "near", "OK", "not comparable", "context")  # in this order
SPEED = ("benchmark", "passages", "cut", "queries", "cut", "seconds", "CPU seconds", "passages a second")
DECIDED = ("key", "value", "decided by", "benchmarks")


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the columns from `numbers` on are set to the right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int

    @property
    def long(self) -> bool:
        return len(self.rows) > SHOWN


@dataclass(frozen=True)
class Part:
    """One benchmark of a card."""

    key: str
    title: str
    seen: bool  # the model was trained on its training questions
    numbers: Sheet
    judged: Sheet
    counts: str


@dataclass(frozen=True)
class Card:
    """A card, ready for its templates."""

    title: str
    facts: Mapping[str, str]
    labels: Sequence[str]
    warnings: Sequence[str]
    counts: str
    encoding: Sheet
    speed: Sheet
    parts: Sequence[Part]
    interval: str
    command: str
    file: str  # what the FILE of the command holds


def make_card(found: Sequence[Evaluated], scale: str, folder: str = "", user_data: Sequence[str] = ()) -> Card:
    """The card of some results of one model, built at `scale`, in `folder`, with the user's copies of `user_data`."""
    model = found[0].result.model
    known = catalogue.entries(Model).get(model)
    judged = {one.result.benchmark: list(verdicts(one.result, one.record)) for one in found}
    return Card(
        title=known.label if known else model,
        facts={name: text for name, text in _facts(found, scale, known).items() if text},
        labels=sorted({label for one in found for label in one.result.labels}),
        warnings=list(notes(found)),
        counts=_counts([verdict for of_one in judged.values() for verdict in of_one]),
        encoding=Sheet(DECIDED, list(encoding.values(found)), len(DECIDED)),
        speed=Sheet(SPEED, [_speed(one) for one in found], 1),
        parts=[_part(one, judged[one.result.benchmark]) for one in found],
        interval=_interval(found),
        command=again.command(found, scale, folder, user_data),
        file=f"; FILE is a configuration with user_data: your folders of {', '.join(user_data)}" if user_data else "",
    )


def _facts(found: Sequence[Evaluated], scale: str, known: Model | None) -> dict[str, str]:
    model = found[0].result.model
    checkpoint = own_checkpoint(found[0].record, model)
    trained = "not known" if known is None or known.trained_on is None else ", ".join(known.trained_on) or "none known"
    return {
        "model": model,
        "checkpoint": checkpoint.get("repository")
        or f"a folder, content {checkpoint.get('content', 'not known')[:16]}",
        "revision": checkpoint.get("revision") or "",
        "licence": checkpoint.get("licence") or (known and known.licence) or "not known",
        "saw the training questions of": trained,
        "scale": scale,
        "device": ", ".join(sorted({_device(one.job) for one in found})),
        "software": ", ".join(sorted({_software(one.job) for one in found})),
    }


def _device(job: Mapping[str, Any]) -> str:
    processes = job.get("processes", 1)
    return f"{job['device']}, {processes} processes" if processes > 1 else job["device"]


def _software(job: Mapping[str, Any]) -> str:
    packages = job.get("versions", {})
    names = [f"{name} {packages[name]}" for name in ("torch", "transformers") if name in packages]
    return ", ".join([*names, f"Stele at {job['commit'][:12]}"] if job.get("commit") else names)


def _speed(one: Evaluated) -> list[str]:
    """A line of `SPEED`; a job that was resumed says how long its last start took."""
    job, texts, asked = one.job, passages(one.job), queries(one.job)
    wall, cpu = seconds(job, "wall_seconds"), seconds(job, "cpu_seconds")
    times = [f"{wall:,.1f}", f"{cpu:,.1f}", f"{texts.texts / wall:,.0f}" if wall else ""]
    counts = [f"{texts.texts:,}", texts.share, f"{asked.texts:,}", asked.share]
    return [one.result.benchmark, *counts, *times]


def _interval(found: Sequence[Evaluated]) -> str:
    about = next((one.record["intervals"] for one in found if one.record.get("intervals")), {})
    alike = any(catalogue.entry(Benchmark, one.result.benchmark).same_questions for one in found)
    without = "; none of an average whose languages ask the same questions" if alike else ""
    return f"{100 * about['level']:.0f} % intervals: {about['method']}, seed {about['seed']}{without}" if about else ""


# --- benchmarks -------------------------------------------------------------------------------------------------------
def _part(one: Evaluated, judged: Sequence[Verdict]) -> Part:
    name = one.result.benchmark
    ordered = sorted(judged, key=lambda verdict: STATES.index(verdict.state))
    headers = ("verdict", "language", "metric", "source", "notes", "ours", "published", "difference")
    return Part(
        key=name,
        title=catalogue.entry(Benchmark, name).title,
        seen=bool(seen_questions(name, one.result.model, one.result.setting)),
        numbers=_numbers(one),
        judged=Sheet(headers, [_verdict(verdict) for verdict in ordered], 5),
        counts=_counts(judged),
    )


def _verdict(one: Verdict) -> list[str]:
    source = f"{one.published.source}: {one.published.locator}"
    said = "; ".join(filter(None, (one.why, *one.notes, one.published.note)))
    numbers = (f"{one.ours:.4f}", f"{one.published.value:.4f}", f"{one.difference:+.4f}")
    return [one.state, one.language, one.metric, source, said, *numbers]


def _counts(judged: Sequence[Verdict]) -> str:
    counts = Counter(one.state for one in judged)
    return ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])


def _numbers(one: Evaluated) -> Sheet:
    """A line a language, the average first; each value with its interval."""
    metrics = one.result.metrics
    codes = dict.fromkeys(code for metric in metrics.values() for code in metric.languages)
    first = next(iter(metrics.values()))
    lines = [[AVERAGE, str(sum(first.n.values()) or "")]] if first.average is not None else []
    lines += [[code, str(first.n.get(code, ""))] for code in codes]
    rows = [[*line, *(_value(one.record, name, metric, line[0]) for name, metric in metrics.items())] for line in lines]
    return Sheet(("language", "queries", *metrics), rows, 1)


def _value(record: Mapping[str, Any], name: str, metric: Metric, language: str) -> str:
    value = metric.average if language == AVERAGE else metric.languages.get(language)
    intervals = (record.get("intervals") or {}).get(name) or {}
    interval = intervals.get(AVERAGE) if language == AVERAGE else intervals.get("languages", {}).get(language)
    if value is None:
        return "—"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def cells(card: Card) -> Iterator[str]:
    """All texts of the card's tables, for a digest."""
    for sheet in (card.encoding, *(sheet for part in card.parts for sheet in (part.numbers, part.judged))):
        for row in sheet.rows:
            yield from row

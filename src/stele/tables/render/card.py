"""Result card of a model, in Markdown and HTML: facts, encoding, speed, numbers and verdicts, the command."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stele import catalogue
from stele.artifacts.records import own_checkpoint
from stele.artifacts.results import Metric
from stele.catalogue.models import seen_questions
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.published.verdicts import Verdict, verdicts
from stele.tables.render.card_sources import Evaluated, origins, passages, queries, reproduce_command, seconds
from stele.tables.render.sheets import Sheet

AVERAGE = "average"
STATES = ("FAIL", "near", "OK", "not comparable", "context")  # in this order
SPEED = ("benchmark", "passages", "cut", "queries", "cut", "seconds", "CPU seconds", "passages a second")
WHO = {
    "config": "config.yaml",
    "models": "models.yaml",
    "folder": "the checkpoint's folder",
    "benchmark": "the benchmark",
    "scale": "the scale",
    "default": "default",
}
DECIDED = ("key", "value", "decided by", "benchmarks")


def make_card(
    evaluated: Sequence[Evaluated], scale: str, folder: str = "", user_data: Sequence[str] = ()
) -> dict[str, Any]:
    """Prepares the card of one model's results, which were built at `scale` in `folder` with the user's `user_data`.

    Returns the values that the templates card.*.j2 show; `file` is the content of FILE in `command`.
    """
    model = evaluated[0].result.model
    known = catalogue.entries(Model).get(model)
    judged = {entry.result.benchmark: list(verdicts(entry.result, entry.record)) for entry in evaluated}
    named = [name for name in user_data if name not in catalogue.added("datasets")]  # others come from --data
    return dict(
        title=known.label if known else model,
        facts={name: text for name, text in _facts(evaluated, scale, known).items() if text},
        labels=sorted({label for entry in evaluated for label in entry.result.labels}),
        warnings=list(dict.fromkeys(note for entry in evaluated for note in entry.job.get("encoding_notes", ()))),
        counts=_counts([verdict for of_one in judged.values() for verdict in of_one]),
        encoding=Sheet(DECIDED, list(encoding_rows(evaluated)), len(DECIDED)),
        speed=Sheet(SPEED, [_speed(entry) for entry in evaluated], 1),
        parts=[_benchmark(entry, judged[entry.result.benchmark]) for entry in evaluated],
        interval=_interval(evaluated),
        command=reproduce_command(evaluated, scale, folder, user_data),
        file=f"; FILE is a configuration with user_data: your folders of {', '.join(named)}" if named else "",
    )


def _facts(evaluated: Sequence[Evaluated], scale: str, known: Model | None) -> dict[str, str]:
    model = evaluated[0].result.model
    checkpoint = own_checkpoint(evaluated[0].record, model)
    trained = "not known" if known is None or known.trained_on is None else ", ".join(known.trained_on) or "none known"
    return {
        "model": model,
        "checkpoint": checkpoint.get("repository")
        or f"a folder, content {checkpoint.get('content', 'not known')[:16]}",
        "revision": checkpoint.get("revision") or "",
        "licence": checkpoint.get("licence") or (known and known.licence) or "not known",
        "saw the training questions of": trained,
        "scale": scale,
        "device": ", ".join(sorted({_device(entry.job) for entry in evaluated})),
        "software": ", ".join(sorted({_software(entry.job) for entry in evaluated})),
    }


def _device(job: Mapping[str, Any]) -> str:
    processes = job.get("processes", 1)
    return f"{job['device']}, {processes} processes" if processes > 1 else job["device"]


def _software(job: Mapping[str, Any]) -> str:
    packages = job.get("versions", {})
    names = [f"{name} {packages[name]}" for name in ("torch", "transformers") if name in packages]
    return ", ".join([*names, f"Stele at {job['commit'][:12]}"] if job.get("commit") else names)


def _speed(entry: Evaluated) -> list[str]:
    """Line of the table `SPEED`; the times of a resumed job include its earlier runs."""
    job, texts, questions = entry.job, passages(entry.job), queries(entry.job)
    wall, cpu = seconds(job, "wall_seconds"), seconds(job, "cpu_seconds")
    times = [f"{wall:,.1f}", f"{cpu:,.1f}", f"{texts.texts / wall:,.0f}" if wall else ""]
    counts = [f"{texts.texts:,}", texts.share, f"{questions.texts:,}", questions.share]
    return [entry.result.benchmark, *counts, *times]


def _interval(evaluated: Sequence[Evaluated]) -> str:
    about = next((entry.record["intervals"] for entry in evaluated if entry.record.get("intervals")), {})
    alike = any(catalogue.entry(Benchmark, entry.result.benchmark).same_questions for entry in evaluated)
    without = "; an average over languages with the same questions has none" if alike else ""
    return f"{100 * about['level']:.0f} % intervals: {about['method']}, seed {about['seed']}{without}" if about else ""


# --- benchmarks -------------------------------------------------------------------------------------------------------
def _benchmark(entry: Evaluated, judged: Sequence[Verdict]) -> dict[str, Any]:
    """Section of a card on one benchmark; `seen` says that the model was trained on its training questions."""
    name = entry.result.benchmark
    ordered = sorted(judged, key=lambda verdict: STATES.index(verdict.state))
    headers = ("verdict", "language", "metric", "source", "notes", "ours", "published", "difference")
    return dict(
        key=name,
        title=catalogue.entry(Benchmark, name).title,
        seen=bool(seen_questions(name, entry.result.model, entry.result.setting)),
        numbers=_numbers(entry),
        judged=Sheet(headers, [_verdict(verdict) for verdict in ordered], 5),
        counts=_counts(judged),
    )


def _verdict(verdict: Verdict) -> list[str]:
    score = verdict.published
    notes = "; ".join(filter(None, (verdict.why, *verdict.notes, score.note)))
    numbers = (f"{verdict.ours:.4f}", f"{score.value:.4f}", f"{verdict.difference:+.4f}")
    source = f"{score.source}: {score.locator}"
    return [verdict.state, verdict.language, verdict.metric, source, notes, *numbers]


def _counts(judged: Sequence[Verdict]) -> str:
    counts = Counter(verdict.state for verdict in judged)
    return ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])


def _numbers(entry: Evaluated) -> Sheet:
    """Table with a line for each language, the average first, and each value with its interval."""
    metrics = entry.result.metrics
    codes = dict.fromkeys(code for metric in metrics.values() for code in metric.languages)
    first = next(iter(metrics.values()))
    lines = [[AVERAGE, str(sum(first.n.values()) or "")]] if first.average is not None else []
    lines += [[code, str(first.n.get(code, ""))] for code in codes]
    rows = [
        [*line, *(_value(entry.record, name, metric, line[0]) for name, metric in metrics.items())] for line in lines
    ]
    return Sheet(("language", "queries", *metrics), rows, 1)


def _value(record: Mapping[str, Any], name: str, metric: Metric, language: str) -> str:
    value = metric.average if language == AVERAGE else metric.languages.get(language)
    intervals = (record.get("intervals") or {}).get(name) or {}
    interval = intervals.get(AVERAGE) if language == AVERAGE else intervals.get("languages", {}).get(language)
    if value is None:
        return "—"
    return f"{value:.4f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def cells(card: Mapping[str, Any]) -> Iterator[str]:
    """All texts of the card's tables, for a digest."""
    of_benchmarks = (part[key] for part in card["parts"] for key in ("numbers", "judged"))
    for sheet in (card["encoding"], *of_benchmarks):
        for row in sheet.rows:
            yield from row


def encoding_rows(evaluated: Sequence[Evaluated]) -> Iterator[list[str]]:
    """Lines of the table `DECIDED`, in the order of the encoding's keys: one per value, with its benchmarks."""
    keys = dict.fromkeys(key for entry in evaluated for key in entry.job["encoding"])
    for key in keys:
        benchmarks: dict[tuple[str, str], list[str]] = {}  # (value, who decided it) -> benchmarks
        for entry in evaluated:
            if key in entry.job["encoding"]:
                value = _text(entry.job["encoding"][key]), origins(entry.job).get(key, "default")
                benchmarks.setdefault(value, []).append(entry.result.benchmark)
        for (value, origin), names in benchmarks.items():
            where = "all" if len(names) == len(evaluated) else ", ".join(names)
            yield [key, value, WHO.get(origin, origin), where]


def _text(value: Any) -> str:
    """Formats a value as in YAML; a text with spaces, or an empty one, is quoted.

    >>> _text("query: "), _text("mean"), _text(True), _text(None)
    ('"query: "', 'mean', 'true', 'none')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    if isinstance(value, str) and value.isidentifier():
        return value
    return '"' + value.replace("\n", "\\n") + '"' if isinstance(value, str) else str(value)

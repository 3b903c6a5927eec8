"""Card of an adaptation, in Markdown and HTML: verdicts, scores, trainings, neighbours, command, how to load it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from stele.files.formats import amount, duration
from stele.tables.render.sheets import Sheet

VERDICTS = ("method", "benchmark", "against", "verdict", "needed to decide", "difference", "interval", "p", "seeds")
SCORES = ("benchmark", "model", "metric", "seeds", "mean", "95 % interval")
TRAININGS = ("model", "seed", "task", "labels", "steps", "loss", "by chance", "CPU time", "wall time")
CURVES = ("model", "seed", "task", "by chance", *(f"to {n}/8" for n in range(1, 9)))
NEIGHBOURS = ("model", "seeds", "language", "sentences", "found", "during", "at the end", "mean cosine of others")
Verdict = Mapping[str, Any]


def make_card(verdict: Verdict) -> dict[str, Any]:
    """Prepares the values that the templates adaptation.*.j2 show, from an adaptation's verdict.json."""
    trainings = verdict["trainings"]
    rules, looks = verdict["rules"], len(verdict["looks"])
    first = next(training for training in trainings if training["model"] == verdict["methods"][0])
    of_results = {label for row in verdict["values"] for label in row.get("labels", ())}
    return dict(
        title=f"{verdict['base']}, adapted",
        summary=[comparison["sentence"] for comparison in verdict["comparisons"]],
        warnings=verdict.get("warnings", ()),  # older verdicts have none
        labels=sorted({*verdict["labels"], *of_results}),
        facts=_facts(verdict),
        verdicts=Sheet(VERDICTS, [_verdict(row) for row in verdict["comparisons"]], 5),
        scores=Sheet(SCORES, [_score(row) for row in verdict["values"]], 4),
        languages=languages(verdict["values"]),
        trainings=Sheet(TRAININGS, [line for row in trainings for line in _training(row)], 4),
        curves=Sheet(CURVES, [line for row in trainings for line in _curve(row)], 3),
        neighbours=Sheet(NEIGHBOURS, list(_neighbours(verdict["neighbours"])), 3),
        rules=(
            "Differences are taken query by query over seeds, as for the papers' claims. The smallest difference of "
            f"interest is {rules['bar']:g}; at least {rules['fewest_seeds']} seeds decide; Holm's procedure keeps the "
            f"chance of any wrong verdict of look {looks} at {rules['alpha'] / 2**looks:g}"
        ),
        command=verdict["command"],
        loading=[
            "from sentence_transformers import SentenceTransformer",
            f'encoder = SentenceTransformer("{first["folder"]}")',
            'queries = encoder.encode_query(["a question"])',
            'passages = encoder.encode_document(["a text"])',
        ],
    )


def _facts(verdict: Verdict) -> dict[str, str]:
    trainings, budget = verdict["trainings"], verdict["budget"]
    seconds = {key: sum(training.get(key, 0.0) for training in trainings) for key in ("cpu_seconds", "wall_seconds")}
    facts = {
        "encoder": verdict["base"],
        "methods": ", ".join(verdict["methods"]),
        "control": f"{verdict['control']}: masked language modelling (MLM) with the same compute",
        "all trainings": f"{duration(seconds['wall_seconds'])}, {duration(seconds['cpu_seconds'])} of CPU time",
        "documents": ", ".join(f"{number:,} in {code}" for code, number in verdict.get("documents", {}).items()),
        "device": ", ".join(sorted({training["device"] for training in trainings if "device" in training})),
    }
    if budget["hours"]:
        step = f"per step of {verdict['methods'][0]} or per equal compute of another model"
        hours = f"{budget['hours']:g} hour{'' if budget['hours'] == 1 else 's'}"
        facts["budget"] = f"{hours}, at {duration(budget['step_seconds'])} {step}"
    return facts


def _verdict(row: Mapping[str, Any]) -> list[str]:
    needed = row["seeds_needed"]
    tell = amount(needed, "seed") if needed else row["reason"] if row["state"] == "undecided" else ""
    numbers = [_number(row["mean"], "+.4f"), _interval(row["interval"], "+.4f"), _number(row["p"], ".3g")]
    return [row["model"], row["benchmark"], row["against"], row["state"], tell, *numbers, str(row["seeds"] or "")]


def _score(row: Mapping[str, Any]) -> list[str]:
    head = [row["benchmark"], row["model"], row["metric"], str(len(row["seeds"]) or "as it is")]
    return [*head, f"{row['mean']:.4f}", _interval(row["interval"], ".4f")]


def languages(values: Sequence[Mapping[str, Any]]) -> Sheet:
    """Table with one line per benchmark and language, and one column per model."""
    models = list(dict.fromkeys(row["model"] for row in values))
    scores: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in values:
        for code, value in row["languages"].items():
            scores.setdefault((row["benchmark"], code, str(row["queries"][code])), {})[row["model"]] = f"{value:.4f}"
    rows = [[*line, *(by_model.get(model, "—") for model in models)] for line, by_model in scores.items()]
    return Sheet(("benchmark", "language", "queries", *models), rows, 2)


def _training(row: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields one line per task that has a loss at chance level; others, such as norms of gradients, have no line."""
    for task, chance in row["chance"].items():
        times = [duration(row[key]) if key in row else "—" for key in ("cpu_seconds", "wall_seconds")]
        numbers = [str(row["steps"]), _number(row["losses"].get(task), ".2f"), f"{chance:.2f}"]
        yield [row["model"], str(row["seed"]), task, ", ".join(row["labels"]), *numbers, *times]


def _curve(row: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields one line per task: mean losses of eighths of the steps, or of each step if there are fewer than eight."""
    for task, losses in row.get("curve", {}).items():
        lacking = ["—"] * (len(CURVES) - 4 - len(losses))
        shown = [_number(loss, ".2f") for loss in losses]
        yield [row["model"], str(row["seed"]), task, f"{row['chance'][task]:.2f}", *shown, *lacking]


def _during(of_seeds: Sequence[Mapping[str, Any]], code: str) -> str:
    """Shares of sentences that each snapshot finds, in order, as means over the seeds that came to it; a dash if none.

    A training that diverged has no snapshots after that step.
    """
    by_seed = [[run["snapshots"][step][code] for step in sorted(run["snapshots"], key=int)] for run in of_seeds]
    means = [fmean(run["found"] / run["sentences"] for run in runs if run) for runs in zip_longest(*by_seed)]
    return ", ".join(f"{share:.3f}" for share in means) or "—"


def _neighbours(runs: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """Yields one line per model and language, with means over seeds."""
    by_model: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        by_model.setdefault(run["model"], []).append({"snapshots": {}, **run})
    for model, of_seeds in by_model.items():
        for code, first in of_seeds[0]["languages"].items():
            correct = fmean(run["languages"][code]["found"] for run in of_seeds)
            cosine = fmean(run["languages"][code]["cosine"] for run in of_seeds)
            share = correct / first["sentences"]
            head = [model, str(len(of_seeds)), code, str(first["sentences"])]
            yield [*head, f"{correct:.1f}", _during(of_seeds, code), f"{share:.3f}", f"{cosine:.3f}"]


def _number(value: float | None, form: str) -> str:
    return "—" if value is None else format(value, form)


def _interval(limits: Sequence[float | None] | None, form: str) -> str:
    return f"[{_number(limits[0], form)}, {_number(limits[1], form)}]" if limits else "—"

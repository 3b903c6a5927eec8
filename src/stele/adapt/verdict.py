"""Judge adapted encoders on benchmarks: against the encoder as it was, and against the same compute of MLM.

    stele adapt verdict --settings JSON --results-dir results_adapt/NAME --encoders MODEL:SEED=RECORD ...
        --neighbours MODEL:SEED=RECORD ... --leakage BENCHMARK=RECORD ... --output verdict.json

`stele adapt` runs it last. Verdicts come from differences query by query over seeds, as those on the papers' claims do
(docs/evidence.md); all comparisons of an adaptation are one family under Holm's procedure. Beside them stand what the
trainings learnt and cost, and how often neighbours of held-out sentences are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from stele.artifacts import records
from stele.catalogue import whole
from stele.catalogue.schema.models import AdaptationRules
from stele.claims.judging.adaptation import FAMILY, Comparison, judge_looks, rows_of, values_of
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.trainings import thinned
from stele.command.arguments import Job, Json, ResultsFolder, Some, ends_in
from stele.files.reading import parse_object

JOB = "adapt verdict"
PARTS = 8  # of a loss curve
OF_A_TRAINING = ("steps", "losses", "chance", "diverged", "unlearnt", "cpu_seconds", "wall_seconds", "device")


class Verdict(Job):
    settings: Json
    """The key `adapt`, benchmarks with settings."""
    results_dir: ResultsFolder
    encoders: Some[str]
    """MODEL:SEED=RECORD of all trainings."""
    neighbours: Some[str]
    """MODEL:SEED=RECORD of each."""
    leakage: Some[str]
    """BENCHMARK=RECORD of each, of `corpora leakage`."""
    output: Annotated[Path, ends_in(".json")]
    """verdict.json to write."""


def run(args: Verdict) -> None:
    clock = records.start()
    settings, rules = parse_object(args.settings, "--settings"), whole(AdaptationRules)
    encoders, neighbours = records_of(args.encoders), records_of(args.neighbours)
    leakage = records_of(args.leakage)
    # the verdicts, look by look
    rows = rows_of(settings)
    comparisons = judge_looks(args.results_dir, settings, rows, rules.bar)
    # what the trainings learnt and cost
    trainings = [{**_named(key), "folder": str(path.parent), **training_facts(path)} for key, path in encoders.items()]
    of_neighbours = [{**_named(key), **neighbour_facts(path)} for key, path in neighbours.items()]
    records.write_record(
        args.output,
        job=JOB,
        inputs={
            **encoders,
            **{f"neighbours:{key}": path for key, path in neighbours.items()},
            **{f"leakage:{key}": path for key, path in leakage.items()},
        },
        clock=clock,
        **{key: settings[key] for key in ("base", "methods", "control", "benchmarks", "looks", "command")},
        budget={key: settings[key] for key in ("hours", "step_seconds")},
        rules={"alpha": ALPHA, "family": FAMILY, "bar": rules.bar, "fewest_seeds": FEWEST_SEEDS},
        comparisons=[_facts(comparison) for comparison in comparisons],
        values=values_of(args.results_dir, rows),
        trainings=trainings,
        neighbours=of_neighbours,
        leakage={benchmark: records.read_record(path)["counts"] for benchmark, path in leakage.items()},
        content=[_facts(comparison) for comparison in comparisons],
    )
    for comparison in comparisons:
        print(comparison.sentence)


def records_of(assignments: Sequence[str]) -> dict[str, Path]:
    """`MODEL:SEED`, or a benchmark -> record."""
    parts = [text.partition("=") for text in assignments]
    return {key: Path(path) for key, _, path in parts}


def _named(key: str) -> dict[str, Any]:
    model, _, seed = key.rpartition(":")
    return {"model": model, "seed": int(seed)}


def training_facts(path: Path) -> dict[str, Any]:
    """What a pretraining's record says of how it went; `above_chance`: tasks whose loss ended above that of a guess."""
    record = records.read_record(path)
    losses, chance = record.get("losses", {}), record.get("chance", {})
    curve = thinned(path.parent / "curve.csv", PARTS)
    above = sorted(task for task in losses.keys() & chance.keys() if losses[task] > chance[task])
    return {
        **{key: record[key] for key in OF_A_TRAINING if key in record},
        "labels": record["labels"],
        "above_chance": above,
        "curve": {task: losses for task, losses in curve.items() if task in chance},
    }


def neighbour_facts(path: Path) -> dict[str, Any]:
    """What an encoder finds of held-out sentences, at its end and at its snapshots."""
    record = records.read_record(path)
    return {key: record[key] for key in ("languages", "snapshots")}


def _facts(comparison: Comparison) -> dict[str, Any]:
    verdict = comparison.verdict
    return {
        **comparison.row.facts(),
        "against": comparison.against,
        "state": comparison.state,
        "reason": verdict.reason,
        "mean": verdict.mean,
        "interval": list(comparison.interval) if comparison.interval else None,
        "level": verdict.level,
        "p": verdict.p if comparison.interval else None,
        "seeds": verdict.seeds,
        "look": comparison.look,
        "detectable": verdict.detectable,
        "seeds_needed": verdict.seeds_needed,
        "sentence": comparison.sentence,
    }

"""Average the results of several seeds: means, standard deviations, and the seeds' own values."""

from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.command.arguments import Job, Some, ends_in, record_as_json
from stele.errors import SteleError
from stele.evaluation.aggregate import over_seeds
from stele.files.digests import digest

SAME = ("benchmark", "model", "setting", "averaged")

JOB = "average"


class Average(Job):
    seeds: Some[Path]
    """Results to average, one per seed."""
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)]
    """File for the averaged result (.json)."""


def run(args: Average) -> None:
    results = [records.read_record(path) for path in args.seeds]
    first = results[0]
    for path, result in zip(args.seeds, results, strict=True):
        if "metrics" not in result or not isinstance(result.get("seeds"), dict):
            raise SteleError(f"{path}: want a result of `scoring score` for one pair of seeds, found another record")
        for key in SAME:
            if result.get(key) != first.get(key):
                difference = f"its {key} is {result.get(key)!r}, but {first.get(key)!r} in {args.seeds[0]}"
                raise SteleError(f"{path}: {difference}; only results that differ in their seeds can be averaged")
        if result["metrics"].keys() != first["metrics"].keys():
            raise SteleError(f"{path}: its metrics differ from those of {args.seeds[0]}; score all by the same")
    seeds = [result["seeds"] for result in results]
    if any(seed in seeds[:i] for i, seed in enumerate(seeds)):
        raise SteleError(f"the same seeds are given twice: {seeds}; give the result of each seed once")
    metrics = {
        name: over_seeds([result["metrics"][name] for result in results], args.seeds) for name in first["metrics"]
    }
    records.write_record(
        args.output,
        job=JOB,
        inputs={f"seeds {i}": path for i, path in enumerate(args.seeds)},
        **{key: first[key] for key in SAME},
        seeds=seeds,
        metrics=metrics,
        diverged={seed: why for result in results for seed, why in result.get("diverged", {}).items()},
        counts={key: sum(r["counts"][key] for r in results) for key in ("missing_queries", "extra_queries")},
        provenance={"results": [records.content_digest(path) for path in args.seeds]},
        content=digest(metrics),
    )

"""Join a model's runs on several query sets, each re-ranked by a job of its own, into one retrieval record."""

from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.artifacts.run_files import copy_runs, runs_of
from stele.command.arguments import Job, NewRecord, Some, record_beside
from stele.errors import SteleError

ALIKE = ("job", "model", "benchmark", "recipe", "seed")

JOB = "join_pairs"


class JoinPairs(Job):
    pairs: Some[Path]
    """Records of `reranking rerank` of one model."""
    output: Annotated[NewRecord, record_beside(JOB, ["runs"])]


def run(args: JoinPairs) -> None:
    # the searches and runs of all records, which may differ in their languages only
    pair_records = {path: records.read_record(path) for path in args.pairs}
    first = pair_records[args.pairs[0]]
    searches, run_files, inputs = {}, {}, {}
    for path, record in pair_records.items():
        for key in ALIKE:
            if record.get(key) != first.get(key):
                raise SteleError(f"{path}: {key} is {record.get(key)!r}, want {first.get(key)!r} as in {args.pairs[0]}")
        for name, run_file in runs_of(record, path.parent).items():
            if name in run_files:
                raise SteleError(f"{path}: the run {name} is in {run_files[name].parents[1]}, too; leave one out")
            searches[name], run_files[name], inputs[name] = record["searches"][name], run_file, path

    # copy the runs, and write the record
    published = copy_runs(run_files, args.output.parent / "runs", JOB)
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        **{key: first[key] for key in ALIKE[1:]},
        languages=list(searches),
        searches=searches,
        **published,
    )

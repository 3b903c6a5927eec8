"""Join the runs of a model on several query sets, each re-ranked by a job of its own, into one retrieval record."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from stele.artifacts import records
from stele.artifacts.run_files import runs_of
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_directory
from stele.files.digests import facts_digest, file_facts

ALIKE = ("job", "model", "benchmark", "recipe", "seed")

JOB = "join_pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", nargs="+", required=True, type=Path, metavar="RECORD", help="of `reranking rerank`")
    arguments.add_record_beside(parser, JOB, ["runs"])


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    given = {path: records.read_record(path) for path in args.pairs}
    first = given[args.pairs[0]]
    searches, runs = {}, {}
    for path, record in given.items():
        for key in ALIKE:
            if record.get(key) != first.get(key):
                raise SteleError(f"{path}: {key} {record.get(key)!r}, where {args.pairs[0]} has {first.get(key)!r}")
        for name, run_file in runs_of(record, path.parent).items():
            if name in runs:
                raise SteleError(f"{path}: {name} is in {runs[name].parents[1]}, too")
            searches[name], runs[name] = record["searches"][name], run_file
    folder = args.output.parent / "runs"
    with atomic_directory(folder, JOB) as made:
        for name, run_file in runs.items():
            shutil.copyfile(run_file, made / f"{name}.trec.gz")
    facts = {name: file_facts(folder / f"{name}.trec.gz") for name in runs}
    records.write_record(
        args.output,
        job=JOB,
        inputs={name: path for path, record in given.items() for name in record["searches"]},
        clock=clock,
        **{key: first[key] for key in ALIKE[1:]},
        languages=list(searches),
        searches=searches,
        outputs={f"runs/{name}.trec.gz": of_run for name, of_run in facts.items()},
        content=facts_digest(facts),
    )

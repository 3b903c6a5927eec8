"""Score a system on a benchmark by its official metrics: values per query, per language, and on average.

    stele scoring score mrtydi --run sw=run.sw.txt --data mrtydi:sw=qrels.test.txt
    stele scoring score xor_retrieve --run predictions.json --data xor_tydi=dev.jsonl nltk_punkt=punkt_tab
    stele scoring score mlqa --run de-de=answers.json --data mlqa:de-de=test-context-de-question-de.json
    stele scoring score tatoeba --run fr=fr.npy,en.npy

--run takes TREC runs, ranx runs, XOR predictions, answers, pairs of embeddings, and retrieval records of ours, told
apart by their content; QUERY_SET= before a file says which query set (usually a language) it holds. Values are
fractions between 0 and 1, not rounded. Judged queries that a run lacks are reported; they count as 0, but not by a
metric of which lower is better.
"""

import logging
import os
import re
from pathlib import Path
from typing import Annotated

from stele import catalogue
from stele.artifacts import records
from stele.benchmarks.arguments import RECORD, data_folders, data_paths
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import BenchmarkReader
from stele.catalogue.schema.benchmarks import Benchmark
from stele.command.arguments import Datasets, Job, Positional, Some, ends_in, record_as_json
from stele.errors import SteleError
from stele.evaluation import bootstrap
from stele.evaluation.bootstrap import intervals
from stele.evaluation.evaluate import evaluate
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import KEYS
from stele.files.digests import digest, file_facts
from stele.scoring.system_files.report import VALUES, print_report, refuse_foreign, write_queries, write_values
from stele.scoring.system_files.systems import given_digests, given_outputs, read_case

logger = logging.getLogger(__name__)

JOB = "score"


class Score(Job):
    benchmark: Positional[str]
    """Name of the benchmark in benchmarks.yaml."""
    run: Some[str]
    """Output of the system: one or several files or retrieval records, as [QUERY_SET=]FILE."""
    data: Datasets = ()
    metrics: Some[str] | None = None
    """Metrics as NAME[@CUT]; default: the benchmark's own."""
    languages: Some[str] | None = None
    """Score only these languages."""
    model: str = "run"
    """Name of the system in the result."""
    setting: str = "given"
    """Name in the result for the way in which the system was trained."""
    seeds: str = "pt0-ft0"
    """Seeds of pretraining and of fine-tuning in the result."""
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)] | None = None
    """File for the result with its record (.json)."""
    csv: Annotated[Path, ends_in(".csv")] | None = None
    """File for the values by metric and language (.csv)."""
    queries: Annotated[Path, ends_in(".parquet", ".csv")] | None = None
    """File for the values per query (.parquet or .csv)."""


def run(args: Score) -> None:
    seeds = parse_seeds(args.seeds)
    for path, columns in ((args.csv, VALUES), (args.queries, KEYS)):
        if path:
            refuse_foreign(path, columns)
    entry = catalogue.entry(Benchmark, args.benchmark)
    names = args.metrics or entry.metrics
    evaluators = {name: load_metric(name) for name in names}
    data, outputs = data_paths(args.data), given_outputs(args.run)
    average = load_reader(args.benchmark, BenchmarkReader).AVERAGE
    retrievals = [output for _, output in outputs if output.record]
    for output in retrievals:
        record = output.record
        if record.get("benchmark") != args.benchmark:
            raise SteleError(f"{output.path}: a retrieval of {record.get('benchmark')!r}, not of {args.benchmark!r}")
    case = read_case(args.benchmark, data_folders(data), outputs, args.languages)
    evaluation = evaluate(case, evaluators, average)
    print_report(case, evaluation, average)
    if args.csv:
        write_values(args.csv, evaluation)
    if args.queries:
        write_queries(args.queries, case, evaluation.values)
    if args.output:
        queries = file_facts(args.queries) if args.queries else None
        made = {f"retrieval {n}" if n > 1 else "retrieval": output.path for n, output in enumerate(retrievals, start=1)}
        files = [run for run, (_, output) in zip(args.run, outputs, strict=True) if not output.record]
        files += [f"{item}={path}" for item, path in data.items() if path.name != RECORD]
        records.write_record(
            args.output,
            job=JOB,
            inputs=made | {item: path for item, path in data.items() if path.name == RECORD},
            files=given_digests(files),
            benchmark=args.benchmark,
            model=args.model,
            setting=args.setting,
            seeds=seeds,
            metrics=evaluation.metrics,
            intervals={
                "method": f"percentile bootstrap, {bootstrap.RESAMPLES} resamples of queries within each language",
                "level": bootstrap.LEVEL,
                "seed": 0,
                **intervals(case, evaluators, evaluation.values, average, entry.same_questions),
            },
            queries={"file": args.queries.name, "sha256": queries["sha256"]} if queries else None,
            outputs={os.path.relpath(args.queries, args.output.parent): queries} if queries else {},
            averaged=average,
            diverged={args.seeds: why} if (why := records.divergence(made.values())) else {},
            counts={
                "queries": len(case.queries),
                "missing_queries": sum(case.missing.values()),
                "missing": case.missing,
                "extra_queries": case.extra,
                **evaluation.notes,
            },
            provenance={
                "retrieval": records.content_digest(made["retrieval"]) if made else None,
                "encoder": retrievals[0].record["inputs"].get("encoder") if retrievals else None,
            },
            content=digest(evaluation.metrics),
        )


def parse_seeds(text: str) -> dict[str, int]:
    """Parses the seeds of pretraining and fine-tuning. Raises SteleError for a text of another form.

    >>> parse_seeds("pt0-ft2")
    {'pretraining': 0, 'finetuning': 2}
    """
    match = re.fullmatch(r"pt([0-9]{1,10})-ft([0-9]{1,10})", text)
    if not match:
        raise SteleError(f"--seeds: want pt0-ft0 (the seeds of pretraining and of fine-tuning), found {text!r}")
    return {"pretraining": int(match[1]), "finetuning": int(match[2])}

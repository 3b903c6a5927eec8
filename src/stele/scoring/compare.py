"""Compare systems with a baseline: differences, intervals, p-values and wins, per language and on average.

    stele scoring compare \\
        --system xlmr results/mrtydi/xlmr/zero_shot.json --system msm results/mrtydi/msm/zero_shot.json
    stele scoring compare --system bm25 bm25.csv --system mine seed0.csv seed1.csv --metric mrr@100
    stele scoring compare --benchmark mrtydi --data mrtydi:sw=qrels.sw.txt mrtydi:te=qrels.te.txt \\
        --system bm25 sw=bm25.sw.txt te=bm25.te.txt --system mine sw=mine.sw.txt te=mine.te.txt

A system is given by its results or files of scores per query, one file per seed it was trained with: the mean over its
seeds is compared for each query. With --benchmark it is given by its runs, as `scoring score` takes them. All systems
must have the same queries. The p-values of one metric are one family, corrected together. Means are those of the
values per query.
"""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import chain
from pathlib import Path
from typing import Annotated

from stele import catalogue
from stele.artifacts import records
from stele.benchmarks.arguments import data_folders, data_paths
from stele.catalogue.schema.benchmarks import Benchmark
from stele.command.arguments import Datasets, Job, Seed, Some, ends_in, record_as_json
from stele.errors import SteleError, check_known
from stele.evaluation import bootstrap, paired
from stele.evaluation.comparison import Choices, Comparison, compare_all, of_one_benchmark, share_questions
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import Scores
from stele.evaluation.significance import PERMUTATIONS, correct, load_test
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.files.formats import write_csv
from stele.scoring.system_files.report import comparison_report, refuse_foreign
from stele.scoring.system_files.systems import given_digests, run_scores

logger = logging.getLogger(__name__)

JOB = "compare"
COLUMNS = [field.name for field in fields(Comparison)]


class Compare(Job):
    system: Some[tuple[str, ...]]
    """NAME PATH ..., once per system: results (.json) or scores per query, a file per seed; or runs of --benchmark."""
    benchmark: str | None = None
    """Benchmark of the runs in --system, which are scored first."""
    data: Datasets = ()
    baseline: str | None = None
    """NAME of the system to compare with; default: the first system."""
    metric: Some[str] | None = None
    """Metrics to compare; default: all metrics that every system has."""
    test: str = "fisher"
    """Significance test: fisher (randomisation test) or t_test."""
    correction: str = "holm"
    """Correction for several comparisons: holm, bonferroni or none."""
    level: float = 0.05
    """Level of significance, between 0 and 1."""
    seed: Seed = 0
    average: str | None = None
    """Average over languages: macro or micro; default: the results' own, else macro."""
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)] | None = None
    """File for the comparisons with their record (.json)."""
    csv: Annotated[Path, ends_in(".csv")] | None = None
    """File for the table of the comparisons (.csv)."""


def run(args: Compare) -> None:
    files = _files(args.system)
    test = load_test(args.test)
    correct([], args.correction)  # refuses an unknown one
    if not 0 < args.level < 1:
        raise SteleError(f"--level: want a number between 0 and 1, for example 0.05; found {args.level}")
    baseline = args.baseline or next(iter(files))
    check_known("system", baseline, files)
    if args.average:
        check_known("average", args.average, paired.AVERAGES)
    if args.benchmark:
        catalogue.entry(Benchmark, args.benchmark)
        for metric in args.metric or ():
            load_metric(metric)
    if args.csv:
        refuse_foreign(args.csv, COLUMNS)
    data = data_folders(data_paths(args.data))
    if args.benchmark:
        systems = {name: run_scores(args.benchmark, data, runs, args.metric) for name, runs in files.items()}
    else:
        systems = of_one_benchmark({name: paired.read_system(system) for name, system in files.items()})
    first = next(iter(systems.values()))
    choices = Choices(
        baseline=baseline,
        metrics=_metrics(args.metric, systems),
        test=test,
        seed=args.seed,
        average=args.average or next((system.average for system in systems.values() if system.average), "macro"),
        correction=args.correction,
        level=args.level,
        same_questions=share_questions(first),
    )
    if paired.same_questions(first.benchmark) and not choices.same_questions:
        unpaired = "but their ids differ: the interval and p of their average are too small"
        logger.warning("the languages ask the same questions, %s", unpaired)
    results = (
        {} if args.benchmark else {name: system[0] for name, system in files.items() if system[0].endswith(".json")}
    )
    differences = records.encoding_differences({name: records.read_unsealed(path) for name, path in results.items()})
    if differences:
        logger.warning("the systems' texts were encoded differently: %s", differences)
    comparisons = {metric: compare_all(systems, metric, choices) for metric in choices.metrics}
    rows = _rows(chain.from_iterable(comparisons.values()))
    labels = frozenset().union(*(system.labels for system in systems.values()))
    print("\n\n".join(comparison_report(group, choices, labels) for group in comparisons.values()))
    if args.output:
        write_json(args.output, files, systems, rows, choices, labels)
    if args.csv:
        with atomic_file(args.csv) as handle:
            write_csv(handle, [COLUMNS, *map(dict.values, rows)])


def write_json(path: Path, files, systems, rows: list[dict], choices: Choices, labels: frozenset[str]) -> None:
    """Writes the comparisons, unrounded (null where a test gives no value), with a record of systems and settings."""
    records.write_record(
        path,
        job=JOB,
        inputs={},
        seed=choices.seed,
        labels=labels,
        systems={
            name: {"seeds": len(next(iter(system.values.values()))), "files": given_digests(files[name])}
            for name, system in systems.items()
        },
        baseline=choices.baseline,
        benchmark=next((system.benchmark for system in systems.values() if system.benchmark), None),
        averaged=choices.average,
        test=choices.test.name,
        method=choices.test.describe(PERMUTATIONS, choices.seed),
        permutations=PERMUTATIONS if choices.test.draws else None,
        resamples=bootstrap.RESAMPLES,
        interval=bootstrap.LEVEL,
        correction=choices.correction,
        level=choices.level,
        comparisons=rows,
        content=digest(rows),
    )


def _rows(comparisons: Iterable[Comparison]) -> list[dict]:
    rows = list(map(asdict, comparisons))
    for row in rows:
        for key, value in row.items():
            if isinstance(value, float) and math.isnan(value):
                row[key] = None
    return rows


def _files(systems: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for name, *files in systems:
        if not files:
            raise SteleError(f"--system {name}: want a name and its files, for example --system msm msm.parquet")
        if name in by_name:
            raise SteleError(f"--system: {name!r} is given twice; files of several seeds go after one name")
        by_name[name] = files
    if len(by_name) < 2:
        raise SteleError("--system: want two systems or more; give --system NAME FILES once for each")
    return by_name


def _metrics(requested: Sequence[str] | None, systems: Mapping[str, Scores]) -> list[str]:
    all_metrics = {metric: None for system in systems.values() for metric in system.values}
    shared = [metric for metric in all_metrics if all(metric in system.values for system in systems.values())]
    if not shared:
        raise SteleError(f"the systems have no metric in common; found {', '.join(all_metrics)}")
    if requested:
        for metric in requested:
            check_known("metric", metric, shared)
        return list(dict.fromkeys(requested))
    if left := [metric for metric in all_metrics if metric not in shared]:
        logger.warning("metrics not compared, since a system lacks them: %s", ", ".join(left))
    return shared

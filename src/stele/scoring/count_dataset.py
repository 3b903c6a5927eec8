"""Count what a dataset holds: queries by split and language, languages, passages.

From the files themselves, read as the benchmarks read them, and not from what the catalogue says of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from stele.artifacts import records
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.catalogue.counted import counted
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.registry import load_named

EVERYTHING = "all"  # the language of a count over all languages, or of none


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, help="a file of stele/scoring/statistics, or a test collection")
    add_data_argument(parser)
    parser.add_argument("--output", type=arguments.output(".json"), required=True)


def run(args: argparse.Namespace) -> None:
    clock, inputs = records.start(), data_records(args.data)
    own = counted(args.dataset).datasets
    if wrong := sorted(key for key in inputs if key.partition(":")[0] not in own):
        raise SteleError(f"--data: {wrong[0]} is no part of {args.dataset}")
    module = load_named("stele.scoring.statistics", args.dataset, kind="dataset that is counted")
    metrics = as_metrics(module.counts(data_folders(inputs)))
    records.write_record(
        args.output,
        job="count dataset",
        inputs=inputs,
        clock=clock,
        benchmark="statistics",
        model=args.dataset,
        setting="count",
        metrics=metrics,
        content=digest(metrics),
    )


def as_metrics(counts: Mapping[str, Mapping[str, int] | int]) -> dict[str, dict]:
    """A result's metrics: a count over all languages beside those by language.

    >>> as_metrics({"queries_test": {"sw": 2, "th": 3}, "languages": 2})["queries_test"]["languages"]
    {'all': 5.0, 'sw': 2.0, 'th': 3.0}
    """
    metrics = {}
    for name, count in counts.items():
        by_language = {} if isinstance(count, int) else count
        total = count if isinstance(count, int) else sum(count.values())
        values = {EVERYTHING: float(total), **{code: float(number) for code, number in sorted(by_language.items())}}
        metrics[name] = {"languages": values, "average": None, "n": {}}
    return metrics

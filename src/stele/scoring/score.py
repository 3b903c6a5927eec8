"""Score one retrieval by a benchmark's official metrics: a value per query, per language, and on average.

Values are fractions between 0 and 1, not rounded. Judged queries that the run lacks count as 0 and are reported.
"""

from __future__ import annotations

import argparse
import logging
import re
from pathlib import Path

import numpy as np

from stele import records
from stele.data_argument import add_data_argument, data_folders, data_records
from stele.errors import SteleError, unknown
from stele.outputs import atomic_file, digest
from stele.registry import load_named, module_names
from stele.scoring.aggregate import by_language
from stele.scoring.case import Case, read_case

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--model", required=True, help="the row that the result belongs to")
    parser.add_argument("--setting", required=True)
    parser.add_argument("--seeds", required=True, metavar="pt0-ft0", help="of pretraining and of fine-tuning")
    parser.add_argument("--metrics", nargs="+", required=True, metavar="NAME[@CUT]", help="mrr@100, r@2kt, ...")
    parser.add_argument("--retrieval", type=Path, required=True, help="retrieval.json, with runs/ beside it")
    add_data_argument(parser)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True, help="Parquet file for the values per query")


def run(args: argparse.Namespace) -> None:
    clock, seeds = records.start(), parse_seeds(args.seeds)
    evaluators = {name: evaluator(name) for name in args.metrics}
    benchmark = load_named("stele.benchmarks", args.benchmark, kind="benchmark")
    given = data_records(args.data)
    retrieval = records.read_record(args.retrieval)
    if retrieval.get("benchmark") != args.benchmark:
        raise SteleError(f"{args.retrieval}: a retrieval of {retrieval.get('benchmark')!r}, not of {args.benchmark!r}")
    case = read_case(benchmark, data_folders(given), args.retrieval)
    values = {name: evaluate(case) for name, evaluate in evaluators.items()}
    languages = [search.language for search in case.searches]
    metrics = {name: by_language(own, languages, benchmark.AVERAGE) for name, own in values.items()}
    write_queries(args.queries, case, values)
    for name, own in metrics.items():
        logger.info("%s: %s", name, "no query counts" if own["average"] is None else f"{own['average']:.4f}")
    if missing := sum(case.missing.values()):
        logger.warning("%d of %d judged queries have no result; they count as 0", missing, len(case.queries))
    records.write_record(
        args.output,
        job="score",
        inputs={"retrieval": args.retrieval, **given},
        clock=clock,
        benchmark=args.benchmark,
        model=args.model,
        setting=args.setting,
        seeds=seeds,
        metrics=metrics,
        averaged=benchmark.AVERAGE,
        counts={
            "queries": len(case.queries),
            "missing_queries": missing,
            "missing": case.missing,
            "extra_queries": case.extra,
        },
        provenance={"retrieval": records.content_digest(args.retrieval), "encoder": retrieval["inputs"].get("encoder")},
        content=digest(metrics),
    )


def evaluator(name: str):
    """The function case -> values of a metric called `name` or `name@cut`."""
    base, at, cut = name.partition("@")
    if not re.fullmatch(r"(@[1-9]\d*(kt)?)?", at + cut):
        raise SteleError(f"metric {name!r}: after @ comes a number, as in mrr@100, or thousands of tokens, as in r@2kt")
    module = f"{base}_kt" if cut.endswith("kt") else base
    if module not in module_names("stele.scoring.metrics"):
        raise unknown("metric", base, module_names("stele.scoring.metrics"))
    evaluate = load_named("stele.scoring.metrics", module, kind="metric").evaluate
    return lambda case: evaluate(case, cut)


def write_queries(path: Path, case: Case, values: dict[str, np.ndarray]) -> None:
    """search, language, query and one column a metric; null where a query does not count."""
    import pyarrow
    import pyarrow.parquet

    columns = {
        "search": pyarrow.array([search.name for search in case.searches]).dictionary_encode(),
        "language": pyarrow.array([search.language for search in case.searches]).dictionary_encode(),
        "query": pyarrow.array(case.queries),
        **{name: pyarrow.array(own, from_pandas=True) for name, own in values.items()},
    }
    with atomic_file(path, "wb") as handle:
        pyarrow.parquet.write_table(pyarrow.table(columns), handle)


def parse_seeds(text: str) -> dict[str, int]:
    """The two seeds of a result.

    >>> parse_seeds("pt0-ft2")
    {'pretraining': 0, 'finetuning': 2}
    """
    found = re.fullmatch(r"pt(\d+)-ft(\d+)", text)
    if not found:
        raise SteleError(f"--seeds: want pt0-ft0 (the seeds of pretraining and of fine-tuning), found {text!r}")
    return {"pretraining": int(found[1]), "finetuning": int(found[2])}

"""Fuse the ranking of term matching with that of dense retrieval, the weight chosen by cross-validation.

Topics are dealt into five folds; the weight of a fold is the one with the best AP over the topics of the other four
(Shi et al., sections 3 and 5). The fused run, in canonical order, goes to runs/; alpha.csv beside it has the folds, the
weight of each, and the AP of every weight. The job takes seconds: a killed one starts anew.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.artifacts.runs.run import Hits, Run, run_of
from stele.artifacts.runs.trec import read_run, runs_of, write_run
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Data, QuerySet
from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash, read_folds
from stele.files.atomic import atomic_directory, atomic_file, facts_digest, file_facts
from stele.files.csv_files import write_csv
from stele.files.reading import parse_object, reading
from stele.files.strict import validate
from stele.recipes.search import Fusion
from stele.registry import load_named
from stele.retrieval.fusion.interpolation import ALPHAS, Candidates, average_precisions, candidates, choose, fused

COLUMNS = ("search", "fold", "alpha", "ap", "chosen", "topics")

JOB = "fuse"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--term", required=True, type=Path, help="the record of the runs of term matching")
    parser.add_argument("--dense", required=True, type=Path, help="the record of the runs of dense retrieval")
    add_data_argument(parser)
    parser.add_argument("--recipe", default="{}", help="JSON: scores")
    parser.add_argument("--folds", type=Path, metavar="RECORD", help="beside BENCHMARK.txt, lines `topic fold`")
    parser.add_argument("--depth", type=arguments.whole, default=1000, help="documents a topic")
    arguments.add_record_beside(parser, JOB, ["runs"], "alpha.csv")


class Fold(NamedTuple):
    """A fold: its topics, the mean AP of each weight over those of the others [alphas], and which weight is taken."""

    topics: list[str]
    mean_ap: np.ndarray
    chosen: int


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    if args.depth < 1:
        raise SteleError(f"--depth must be at least 1, found {args.depth}")
    recipe = validate(Fusion, parse_object(args.recipe, "--recipe"), "--recipe")
    of_data, benchmark = data_records(args.data), load_named("stele.benchmarks", args.benchmark, kind="benchmark")
    term, dense = (runs_of(records.read_record(path), path.parent) for path in (args.term, args.dense))
    folder, table, searches, rows = args.output.parent / "runs", args.output.parent / "alpha.csv", {}, []
    query_sets = benchmark.query_sets(args.languages)
    with atomic_directory(folder, JOB) as made:
        for query_set in query_sets:
            name = query_set.name
            lists = [_read(runs, name, path) for runs, path in ((term, args.term), (dense, args.dense))]
            topics = _topics(benchmark, data_folders(of_data), query_set, lists, recipe.scores == "min_max")
            folds = _folds(args, topics.candidates)
            chosen = _choose(topics, folds, args.depth)
            write_run(made / f"{name}.trec.gz", _fused(topics.candidates, chosen, args.depth), tag="stele")
            searches[name] = _facts(query_set, chosen, topics)
            rows += _rows(name, chosen)
    _write_table(table, rows)
    runs = {name: file_facts(folder / f"{name}.trec.gz") for name in searches}
    outputs = {f"runs/{name}.trec.gz": facts for name, facts in runs.items()} | {table.name: file_facts(table)}
    own_folds = {"folds:all": args.folds} if args.folds else {}
    records.write_record(
        args.output,
        job=JOB,
        inputs=of_data | {"term": args.term, "dense": args.dense} | own_folds,
        clock=clock,
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        searches=searches,
        recipe=recipe.model_dump(),
        similarity="a * S_term + (1 - a) * S_dense",
        outputs=outputs,
        content=facts_digest(runs),
    )


class Topics(NamedTuple):
    """The topics of a query set: the documents of both lists, and the judgments of those that are judged."""

    candidates: dict[str, Candidates]
    judged: Mapping[str, Mapping[str, int]]


def _topics(benchmark: ModuleType, data: Data, query_set: QuerySet, lists: list[Run], min_max: bool) -> Topics:
    names = [query.id for query in benchmark.queries(data, query_set)]
    of_topics = {name: candidates(*(run.hits(name) for run in lists), min_max) for name in names}
    judged = benchmark.judgments(data, query_set)
    return Topics(of_topics, {name: judged[name] for name in names if name in judged})


def _folds(args: argparse.Namespace, topics: Mapping[str, Candidates]) -> dict[str, int]:
    """Topic -> fold, as the user's file says where there is one for the benchmark."""
    path = args.folds.parent / f"{args.benchmark}.txt" if args.folds else None
    try:
        return read_folds(path, list(topics)) if path and path.exists() else folds_by_hash(list(topics))
    except SteleError as error:
        raise SteleError(f"{args.benchmark}: {error}") from None


def _choose(topics: Topics, fold_of: Mapping[str, int], depth: int) -> list[Fold]:
    """The folds with their weights, each chosen without the fold's own judgments."""
    ap_of = {name: average_precisions(topics.candidates[name], judged, depth) for name, judged in topics.judged.items()}
    folds = []
    for number in range(max(fold_of.values()) + 1):
        own = [name for name, fold in fold_of.items() if fold == number]
        others = [values for name, values in ap_of.items() if fold_of[name] != number]
        if not others:
            raise SteleError(f"fold {number}: no topic of another fold is judged: its weight cannot be chosen")
        mean_ap = np.mean(others, axis=0)
        folds.append(Fold(own, mean_ap, choose(mean_ap.tolist())))
    return folds


def _fused(topics: Mapping[str, Candidates], folds: list[Fold], depth: int) -> Iterator[tuple[str, Hits]]:
    """The fused hits of each topic that has some, in the order of the topics."""
    alpha_of = {name: float(ALPHAS[fold.chosen]) for fold in folds for name in fold.topics}
    return ((name, fused(topic, alpha_of[name], depth)) for name, topic in topics.items() if topic.names)


def _facts(query_set: QuerySet, folds: list[Fold], topics: Topics) -> dict[str, Any]:
    return {
        "language": query_set.language,
        "pool": query_set.collection,
        "queries": len(topics.candidates),
        "judged_queries": len(topics.judged),
        "alphas": [float(ALPHAS[fold.chosen]) for fold in folds],
    }


def _rows(name: str, folds: list[Fold]) -> Iterator[tuple]:
    for number, fold in enumerate(folds):
        for place, (alpha, value) in enumerate(zip(ALPHAS, fold.mean_ap, strict=True)):
            chosen = place == fold.chosen
            yield name, number, f"{alpha:.2f}", f"{value:.6f}", int(chosen), " ".join(fold.topics) if chosen else ""


def _write_table(path: Path, rows: list[tuple]) -> None:
    with atomic_file(path) as handle:
        write_csv(handle, [COLUMNS, *rows])


def _read(runs: Mapping[str, Path], name: str, record: Path) -> Run:
    """The run of a query set; one without a line is a list without a hit."""
    if name not in runs:
        raise SteleError(f"{record}: has no run of {name}; it has {', '.join(runs)}")
    with reading(runs[name], "TREC run"), gzip.open(runs[name]) as lines:
        empty = not lines.read(1)
    return run_of({}) if empty else read_run(runs[name])

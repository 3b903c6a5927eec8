"""Re-rank all judged documents of each topic by a scorer, cross-validated where it learns; write canonical runs.

The topics that have a relevant document in a collection are dealt into five folds by the seed, alike for all models and
query languages, so that results can be compared topic by topic. A scorer that learns is trained five times, and each
time scores the topics of one fold; the five make one run. epochs.csv beside the runs has the folds and the dev MAP of
every epoch. A killed job goes on: finished folds, and the steps of the one it was in, are in the state folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.artifacts.run_files import write_run
from stele.artifacts.state import add_state_arguments, drop, own_folder, write_with_epochs
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Data, QuerySet
from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash
from stele.files.reading import JsonObject, parse_object
from stele.recipes.reranking import CrossEncoder, RerankingRecipe, Trained, parse_recipe
from stele.registry import load_named
from stele.reranking.inputs.candidates import Candidates, contents, has_relevant, read_candidates
from stele.reranking.inputs.word_vectors import reader
from stele.reranking.scorers import Sources

if TYPE_CHECKING:
    from stele.reranking.folds.cross_validation import Outcome

SCORERS = "stele.reranking.scorers"
COLUMNS = ("search", "fold", "epoch", "dev_map", "chosen", "test_topics")

JOB = "rerank"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="what the model is called")
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True, help="of queries and documents: en-de")
    parser.add_argument("--recipe", required=True, metavar="JSON", help="the scorer, and how it is trained")
    add_data_argument(parser)
    parser.add_argument(
        "--encoder", type=Path, metavar="RECORD", help="the transformer that a cross-encoder starts from"
    )
    add_data_argument(parser, "--vectors", required=False)
    parser.add_argument("--seed", required=True, type=arguments.seed)
    add_state_arguments(parser)
    arguments.add_record_beside(parser, JOB, ["runs"], "epochs.csv")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    recipe = parse_recipe(parse_object(args.recipe, "--recipe"))
    if isinstance(recipe, CrossEncoder) != (args.encoder is not None):
        wrong = "needs --encoder RECORD" if args.encoder is None else "has no use for --encoder"
        raise SteleError(f"--recipe: scorer {recipe.scorer} {wrong}")
    of_data, of_vectors = data_records(args.data), data_records(args.vectors, "--vectors")
    inputs = of_data | of_vectors | ({"encoder": args.encoder} if args.encoder else {})
    whole = {"benchmark": args.benchmark, **recipe.model_dump(mode="json")}
    state = own_folder(args.state, recipe=whole, inputs=inputs, seed=args.seed, code=args.code)
    benchmark = load_named("stele.benchmarks", args.benchmark, kind="benchmark")
    job = Job(benchmark, data_folders(of_data), recipe, _word_folders(of_vectors), args.encoder, args.seed, state)
    runs, searches, rows = {}, {}, []
    for query_set in benchmark.query_sets(args.languages):
        candidates = read_candidates(benchmark, job.data, query_set)
        scores, folds = _scores(job, query_set, candidates)
        runs[query_set.name] = candidates.run(scores)
        facts = {"language": query_set.language, "pool": query_set.collection, "queries": len(candidates.topics)}
        searches[query_set.name] = {**facts, **candidates.counts, "folds": [_facts(fold) for fold in folds]}
        rows += _rows(query_set.name, candidates, folds)
    files = {name: partial(write_run, run=ranked.items(), tag="stele") for name, ranked in runs.items()}
    outputs, content = write_with_epochs(args.output.parent / "runs", JOB, ".trec.gz", files, [COLUMNS, *rows])
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        clock=clock,
        seed=args.seed,
        model=args.model,
        benchmark=args.benchmark,
        languages=list(args.languages),
        searches=searches,
        recipe=recipe.model_dump(mode="json", exclude_none=True),
        outputs=outputs,
        content=content,
    )
    drop(state)


class Job(NamedTuple):
    """What all query sets of a job share: `vectors` are the folders of word vectors by language."""

    benchmark: ModuleType
    data: Data
    recipe: RerankingRecipe
    vectors: dict[str, Path]
    encoder: Path | None
    seed: int
    state: Path


def _word_folders(given: Mapping[str, Path]) -> dict[str, Path]:
    """Language -> the folder of its vectors, which a pair of languages may share; two of a language are an error."""
    folders: dict[str, Path] = {}
    for dataset, parts in data_folders(given).items():
        for part, folder in parts.items():
            for language in part.split("-"):
                if language in folders:
                    raise SteleError(f"--vectors {dataset}:{part}: vectors of {language} are given twice")
                folders[language] = folder
    return folders


def _scores(job: Job, query_set: QuerySet, candidates: Candidates) -> tuple[np.ndarray, list[Outcome]]:
    """The scores [n] of all candidates, and what became of each fold; no folds where the scorer learns nothing."""
    sources = Sources(
        query_set.name.partition("-")[0],
        query_set.collection,
        job.encoder.parent if job.encoder else None,
        reader(job.vectors),
        lambda: (contents(passage) for passage in job.benchmark.passages(job.data, query_set.collection)),
    )
    scorer = load_named(SCORERS, job.recipe.scorer, kind="scorer")
    if not isinstance(job.recipe, Trained):
        return scorer.scores(candidates, job.recipe, sources), []
    from stele.reranking.folds.cross_validation import cross_validate

    judged = getattr(job.benchmark, "all_judgments", job.benchmark.judgments)(job.data, query_set)
    topics = [topic for topic, own in judged.items() if has_relevant(own)]
    fold_of = folds_by_hash(topics, f"{job.seed} {query_set.collection} ")
    given = scorer.inputs(candidates, job.recipe, sources)
    folds = cross_validate(
        lambda seed: scorer.module(given, job.recipe, sources, seed),
        candidates,
        fold_of,
        job.recipe,
        seed=job.seed,
        state=job.state / query_set.name,
        label=f"re-rank {query_set.name}",
    )
    scores = np.zeros(len(candidates), np.float32)
    for fold in folds:
        scores[fold.rows] = fold.scores
    return scores, folds


def _facts(fold: Outcome) -> JsonObject:
    return {"topics": fold.topics, "epoch": fold.epoch, "dev_map": fold.dev_map[fold.epoch], "pairs": fold.pairs}


def _rows(name: str, candidates: Candidates, folds: list[Outcome]) -> Iterator[tuple]:
    for number, fold in enumerate(folds):
        topics = " ".join(candidates.topics[topic] for topic in np.unique(candidates.topic_of[fold.rows]))
        for epoch, value in sorted(fold.dev_map.items()):
            chosen = epoch == fold.epoch
            yield name, number, epoch, f"{value:.6f}", int(chosen), topics if chosen else ""

"""Re-rank all judged documents of each topic by a scorer, cross-validated if it is trained; write canonical runs.

The seed deals the topics with a relevant document in a collection into five folds, equal for all models and query
languages, so that results can be compared topic by topic. A trained scorer is trained five times and each time scores
the topics of one fold; the five make one run. epochs.csv beside the runs has the folds and the dev MAP of every epoch.
A killed job resumes from its state folder, with the finished folds and the steps of the current one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from stele.artifacts import records
from stele.artifacts.run_files import write_run
from stele.artifacts.state import drop, own_folder, write_with_epochs
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.command.arguments import Datasets, Json, Name, NewRecord, Record, ResumableJob, Seed, Some, record_beside
from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash
from stele.files.reading import parse_object
from stele.recipes.reranking import CrossEncoder, parse_recipe
from stele.reranking.folds.candidates import Candidates, contents, has_relevant, read_candidates
from stele.reranking.scorers import Sources, UntrainedScorer, load_scorer
from stele.reranking.scorers._words import read_vectors

if TYPE_CHECKING:
    from stele.reranking.folds.cross_validation import FoldResult

COLUMNS = ("search", "fold", "epoch", "dev_map", "chosen", "test_topics")

JOB = "rerank"


class Rerank(ResumableJob):
    model: str
    """Name of the re-ranking model."""
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Pairs of a query language and a document language, e.g. en-de."""
    recipe: Json
    """Re-ranking recipe: the scorer and, if it is trained, its training."""
    data: Datasets
    encoder: Record | None = None
    """Record of the transformer from which a cross-encoder starts."""
    vectors: Datasets = ()
    """Word vectors of scorers that need them, as DATASET[:PART]=PATH ...; the part is a language."""
    seed: Seed
    output: Annotated[NewRecord, record_beside(JOB, ["runs"], "epochs.csv")]


def run(args: Rerank) -> None:
    # the recipe, the inputs and the state folder
    recipe = parse_recipe(parse_object(args.recipe, "--recipe"))
    if isinstance(recipe, CrossEncoder) != (args.encoder is not None):
        wrong = "needs --encoder RECORD" if args.encoder is None else "has no use for --encoder"
        raise SteleError(f"--recipe: scorer {recipe.scorer} {wrong}")
    benchmark_data, word_vectors = data_records(args.data), data_records(args.vectors, "--vectors")
    inputs = benchmark_data | word_vectors | ({"encoder": args.encoder} if args.encoder else {})
    made_by = {"benchmark": args.benchmark, **recipe.model_dump(mode="json")}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)
    benchmark = load_reader(args.benchmark, RetrievalReader)
    data = data_folders(benchmark_data)
    folders = _word_folders(word_vectors)

    runs, searches, rows, earlier = {}, {}, [], (0.0, 0.0)
    for query_set in benchmark.query_sets(args.languages):
        # score the candidates, in folds if the scorer is trained
        candidates = read_candidates(benchmark, data, query_set)
        sources = Sources(
            query_language=query_set.name.partition("-")[0],
            document_language=query_set.collection,
            encoder=args.encoder.parent if args.encoder else None,
            read_vectors=partial(read_vectors, folders),
            collection=lambda pool=query_set.collection: map(contents, benchmark.passages(data, pool)),
        )
        scorer = load_scorer(recipe.scorer, candidates, recipe, sources)
        if isinstance(scorer, UntrainedScorer):
            scores, folds = scorer.scores(), []
        else:
            from stele.reranking.folds.cross_validation import cross_validate

            # the query language plays no part in the folds
            judgments = benchmark.all_judgments(data, query_set)
            topics = [topic for topic, judged in judgments.items() if has_relevant(judged)]
            folds = cross_validate(
                scorer.new_module,
                candidates,
                folds_by_hash(topics, f"{args.seed} {query_set.collection} "),
                recipe,
                seed=args.seed,
                state=state / query_set.name,
                label=f"re-rank {query_set.name}",
            )
            scores = np.zeros(len(candidates), np.float32)
            for fold in folds:
                scores[fold.rows] = fold.scores
                earlier = earlier[0] + fold.earlier[0], earlier[1] + fold.earlier[1]
        # the run, and its facts for the record and epochs.csv
        runs[query_set.name] = candidates.run(scores)
        searches[query_set.name] = {
            "language": query_set.language,
            "pool": query_set.collection,
            "queries": len(candidates.topics),
            **candidates.counts,
            "folds": [fold.facts() for fold in folds],
        }
        rows += _epoch_rows(query_set.name, candidates, folds)

    # write the runs with epochs.csv, and the record
    files = {name: partial(write_run, run=ranked.items(), tag="stele") for name, ranked in runs.items()}
    outputs, content = write_with_epochs(args.output.parent / "runs", JOB, ".trec.gz", files, [COLUMNS, *rows])
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        earlier=earlier,
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


def _word_folders(word_vectors: Mapping[str, Path]) -> dict[str, Path]:
    """Folder of each language's word vectors, by language. Raises SteleError if a language is given twice."""
    folders: dict[str, Path] = {}
    for dataset, parts in data_folders(word_vectors).items():
        for part, folder in parts.items():
            for language in part.split("-"):
                if language in folders:
                    raise SteleError(f"--vectors {dataset}:{part}: vectors of {language} are given twice; give one")
                folders[language] = folder
    return folders


def _epoch_rows(name: str, candidates: Candidates, folds: list[FoldResult]) -> Iterator[tuple]:
    for number, fold in enumerate(folds):
        topics = " ".join(candidates.topics[topic] for topic in np.unique(candidates.topic_of[fold.rows]))
        for epoch, value in sorted(fold.dev_map.items()):
            chosen = epoch == fold.epoch
            yield name, number, epoch, f"{value:.6f}", int(chosen), topics if chosen else ""

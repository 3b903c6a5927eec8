"""Fuse the rankings of term matching and of dense retrieval; choose the weight by cross-validation.

Topics are divided into five folds; a fold's weight is the best one, by AP, on the topics of the other four folds
(Shi et al., sections 3 and 5). The fused run, in canonical order, goes to runs/; alpha.csv beside it has the folds, the
weight of each, and the AP of every weight. The job takes seconds: a killed one starts anew.

    score = a * S_term + (1 - a) * S_dense

A document that is missing from a list scores 0 there (section 5). So a document with a negative dense score, missing
from the list of term matching, ranks below a document that is missing from both.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.artifacts.run import Hits, Run, without
from stele.artifacts.run_files import collection_size, read_own_run, runs_of, write_run
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader, stated_left_out
from stele.benchmarks.reader import RetrievalReader
from stele.command.arguments import Count, Datasets, Job, Json, Name, NewRecord, Record, Some, record_beside
from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.digests import facts_digest, file_facts
from stele.files.formats import write_csv
from stele.files.reading import parse_object
from stele.files.strict import validate
from stele.recipes.search import Fusion

ALPHAS = np.arange(101) / 100  # the weight of term matching; the paper does not say which were tried
DIGITS = 4  # of the mean AP that a weight is chosen by
COLUMNS = ("search", "fold", "alpha", "ap", "chosen", "topics")

JOB = "fuse"


class Fuse(Job):
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Languages of the benchmark to fuse."""
    term: Record
    """Record of the runs of term matching."""
    dense: Record
    """Record of the runs of dense retrieval."""
    data: Datasets
    recipe: Json = "{}"
    """{"scores": "raw"}, the default, or {"scores": "min_max"}: scores scaled to 0..1, query by query."""
    depth: Count = 1000
    """Documents to rank per topic."""
    output: Annotated[NewRecord, record_beside(JOB, ["runs"], "alpha.csv")]


def run(args: Fuse) -> None:
    recipe = validate(Fusion, parse_object(args.recipe, "--recipe"), "--recipe")
    benchmark = load_reader(args.benchmark, RetrievalReader)
    data_inputs = data_records(args.data)
    data = data_folders(data_inputs)
    searched = [(path, records.read_record(path)) for path in (args.term, args.dense)]
    for path, record in searched:
        if (other := record.get("benchmark", args.benchmark)) != args.benchmark:
            raise SteleError(f"{path}: its runs are of {other}, not of {args.benchmark}; give runs of one benchmark")
        if records.LIMITED in record["labels"]:
            raise SteleError(f"{path}: a search of a few queries (--limit) chooses no weight; search all")
    folder, table = args.output.parent / "runs", args.output.parent / "alpha.csv"
    searches: dict[str, Any] = {}
    rows: list[tuple] = []
    with atomic_directory(folder, JOB) as new_folder:
        for query_set in benchmark.query_sets(args.languages):
            # the documents of both lists, topic by topic, and the judgments
            name, judgments = query_set.name, benchmark.judgments(data, query_set)
            # with fields: all judged topics, since some may lack the default field
            ids = [*judgments] if benchmark.FIELDS else [query.id for query in benchmark.queries(data, query_set)]
            left_out = stated_left_out(args.benchmark, data, query_set)
            left_out = left_out._replace(same_id=bool(left_out.same_id))  # if unstated, scoring refuses them
            no_hits = {query: left_out.of(query) for query in ids}
            term_run = without(_read(*searched[0], name), no_hits)
            dense_run = without(_read(*searched[1], name), no_hits)
            topics: dict[str, Candidates] = {}
            for query in ids:
                topics[query] = candidates(term_run.hits(query), dense_run.hits(query), recipe.scores == "min_max")
            judged = {query: judgments[query] for query in ids if query in judgments}
            # a weight for each fold, and the fused run
            folds = choose_weights(topics, judged, _folds(args.benchmark, list(topics)), args.depth)
            alpha_of = {topic: float(ALPHAS[fold.chosen]) for fold in folds for topic in fold.topics}
            run = ((topic, fused(item, alpha_of[topic], args.depth)) for topic, item in topics.items() if item.names)
            write_run(new_folder / f"{name}.trec.gz", run, tag="stele")
            rows += _rows(name, folds)
            searches[name] = {
                "language": query_set.language,
                "pool": query_set.collection,
                "documents": collection_size([record for _, record in searched], name),  # of a random ranking
                "queries": len(topics),
                "judged_queries": len(judged),
                "alphas": [float(ALPHAS[fold.chosen]) for fold in folds],
            }

    # the table of weights, and the record
    with atomic_file(table) as handle:
        write_csv(handle, [COLUMNS, *rows])
    runs = {name: file_facts(folder / f"{name}.trec.gz") for name in searches}
    outputs = {f"runs/{name}.trec.gz": facts for name, facts in runs.items()} | {table.name: file_facts(table)}
    records.write_record(
        args.output,
        job=JOB,
        inputs=data_inputs | {"term": args.term, "dense": args.dense},
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        searches=searches,
        recipe=recipe.model_dump(),
        similarity="a * S_term + (1 - a) * S_dense",
        outputs=outputs,
        content=facts_digest(runs),
    )


def _read(path: Path, record: Mapping[str, Any], name: str) -> Run:
    """Reads the run of a query set. Raises SteleError if there is no run."""
    if "searches" not in record:
        raise SteleError(f"{path}: found the record of {record['job']}; want that of a search (retrieval.json)")
    runs = runs_of(record, path.parent)
    if name not in runs:
        raise SteleError(f"{path}: found no run of {name}, only of {', '.join(runs)}; search {name} too")
    return read_own_run(runs[name])


def _folds(benchmark: str, topics: list[str]) -> dict[str, int]:
    try:
        return folds_by_hash(topics)
    except SteleError as error:
        raise SteleError(f"{benchmark}: {error}") from None


class Fold(NamedTuple):
    """A fold: its topics, mean AP over the other folds' topics by weight [alphas], index of the chosen weight."""

    topics: list[str]
    mean_ap: np.ndarray
    chosen: int


class Candidates(NamedTuple):
    """Documents of both lists, ids in descending order (the canonical order of ties), with scores float64 [n]."""

    names: list[str]
    term: np.ndarray
    dense: np.ndarray


def candidates(term: Hits, dense: Hits, min_max: bool = False) -> Candidates:
    """Joins the documents of two lists, either of which may be empty; `min_max` scales the scores to 0..1."""
    if min_max:
        term, dense = _min_max(term), _min_max(dense)
    term_scores, dense_scores = dict(term), dict(dense)
    names = sorted(term_scores.keys() | dense_scores.keys(), key=lambda name: name.encode("utf-8"), reverse=True)
    term_column = np.array([term_scores.get(name, 0.0) for name in names])
    dense_column = np.array([dense_scores.get(name, 0.0) for name in names])
    return Candidates(names, term_column, dense_column)


def _min_max(hits: Hits) -> Hits:
    """Scales scores to 0..1 by minimum and maximum; equal scores all become 1, as a missing document has 0."""
    values = [score for _, score in hits]
    low = min(values, default=0.0)
    wide = max(values, default=0.0) - low
    return [(name, (score - low) / wide if wide else 1.0) for name, score in hits]


def fused(topic: Candidates, alpha: float, depth: int) -> Hits:
    """Ranks the documents by their fused scores; returns the first `depth` in canonical order."""
    (scores,), (order,) = _ranked(topic, np.array([alpha]), depth)
    return [(topic.names[place], float(scores[place])) for place in order]


def average_precisions(topic: Candidates, judged: Mapping[str, int], depth: int) -> np.ndarray:
    """AP@depth of a topic under each of ALPHAS, float64 [101], like the metric `ap`; 0 without a relevant document."""
    total = sum(relevance >= 1 for relevance in judged.values())
    if not (total and topic.names):
        return np.zeros(len(ALPHAS))
    _, order = _ranked(topic, ALPHAS, depth)
    relevant = np.array([judged.get(name, 0) >= 1 for name in topic.names])[order]
    precision = np.cumsum(relevant, axis=1) / np.arange(1, order.shape[1] + 1)
    return (precision * relevant).sum(axis=1) / total


def _ranked(topic: Candidates, alphas: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Fused scores, float32 [alphas, n], and the indices of the best `depth` documents, [alphas, <= depth]."""
    weight = alphas[:, None]
    scores = (weight * topic.term + (1 - weight) * topic.dense).astype(np.float32)
    return scores, np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def choose_weights(
    topics: Mapping[str, Candidates], judged: Mapping[str, Mapping[str, int]], fold_of: Mapping[str, int], depth: int
) -> list[Fold]:
    """Chooses a weight for each fold by the mean AP, to four digits, of the other folds' judged topics.

    The smallest of equally good weights is chosen. Raises SteleError if the other folds have no judged topic.
    """
    ap_of = {name: average_precisions(topics[name], judgments, depth) for name, judgments in judged.items()}
    folds = []
    for number in range(max(fold_of.values()) + 1):
        names = [name for name, fold in fold_of.items() if fold == number]
        others = [values for name, values in ap_of.items() if fold_of[name] != number]
        if not others:
            raise SteleError(f"fold {number}: no other fold has a judged topic to choose its weight; judge more")
        mean_ap = np.mean(others, axis=0)
        rounded = [round(value, DIGITS) for value in mean_ap.tolist()]
        folds.append(Fold(names, mean_ap, rounded.index(max(rounded))))
    return folds


def _rows(name: str, folds: list[Fold]) -> Iterator[tuple]:
    for number, fold in enumerate(folds):
        for place, (alpha, value) in enumerate(zip(ALPHAS, fold.mean_ap, strict=True)):
            chosen = place == fold.chosen
            yield name, number, f"{alpha:.2f}", f"{value:.6f}", int(chosen), " ".join(fold.topics) if chosen else ""

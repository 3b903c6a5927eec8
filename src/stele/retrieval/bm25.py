"""Search a benchmark with BM25, its k1 and b chosen in each language on questions apart, and write canonical runs.

Language by language: the passages are indexed into the state folder, the questions of the split that parameters are
chosen on are searched with every k1 and b of the recipe, and those to be judged with the pair of the highest MRR@100.
A killed job continues where it stopped: whole blocks of the index, tried parameters and finished searches are kept
in the state folder until the job is done.

By bm25s, in Lucene's variant of the formula; or by Anserini, Lucene itself, where its record is given (--anserini).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from stele.artifacts import records
from stele.artifacts.runs.run import run_of
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Query, QuerySet
from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation.case import Case
from stele.evaluation.ranx_arrays import by_ranx
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.files.strict import Values
from stele.progress import track
from stele.registry import load_named
from stele.retrieval.lexical import analysis, anserini, bm25_index, bm25_search
from stele.retrieval.lexical.bm25_search import Hits, Parameters, choose
from stele.retrieval.searches.search_job import FinishedSearches, check_counts, expected_passages

logger = logging.getLogger(__name__)

KEYS = ("split", "k1", "b")
DEFAULT = (0.9, 0.4)  # Anserini's k1 and b: what is gained over them is worth a line in the record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--recipe", required=True, help="JSON: split, and the k1 and b that are tried on it")
    add_data_argument(parser)
    parser.add_argument("--anserini", type=Path, metavar="RECORD", help="search with the Anserini in this folder")
    parser.add_argument("--depth", type=arguments.whole, default=100, help="passages a query")
    parser.add_argument("--threads", type=arguments.whole, default=1)
    add_state_arguments(parser)
    parser.add_argument("--output", type=Path, required=True, help="retrieval.json; the runs go to runs/ beside it")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    job = Job(args, load_named("stele.benchmarks", args.benchmark, kind="benchmark"))
    for query_set in job.query_sets:
        if job.finished.facts(query_set) is None:
            job.run_search(query_set)
    published = job.finished.publish(job.query_sets, args.output.parent / "runs")
    records.write_record(
        args.output,
        job="bm25",
        inputs=job.inputs,
        clock=clock,
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        searches={query_set.name: job.finished.facts(query_set) for query_set in job.query_sets},
        recipe=job.recipe,
        similarity=job.engine,
        **published,
    )
    drop(job.state)


class Job:
    """One job: its query sets, its recipe, and where its state lies."""

    def __init__(self, args: argparse.Namespace, benchmark: ModuleType) -> None:
        check_counts(args, "depth", "threads")
        of_data = data_records(args.data)
        self.args, self.benchmark, self.data = args, benchmark, data_folders(of_data)
        self.inputs = of_data | ({"anserini:all": args.anserini} if args.anserini else {})
        self.recipe = parse_recipe(args.recipe)
        self.grid: list[Parameters] = sorted((k1, b) for k1 in self.recipe["k1"] for b in self.recipe["b"])
        self.query_sets: list[QuerySet] = benchmark.query_sets(args.languages)
        self.jar = anserini.find_jar(args.anserini.parent) if args.anserini else None
        version = importlib.metadata.version("bm25s")
        self.engine = f"BM25 by {self.jar.stem}" if self.jar else f"BM25 by bm25s {version} (Lucene's variant)"
        whole = {"benchmark": args.benchmark, "depth": args.depth, "engine": self.engine, **self.recipe}
        self.state = own_folder(args.state, recipe=whole, inputs=self.inputs, seed=0, code=args.code)
        self.finished = FinishedSearches(self.state / "runs")
        self.finished.folder.mkdir(exist_ok=True)

    def queries(self, query_set: QuerySet, split: str | None = None) -> list[Query]:
        split = split or self.benchmark.JUDGED
        queries = list(self.benchmark.queries(self.data, query_set, split))
        if not queries:
            raise SteleError(f"{self.args.benchmark}: {query_set.name} has no {split} query in the data given")
        return queries

    def run_search(self, query_set: QuerySet) -> None:
        """Indexes a collection, chooses the parameters, searches with them, and puts the index away."""
        folder, tuned = self.state / query_set.collection, self.recipe["split"]
        splits = {split: self.queries(query_set, split) for split in (tuned, self.benchmark.JUDGED)}
        collection = (WithAnserini if self.jar else WithBm25s)(self, query_set, folder, splits)
        mrr = self.tune(query_set, collection, splits[tuned], folder / "tuned.json")
        chosen = choose(mrr)
        ((_, hits),) = collection.runs(self.benchmark.JUDGED, [chosen], self.args.depth)
        by_query = (
            (query.id, query_hits) for query, query_hits in zip(splits[self.benchmark.JUDGED], hits, strict=True)
        )
        facts = {
            "language": query_set.language,
            "pool": query_set.collection,
            "queries": len(hits),
            "passages": collection.passages,
            "k1": chosen[0],
            "b": chosen[1],
            f"{tuned}_queries": len(splits[tuned]),
            f"{tuned}_mrr": mrr[chosen],
            f"{tuned}_mrr_by_default": mrr.get(DEFAULT),
            **collection.facts,
        }
        self.finished.save(query_set, by_query, facts)
        shutil.rmtree(folder)
        logger.info("%s: k1 %g, b %g, MRR of %s %.4f", query_set.name, *chosen, tuned, mrr[chosen])

    def tune(
        self, query_set: QuerySet, collection: WithBm25s | WithAnserini, queries: Sequence[Query], path: Path
    ) -> dict:
        """The MRR of each pair of parameters on the queries; saved as they come."""
        judged = self.benchmark.judgments(self.data, query_set, self.recipe["split"])
        mrr_of = {tuple(parameters_given): mrr for parameters_given, mrr in read_state(path) or ()}
        left = [parameters_given for parameters_given in self.grid if parameters_given not in mrr_of]
        runs = collection.runs(self.recipe["split"], left, bm25_search.CUT)
        for parameters, hits in track(runs, len(left), f"tune {query_set.name}, {len(queries)} queries", "pairs"):
            mrr_of[parameters] = mean_reciprocal_rank(query_set, judged, queries, hits)
            atomic_write_json(path, sorted(mrr_of.items()))
        return mrr_of


def mean_reciprocal_rank(
    query_set: QuerySet, judged: Mapping[str, Mapping[str, int]], queries: Sequence[Query], hits: Sequence[Hits]
) -> float:
    """The metric mrr of the hits of some queries, cut at CUT; a query without a result or a judgment scores 0."""
    names = [query.id for query in queries]
    case = Case(relevant=[judged.get(name, {}) for name in names])
    case.add(query_set, names)
    case.runs[query_set.name] = run_of(dict(zip(names, hits, strict=True)))
    values = by_ranx(case, "mrr", str(bm25_search.CUT)).tolist()
    return sum(values) / len(values)


class WithBm25s:
    """A collection searched by bm25s, with Lucene's formula: an index of the queries' terms."""

    def __init__(self, job: Job, query_set: QuerySet, folder: Path, splits: dict[str, list[Query]]) -> None:
        analyze = analysis.analyzer(query_set.language)
        terms = {split: [analyze(query.text) for query in queries] for split, queries in splits.items()}
        vocabulary = sorted({term for of_split in terms.values() for of_query in of_split for term in of_query})
        numbers = {term: number for number, term in enumerate(vocabulary)}
        self.queries = {
            split: [[numbers[t] for t in of_query] for of_query in of_split] for split, of_split in terms.items()
        }
        self.folder, self.threads = folder / "index", job.args.threads
        items = track(contents(job, query_set), expected(job, query_set), f"index {query_set.collection}", "passages")
        counter = analysis.TermNumbers(query_set.language, vocabulary)
        self.passages = bm25_index.write_index(self.folder, items, counter, len(vocabulary))
        self.collection, self.ids = bm25_index.statistics(self.folder), bm25_index.read_ids(self.folder)
        self.facts = {
            "analyzer": analysis.described(query_set.language),
            "passages_with_terms": self.collection.passages,
            "mean_length": self.collection.length,
        }

    def runs(self, split: str, grid: Iterable[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        for parameters in grid:
            yield (
                parameters,
                bm25_search.search(
                    self.folder, self.ids, self.queries[split], depth, self.collection, parameters, self.threads
                ),
            )


class WithAnserini:
    """A collection searched by Anserini: a Lucene index of whole passages with Lucene's analyzer of the language."""

    def __init__(self, job: Job, query_set: QuerySet, folder: Path, splits: dict[str, list[Query]]) -> None:
        self.folder, self.splits = folder, splits
        self.engine = anserini.Anserini(job.jar, query_set.language, job.args.threads)
        items = track(contents(job, query_set), expected(job, query_set), f"copy {query_set.collection}", "passages")
        self.passages = self.engine.write_index(folder, items)
        self.facts = {"analyzer": {"of": job.jar.stem, "language": query_set.language}}

    def runs(self, split: str, grid: Sequence[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        yield from self.engine.search(self.folder, self.splits[split], grid, depth)


def contents(job: Job, query_set: QuerySet) -> Iterator[tuple[str, str]]:
    """(id, text) of a collection's passages: title and text, as Anserini's index of Mr. TyDi has them."""
    return ((p.id, f"{p.title}\n\n{p.text}") for p in job.benchmark.passages(job.data, query_set.collection))


def expected(job: Job, query_set: QuerySet) -> int | None:
    """How many passages a collection has, as the records of its data count them; for the estimate alone."""
    return expected_passages(job.inputs, query_set.collection, "passages")


def parse_recipe(text: str) -> Values:
    """The recipe: the split that parameters are chosen on, and the k1 and b that are tried."""
    recipe = parse_object(text, "--recipe")
    if set(recipe) != set(KEYS):
        raise SteleError(f"--recipe: want an object with {', '.join(KEYS)}; found {text[:80]}")
    for name, most in (("k1", float("inf")), ("b", 1)):
        values = recipe[name]
        if not values or not isinstance(values, list) or not all(isinstance(v, int | float) for v in values):
            raise SteleError(f"--recipe: {name}: want a list of numbers, found {values!r}")
        if wrong := [value for value in values if not 0 <= value <= most]:
            raise SteleError(f"--recipe: {name}: want numbers from 0{' to 1' if most == 1 else ''}, found {wrong[0]}")
    return recipe

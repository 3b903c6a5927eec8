"""Search a benchmark with BM25 and write canonical runs; k1 and b are given, or tuned per language on another split.

The job indexes the passages of one language after the other in the state folder. To tune k1 and b, it searches the
queries of a split with every pair of the recipe, and the judged queries with the pair of the highest MRR@100. A recipe
with `rm3` expands the queries. A killed job resumes where it stopped: complete blocks of the index, tried parameters
and finished searches are kept in the state folder until the job is done.

The engine is bm25s, in Lucene's variant of the formula, or with --anserini Anserini, Lucene itself.
"""

import importlib.metadata
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.artifacts.run import run_of
from stele.artifacts.run_files import checked_id
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import LeftOut, Query, QuerySet
from stele.command.arguments import Count, Datasets, Json, Name, NewRecord, Record, ResumableJob, Some, record_beside
from stele.errors import SteleError
from stele.evaluation.metric import Case
from stele.evaluation.ranx_metrics import by_ranx
from stele.files.atomic import atomic_write_json
from stele.files.reading import find_file, parse_object, read_state
from stele.files.strict import Values, validate
from stele.progress import track
from stele.recipes.search import Search, Tuning
from stele.retrieval.lexical import anserini, lucene_bm25
from stele.retrieval.lexical.engines import Bm25sEngine, Texts
from stele.retrieval.lexical.lucene_bm25 import ANSERINI, Hits, choose
from stele.retrieval.searches import search_job
from stele.retrieval.searches.search_job import FinishedSearches, distinct_queries, ranked_hits
from stele.text.terms import described

logger = logging.getLogger(__name__)

JOB = "bm25"
ALL = "all"  # the queries of a benchmark without splits
Engine = Bm25sEngine | anserini.AnseriniEngine


class Bm25(ResumableJob):
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Languages of the benchmark to search."""
    recipe: Json
    """k1 and b, optionally lengths and rm3; or, to tune them, a split and lists of k1 and b."""
    data: Datasets
    anserini: Record | None = None
    """Record beside Anserini's jar, to search with Anserini instead of bm25s."""
    depth: Count = 100
    """Passages to rank per query."""
    threads: Count = 1
    """CPU threads."""
    output: Annotated[NewRecord, record_beside(JOB, ["runs"])]


def run(args: Bm25) -> None:
    job = Bm25Job(args)
    for query_set in job.query_sets:
        if job.finished.facts(query_set) is None:
            job.search(query_set)
    published = job.finished.publish(job.query_sets, args.output.parent / "runs", JOB)
    records.write_record(
        args.output,
        job=JOB,
        inputs=job.inputs,
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        searches={query_set.name: job.finished.facts(query_set) for query_set in job.query_sets},
        recipe=job.recipe.given(),
        similarity=job.engine_name,
        **published,
    )
    drop(job.state)


class Bm25Job:
    """Runs one BM25 job: holds its inputs, recipe and state folder, and searches its query sets."""

    def __init__(self, args: Bm25) -> None:
        # the benchmark and the recipe
        self.args = args
        self.benchmark = load_reader(args.benchmark, RetrievalReader)
        benchmark_data = data_records(args.data)
        self.data = data_folders(benchmark_data)
        self.query_sets = search_job.query_sets(self.benchmark, args.benchmark, args.languages)
        values = parse_object(args.recipe, "--recipe")
        self.recipe = validate(Tuning if "split" in values else Search, values, "--recipe")
        # the engine
        self.jar = find_file(args.anserini.parent, *anserini.JAR) if args.anserini else None
        for query_set in () if self.jar else self.query_sets:  # an error comes before the first index
            described(query_set.language)
        version = importlib.metadata.version("bm25s")
        self.engine_name = f"BM25 by {self.jar.stem}" if self.jar else f"BM25 by bm25s {version} (Lucene's variant)"
        # the state folder
        self.inputs = benchmark_data | ({"anserini:all": args.anserini} if args.anserini else {})
        made_by = {"benchmark": args.benchmark, "depth": args.depth, "engine": self.engine_name}
        made_by |= self.recipe.given()
        self.state = own_folder(args.state, recipe=made_by, inputs=self.inputs, seed=0, code=args.code)
        self.finished = FinishedSearches(self.state / "runs")

    def search(self, query_set: QuerySet) -> None:
        """Searches a query set, with given or tuned parameters, and removes the index."""
        left_out = self.benchmark.left_out(self.data, query_set)
        if isinstance(self.recipe, Tuning):
            queries, hits, facts = self.tuned(query_set, self.recipe, left_out)
        else:
            queries, hits, facts = self.direct(query_set, self.recipe, left_out)
        ranked = ranked_hits(queries, hits, left_out, self.args.depth)
        facts = {"language": query_set.language, "pool": query_set.collection, "queries": len(hits), **facts}
        self.finished.save(query_set, ranked, facts)
        shutil.rmtree(self.folder(query_set))

    def direct(self, query_set: QuerySet, recipe: Search, left_out: LeftOut) -> tuple[list[Query], list[Hits], Values]:
        """Searches with the recipe's k1 and b. Returns the queries, their hits, and the facts of the search."""
        queries, parameters = self.queries(query_set), (recipe.k1, recipe.b)
        engine = self.engine(query_set, {ALL: queries})
        depth = left_out.deepest((query.id for query in queries), self.args.depth)
        if recipe.rm3:
            hits = engine.expanded(ALL, parameters, depth, recipe.rm3)
        else:
            ((_, hits),) = engine.runs(ALL, [parameters], depth)
        return queries, hits, {"passages": engine.passages, **engine.facts}

    def tuned(self, query_set: QuerySet, recipe: Tuning, left_out: LeftOut) -> tuple[list[Query], list[Hits], Values]:
        """Searches with the k1 and b best on another split (SteleError without one). Returns queries, hits, facts."""
        tuned, judged = recipe.split, self.benchmark.JUDGED_SPLIT
        if judged is None:
            raise SteleError(f"--recipe: split {tuned}: {self.args.benchmark} has only the scored split; give k1 and b")
        splits = {split: self.queries(query_set, split) for split in (tuned, judged)}
        engine = self.engine(query_set, splits)
        mrr = self.tune(query_set, engine, splits[tuned], recipe)
        chosen = choose(mrr)
        depth = left_out.deepest((query.id for query in splits[judged]), self.args.depth)
        ((_, hits),) = engine.runs(judged, [chosen], depth)
        logger.info("%s: k1 %g, b %g, MRR of %s %.4f", query_set.name, *chosen, tuned, mrr[chosen])
        facts = {
            "passages": engine.passages,
            "k1": chosen[0],
            "b": chosen[1],
            f"{tuned}_queries": len(splits[tuned]),
            f"{tuned}_mrr": mrr[chosen],
            f"{tuned}_mrr_by_default": mrr.get(ANSERINI),
            **engine.facts,
        }
        return splits[judged], hits, facts

    def tune(self, query_set: QuerySet, engine: Engine, queries: Sequence[Query], recipe: Tuning) -> dict:
        """Searches the queries with each (k1, b) of the recipe's grid; returns (k1, b) -> MRR, saved pair by pair."""
        path = self.folder(query_set) / "tuned.json"
        judgments = self.benchmark.judgments(self.data, query_set, recipe.split)
        mrr_of = {tuple(parameters): mrr for parameters, mrr in read_state(path) or ()}
        grid = sorted((k1, b) for k1 in recipe.k1 for b in recipe.b)
        left = [parameters for parameters in grid if parameters not in mrr_of]
        runs = engine.runs(recipe.split, left, lucene_bm25.CUT)
        for parameters, hits in track(runs, len(left), f"tune {query_set.name}, {len(queries)} queries", "pairs"):
            mrr_of[parameters] = mean_reciprocal_rank(query_set, judgments, queries, hits)
            atomic_write_json(path, sorted(mrr_of.items()))
        return mrr_of

    def queries(self, query_set: QuerySet, *split: str) -> list[Query]:
        """Reads the queries of a split, or of a benchmark without splits. Raises SteleError if there is no query."""
        options = search_job.topic_options(self.benchmark, self.args.benchmark, getattr(self.recipe, "field", None))
        queries = self.benchmark.queries(self.data, query_set, *split, **options)
        where = f"{self.args.benchmark}: query set {query_set.name}"
        return distinct_queries(queries, where, " ".join([*split, "query"]))

    def engine(self, query_set: QuerySet, splits: dict[str, list[Query]]) -> Engine:
        """Indexes a query set's collection for the queries of `splits`; returns the engine that searches it."""
        folder, threads = self.folder(query_set), self.args.threads
        texts = Texts(query_set.language, lambda: self.contents(query_set))
        if self.jar:
            expands = getattr(self.recipe, "rm3", None) is not None
            return anserini.AnseriniEngine(self.jar, texts, folder, splits, threads, expands)
        rounded = getattr(self.recipe, "lengths", "exact") == "lucene"
        return Bm25sEngine(texts, folder, splits, threads, rounded)

    def folder(self, query_set: QuerySet) -> Path:
        """State folder of a query set, whose index has only the terms of its queries."""
        return self.state / "searches" / query_set.name

    def contents(self, query_set: QuerySet) -> Iterator[tuple[str, str]]:
        """Reads (id, text) of a collection's passages; title and text are joined as in Anserini's index of Mr. TyDi."""
        passages = self.benchmark.passages(self.data, query_set.collection)
        expected = search_job.expected_passages(self.inputs, query_set.collection)
        for passage in track(passages, expected, f"read {query_set.collection}", "passages"):
            name = checked_id(passage.id, f"collection {query_set.collection}")
            yield name, f"{passage.title}\n\n{passage.text}"


def mean_reciprocal_rank(
    query_set: QuerySet, judged: Mapping[str, Mapping[str, int]], queries: Sequence[Query], hits: Sequence[Hits]
) -> float:
    """Mean reciprocal rank of the queries' hits, cut at CUT; a query without a hit or a judgment scores 0."""
    names = [query.id for query in queries]
    case = Case(relevant=[judged.get(name, {}) for name in names])
    case.add(query_set, names)
    case.runs[query_set.name] = run_of(dict(zip(names, hits, strict=True)))
    values = by_ranx(case, "mrr", lucene_bm25.CUT).tolist()
    return sum(values) / len(values)

"""Search a benchmark with BM25, its k1 and b chosen in each language on questions apart, and write canonical runs.

Language by language: the passages are indexed into the state folder, the questions of the split that parameters are
chosen on are searched with every k1 and b of the recipe, and those to be judged with the pair of the highest MRR@100.
A job that was killed goes on where it was: whole blocks of the index, tried parameters and finished searches are kept
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
from typing import Any

from stele.artifacts import records
from stele.artifacts.runs.run import run_of
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Query, Search
from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation.case import Case
from stele.evaluation.ranx_arrays import by_ranx
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.progress import track
from stele.registry import load_named
from stele.retrieval.lexical import analysis, anserini, bm25_index, bm25_search
from stele.retrieval.lexical.bm25_search import Hits, Parameters, choose
from stele.retrieval.search_job import FinishedSearches, check_counts, expected_passages

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
    for search in job.searches:
        if job.finished.facts(search) is None:
            job.run_search(search)
    published = job.finished.publish(job.searches, args.output.parent / "runs")
    records.write_record(
        args.output,
        job="bm25",
        inputs=job.inputs,
        clock=clock,
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        searches={search.name: job.finished.facts(search) for search in job.searches},
        recipe=job.recipe,
        similarity=job.engine,
        **published,
    )
    drop(job.state)


class Job:
    """One job: its searches, its recipe, and where its state lies."""

    def __init__(self, args: argparse.Namespace, benchmark: ModuleType) -> None:
        check_counts(args, "depth", "threads")
        found = data_records(args.data)
        self.args, self.benchmark, self.data = args, benchmark, data_folders(found)
        self.inputs = found | ({"anserini:all": args.anserini} if args.anserini else {})
        self.recipe = parse_recipe(args.recipe)
        self.grid: list[Parameters] = sorted((k1, b) for k1 in self.recipe["k1"] for b in self.recipe["b"])
        self.searches: list[Search] = benchmark.searches(args.languages)
        self.jar = anserini.find_jar(args.anserini.parent) if args.anserini else None
        version = importlib.metadata.version("bm25s")
        self.engine = f"BM25 by {self.jar.stem}" if self.jar else f"BM25 by bm25s {version} (Lucene's variant)"
        whole = {"benchmark": args.benchmark, "depth": args.depth, "engine": self.engine, **self.recipe}
        self.state = own_folder(args.state, recipe=whole, inputs=self.inputs, seed=0, code=args.code)
        self.finished = FinishedSearches(self.state / "runs")
        self.finished.folder.mkdir(exist_ok=True)

    def queries(self, search: Search, split: str | None = None) -> list[Query]:
        split = split or self.benchmark.JUDGED
        found = list(self.benchmark.queries(self.data, search, split))
        if not found:
            raise SteleError(f"{self.args.benchmark}: {search.name} has no {split} query in the data given")
        return found

    def run_search(self, search: Search) -> None:
        """Indexes a pool, chooses the parameters, searches with them, and puts the index away."""
        folder, tuned = self.state / search.pool, self.recipe["split"]
        splits = {split: self.queries(search, split) for split in (tuned, self.benchmark.JUDGED)}
        pool = (WithAnserini if self.jar else WithBm25s)(self, search, folder, splits)
        mrr = self.tune(search, pool, splits[tuned], folder / "tuned.json")
        chosen = choose(mrr)
        ((_, hits),) = pool.runs(self.benchmark.JUDGED, [chosen], self.args.depth)
        found = ((query.id, own) for query, own in zip(splits[self.benchmark.JUDGED], hits, strict=True))
        facts = {
            "language": search.language,
            "pool": search.pool,
            "queries": len(hits),
            "passages": pool.passages,
            "k1": chosen[0],
            "b": chosen[1],
            f"{tuned}_queries": len(splits[tuned]),
            f"{tuned}_mrr": mrr[chosen],
            f"{tuned}_mrr_by_default": mrr.get(DEFAULT),
            **pool.facts,
        }
        self.finished.save(search, found, facts)
        shutil.rmtree(folder)
        logger.info("%s: k1 %g, b %g, MRR of %s %.4f", search.name, *chosen, tuned, mrr[chosen])

    def tune(self, search: Search, pool: WithBm25s | WithAnserini, queries: Sequence[Query], path: Path) -> dict:
        """The MRR of each pair of parameters on the queries; saved as they come."""
        judged = self.benchmark.judgments(self.data, search, self.recipe["split"])
        found = {tuple(own): mrr for own, mrr in read_state(path) or ()}
        left = [own for own in self.grid if own not in found]
        runs = pool.runs(self.recipe["split"], left, bm25_search.CUT)
        for parameters, hits in track(runs, len(left), f"tune {search.name}, {len(queries)} queries", "pairs"):
            found[parameters] = mean_reciprocal_rank(search, judged, queries, hits)
            atomic_write_json(path, sorted(found.items()))
        return found


def mean_reciprocal_rank(
    search: Search, judged: Mapping[str, Mapping[str, int]], queries: Sequence[Query], hits: Sequence[Hits]
) -> float:
    """The metric mrr of the hits of some queries, cut at CUT; a query without a result or a judgment scores 0."""
    names = [query.id for query in queries]
    case = Case(relevant=[judged.get(name, {}) for name in names])
    case.add(search, names)
    case.runs[search.name] = run_of(dict(zip(names, hits, strict=True)))
    values = by_ranx(case, "mrr", str(bm25_search.CUT)).tolist()
    return sum(values) / len(values)


class WithBm25s:
    """A pool searched by bm25s, with Lucene's formula: an index of what the queries ask for."""

    def __init__(self, job: Job, search: Search, folder: Path, splits: dict[str, list[Query]]) -> None:
        analyze = analysis.analyzer(search.language)
        terms = {split: [analyze(query.text) for query in queries] for split, queries in splits.items()}
        vocabulary = sorted({term for own in terms.values() for of_query in own for term in of_query})
        numbers = {term: number for number, term in enumerate(vocabulary)}
        self.queries = {split: [[numbers[t] for t in of_query] for of_query in own] for split, own in terms.items()}
        self.folder, self.threads = folder / "index", job.args.threads
        items = track(contents(job, search), expected(job, search), f"index {search.pool}", "passages")
        counter = analysis.TermNumbers(search.language, vocabulary)
        self.passages = bm25_index.write_index(self.folder, items, counter, len(vocabulary))
        self.pool, self.ids = bm25_index.statistics(self.folder), bm25_index.read_ids(self.folder)
        self.facts = {
            "analyzer": analysis.described(search.language),
            "passages_with_terms": self.pool.passages,
            "mean_length": self.pool.length,
        }

    def runs(self, split: str, grid: Iterable[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        for own in grid:
            yield (
                own,
                bm25_search.search(self.folder, self.ids, self.queries[split], depth, self.pool, own, self.threads),
            )


class WithAnserini:
    """A pool searched by Anserini: a Lucene index of whole passages with Lucene's analyzer of the language."""

    def __init__(self, job: Job, search: Search, folder: Path, splits: dict[str, list[Query]]) -> None:
        self.folder, self.splits = folder, splits
        self.engine = anserini.Anserini(job.jar, search.language, job.args.threads)
        items = track(contents(job, search), expected(job, search), f"copy {search.pool}", "passages")
        self.passages = self.engine.write_index(folder, items)
        self.facts = {"analyzer": {"of": job.jar.stem, "language": search.language}}

    def runs(self, split: str, grid: Sequence[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        yield from self.engine.search(self.folder, self.splits[split], grid, depth)


def contents(job: Job, search: Search) -> Iterator[tuple[str, str]]:
    """(id, text) of a pool's passages: title and text, as Anserini's index of Mr. TyDi has them."""
    return ((p.id, f"{p.title}\n\n{p.text}") for p in job.benchmark.passages(job.data, search.pool))


def expected(job: Job, search: Search) -> int | None:
    """How many passages a pool has, as the records of its data count them; for the estimate alone."""
    return expected_passages(job.inputs, search.pool, "passages")


def parse_recipe(text: str) -> dict[str, Any]:
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

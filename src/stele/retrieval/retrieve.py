"""Encode a benchmark's passages and queries, search, and write canonical runs.

Pool by pool: the passages are encoded into the state folder, every search in that pool is run, the vectors are
dropped (or stay in --keep-index). Where one pool's texts are another's queries (Tatoeba), both stay until both are
searched, and each text is encoded once. A job that was killed goes on where it was: finished searches and encoded
blocks are kept in the state folder until the job is done. Several processes (torchrun's) share the encoding and the
search of each pool and write the same bytes as one.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType

from stele.artifacts import records
from stele.artifacts.state import add_state_arguments, drop
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Passage, Query, Search
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.progress import bar
from stele.registry import load_named
from stele.retrieval import search_job
from stele.retrieval.dense.collection import Pool
from stele.retrieval.dense.encoding_argument import add_encoding_argument, parse_encoding
from stele.retrieval.dense.processes import ProcessGroup, set_threads
from stele.retrieval.dense.vector_files import is_tidy
from stele.retrieval.search_job import FinishedSearches

logger = logging.getLogger(__name__)

OTHERS = 100  # with --limit N: this many passages a query besides those judged relevant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    add_data_argument(parser)
    parser.add_argument("--depth", type=arguments.whole, default=100, help="passages a query")
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    add_state_arguments(parser)
    parser.add_argument("--output", type=Path, required=True, help="retrieval.json; the runs go to runs/ beside it")
    parser.add_argument("--keep-index", type=Path, help="keep vectors.npy and ids.npy of each pool in this folder")
    parser.add_argument(
        "--limit", type=arguments.whole, help="only so many queries a search, and few passages besides their own"
    )


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    job = Job(args, load_named("stele.benchmarks", args.benchmark, kind="benchmark"))
    for pools in job.pools_together():
        missing = {pool: job.waiting(pool) for pool in pools if job.waiting(pool) or not job.index_kept(pool)}
        job.run_pools(job.processes.broadcast(missing))
    if job.processes.is_main:
        finish(job, args, clock)


def finish(job: Job, args: argparse.Namespace, clock: records.Clock) -> None:
    """Writes the runs and the record, and drops the state."""
    published = job.finished.publish(job.searches, args.output.parent / "runs")
    records.write_record(
        args.output,
        job="retrieve",
        inputs=job.inputs,
        clock=clock,
        labels=[records.LIMITED] if args.limit else [],
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        limit=args.limit,
        searches={search.name: job.finished.facts(search) for search in job.searches},
        encoding=job.encoder.spec.model_dump(),
        similarity="cosine" if job.normalize else "inner product",
        processes=job.processes.world,
        **published,
    )
    drop(job.state)


class Job:
    """One retrieval job: its searches, its encoder, and where its state lies."""

    def __init__(self, args: argparse.Namespace, benchmark: ModuleType) -> None:
        from stele.encoders.load import load_encoder
        from stele.training.processes import process_context

        search_job.check_counts(args, "depth", "limit", "threads")
        set_threads(args.threads)
        self.processes = ProcessGroup(process_context())
        records_of_data = data_records(args.data)
        self.args, self.benchmark, self.data = args, benchmark, data_folders(records_of_data)
        self.inputs = {"encoder": args.encoder, **records_of_data}
        self.searches: list[Search] = benchmark.searches(args.languages)
        if not self.searches:
            raise SteleError(f"{args.benchmark}: nothing to search for {', '.join(args.languages)}")
        self.normalize: bool = getattr(benchmark, "NORMALIZE", False)
        if args.limit and args.keep_index:
            raise SteleError("--keep-index: a try with --limit has no index worth keeping; leave one of them out")
        # a quick try by hand leaves the state of the real job alone
        self.state: Path = args.state / "limited" if args.limit else args.state
        (self.state / "runs").mkdir(parents=True, exist_ok=True)
        self.encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(self.processes.device))
        made_of = {name: records.content_digest(path) for name, path in self.inputs.items()}
        spec = self.encoder.spec.model_dump()
        self.key = digest([args.benchmark, made_of, spec, args.limit, args.depth, args.code])
        self.finished = FinishedSearches(self.state / "runs", self.key)

    def pools(self) -> dict[str, list[Search]]:
        grouped: dict[str, list[Search]] = {}
        for search in self.searches:
            grouped.setdefault(search.pool, []).append(search)
        return grouped

    def query_pool(self, search: Search) -> str | None:
        """The pool whose vectors are those of a search's queries too: each text of a job is encoded once."""
        of = getattr(self.benchmark, "query_pool", None)
        alike = self.encoder.spec.symmetric and self.encoder.spec.precision == "float32"  # as queries are held
        return of(search) if of and alike and not self.args.limit else None

    def pools_together(self) -> list[list[str]]:
        """All pools, those together of which one has the other's queries."""
        grouped: dict[frozenset[str], list[str]] = {}
        for pool, searches in self.pools().items():
            of_queries = {name for search in searches if (name := self.query_pool(search))}
            grouped.setdefault(frozenset({pool, *of_queries}), []).append(pool)
        return list(grouped.values())

    def waiting(self, pool: str) -> list[Search]:
        """The searches of a pool that are not finished."""
        return [search for search in self.pools()[pool] if self.finished.facts(search) is None]

    def kept(self, pool: str) -> Path | None:
        """The folder for a pool's vectors that are to stay."""
        return self.args.keep_index / pool if self.args.keep_index else None

    def index_kept(self, pool: str) -> bool:
        """Whether nothing is left to keep: --keep-index was not asked for, or this job's pool is there, tidied."""
        return not (folder := self.kept(pool)) or is_tidy(folder, self.key)

    def run_pools(self, searches: Mapping[str, Sequence[Search]]) -> None:
        """Encodes some pools, and those of their queries, runs the searches in them, and puts the vectors away."""
        of_queries = [name for own in searches.values() for search in own if (name := self.query_pool(search))]
        pools = {name: self.encoded(name) for name in dict.fromkeys([*searches, *of_queries])}
        for name, own in searches.items():
            for search in own:
                self.run_search(search, pools[name], pools.get(self.query_pool(search) or ""))
        for pool in pools.values():
            pool.put_away()

    def encoded(self, name: str) -> Pool:
        """A pool with its vectors."""
        given = (name, self.state / "pools" / name, lambda: self.passages(name), self.encoder, self.processes)
        pool = Pool(*given, key=self.key, normalize=self.normalize, kept=self.kept(name))
        expected = search_job.expected_passages(self.inputs, name, "passages", "candidates")
        pool.encode(None if self.args.limit else expected)
        return pool

    def run_search(self, search: Search, pool: Pool, of_queries: Pool | None) -> None:
        """Runs one search; the first process saves its run. `of_queries` is the pool that has the queries' vectors."""
        queries = self.queries(search)
        vectors = of_queries.vectors() if of_queries else pool.query_vectors([query.text for query in queries])
        if len(vectors) != len(queries):
            raise SteleError(f"search {search.name}: {len(queries)} queries, but {len(vectors)} vectors of them")
        with bar(pool.rows, f"search {search.name}, {len(queries)} queries", "passages") as shown:
            best = pool.search(vectors, self.args.depth, shown.update)
        if not self.processes.is_main:
            return
        facts = {"language": search.language, "pool": search.pool, "queries": len(queries), "passages": pool.size}
        self.finished.save(search, zip((query.id for query in queries), best.hits(), strict=True), facts)
        logger.info("search %s: %d queries, %d passages", search.name, len(queries), pool.size)

    def queries(self, search: Search) -> list[Query]:
        found = list(islice(self.benchmark.queries(self.data, search), self.args.limit))
        if not found:
            raise SteleError(f"{self.args.benchmark}: search {search.name} has no query in the data given")
        return found

    def passages(self, pool: str) -> Iterator[Passage]:
        """The pool; with --limit the passages judged relevant to the queries, and the first of the others."""
        found = self.benchmark.passages(self.data, pool)
        if not self.args.limit:
            yield from found
            return
        searches = self.pools()[pool]
        wanted, others = self._judged(searches), OTHERS * self.args.limit * len(searches)
        for passage in found:
            if passage.id in wanted:
                wanted.remove(passage.id)
                yield passage
            elif others:
                others -= 1
                yield passage
            elif not wanted:
                return

    def _judged(self, searches: Sequence[Search]) -> set[str]:
        if not hasattr(self.benchmark, "judgments"):
            return set()
        found: set[str] = set()
        for search in searches:
            judged = self.benchmark.judgments(self.data, search)
            found.update(name for query in self.queries(search) for name in judged.get(query.id, ()))
        return found

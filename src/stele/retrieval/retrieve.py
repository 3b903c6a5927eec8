"""Encode a benchmark's passages and queries, search, and write canonical runs.

Pool by pool: the passages are encoded into the state folder, every search in that pool is run, the vectors are
dropped (or stay in --keep-index). A job that was killed goes on where it was: finished searches and encoded blocks
are kept in the state folder until the job is done.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from stele import records
from stele.benchmarks.types import Passage, Query, Search
from stele.data_argument import add_data_argument, counted, data_folders, data_records
from stele.errors import SteleError
from stele.outputs import atomic_directory, atomic_write_json, digest, sha256
from stele.progress import bar
from stele.registry import load_named
from stele.retrieval.encoding_argument import add_encoding_argument, parse_encoding
from stele.retrieval.pool import Layout, blocks, encode_pool, is_tidy, tidy, unit
from stele.retrieval.search import TopK
from stele.runs.trec import write_run
from stele.state_folder import add_state_arguments, drop

logger = logging.getLogger(__name__)

OTHERS = 100  # with --limit N: this many passages a query besides those judged relevant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    add_data_argument(parser)
    parser.add_argument("--depth", type=int, default=100, help="passages a query")
    parser.add_argument("--threads", type=int, help="CPU threads; default: as many as torch takes")
    add_state_arguments(parser)
    parser.add_argument("--output", type=Path, required=True, help="retrieval.json; the runs go to runs/ beside it")
    parser.add_argument("--keep-index", type=Path, help="keep vectors.npy and ids.npy of each pool in this folder")
    parser.add_argument("--limit", type=int, help="only so many queries a search, and few passages besides their own")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    job = Job(args, load_named("stele.benchmarks", args.benchmark, kind="benchmark"))
    for pool, searches in job.pools().items():
        waiting = [search for search in searches if job.facts(search) is None]
        if waiting or not job.index_kept(pool):
            job.run_pool(pool, waiting)
    with atomic_directory(args.output.parent / "runs") as folder:
        for search in job.searches:
            shutil.copyfile(job.saved(search), folder / job.saved(search).name)
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
        searches={search.name: job.facts(search) for search in job.searches},
        encoding=job.encoder.spec.model_dump(),
        similarity="cosine" if job.normalize else "inner product",
        content=digest({search.name: sha256(job.saved(search)) for search in job.searches}),
    )
    drop(job.state)


class Job:
    """One retrieval job: its searches, its encoder, and where its state lies."""

    def __init__(self, args: argparse.Namespace, benchmark: ModuleType) -> None:
        from stele.encoders.load import load_encoder
        from stele.training.device import default_device

        for name in ("depth", "limit", "threads"):
            if (value := getattr(args, name)) is not None and value < 1:
                raise SteleError(f"--{name} must be at least 1, found {value}")
        if args.threads:
            import faiss
            import torch

            torch.set_num_threads(args.threads)
            faiss.omp_set_num_threads(args.threads)
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
        self.encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(default_device()))
        made_of = {name: records.content_digest(path) for name, path in self.inputs.items()}
        spec = self.encoder.spec.model_dump()
        self.key = digest([args.benchmark, made_of, spec, args.limit, args.depth, args.code])

    def pools(self) -> dict[str, list[Search]]:
        grouped: dict[str, list[Search]] = {}
        for search in self.searches:
            grouped.setdefault(search.pool, []).append(search)
        return grouped

    def saved(self, search: Search) -> Path:
        return self.state / "runs" / f"{search.name}.trec.gz"

    def facts(self, search: Search) -> dict[str, Any] | None:
        """What is known of a finished search; None while it is not finished. Written after the run itself."""
        try:
            found = json.loads((self.state / "runs" / f"{search.name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return found["facts"] if found["key"] == self.key else None

    def folder(self, pool: str) -> Path:
        return self.args.keep_index / pool if self.args.keep_index else self.state / "pools" / pool

    def expected(self, pool: str) -> int | None:
        """How many passages a pool has, as the records of its data count them; for the estimate alone."""
        own = {key: path for key, path in self.inputs.items() if key.partition(":")[2] in (pool, "all")}
        return None if self.args.limit else counted(own, "passages", "candidates")

    def index_kept(self, pool: str) -> bool:
        """Whether nothing is left to keep: --keep-index was not asked for, or this job's pool is there, tidied."""
        return not self.args.keep_index or is_tidy(self.folder(pool), self.key)

    def run_pool(self, pool: str, searches: Sequence[Search]) -> None:
        """Encodes one pool, runs the searches in it, and puts the vectors away."""
        folder, spec = self.folder(pool), self.encoder.spec
        dtype = "float16" if spec.precision == "bfloat16" else "float32"
        layout = Layout(self.encoder.dimension, dtype, self.normalize, self.key)
        items = ((p.id, spec.passage(p.title, p.text)) for p in self.passages(pool))
        with bar(self.expected(pool), f"encode pool {pool}", "passages") as shown:

            def encode(stream) -> Iterator:
                for ids, vectors in self.encoder.encode_stream(stream, "passage"):
                    yield ids, vectors
                    shown.update(len(ids))

            size = encode_pool(folder, items, encode, layout)
        for search in searches:
            self.run_search(search, folder, size)
        if self.args.keep_index:
            tidy(folder)
        else:
            shutil.rmtree(folder)

    def run_search(self, search: Search, folder: Path, size: int) -> None:
        """Runs one search and saves its run."""
        queries = self.queries(search)
        vectors = self.encoder.encode([query.text for query in queries], "query")
        best = TopK(unit(vectors) if self.normalize else vectors, min(self.args.depth, size), self.encoder.device)
        with bar(size, f"search {search.name}, {len(queries)} queries", "passages") as shown:
            for block, ids in blocks(folder):
                best.add(block, ids)
                shown.update(len(block))
        write_run(self.saved(search), zip((query.id for query in queries), best.hits(), strict=True), tag="stele")
        facts = {"language": search.language, "pool": search.pool, "queries": len(queries), "passages": size}
        atomic_write_json(self.state / "runs" / f"{search.name}.json", {"key": self.key, "facts": facts})
        logger.info("search %s: %d queries, %d passages", search.name, len(queries), size)

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

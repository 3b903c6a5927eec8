"""Encode a benchmark's passages and queries, search, and write canonical runs.

One collection after the other: its passages are encoded into the state folder, its query sets are searched, and the
vectors are dropped (or stay in --keep-index). Where one collection's texts are another's queries (Tatoeba), both stay
until both are searched, and each text is encoded once. Queries that several searches ask are encoded once, too.
With --windows the passages are documents, which are encoded in windows of sentences or tokens, and whose scores are
made of the windows' (dense/windows.py). With --vectors no passage is read: encode_collection has encoded them.

A killed job continues where it stopped: finished searches and encoded blocks are kept in the state folder until the job
is done. Several processes (torchrun's) share the encoding and the search of each collection and write the same bytes as
one.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import add_state_arguments, drop
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.progress import bar
from stele.recipes.search import TopicField
from stele.registry import load_named
from stele.retrieval.calibration.moves import (
    add_calibration_arguments,
    calibration_facts,
    calibration_inputs,
    given_moves,
)
from stele.retrieval.dense.collection import EncodedCollection
from stele.retrieval.dense.collection_encoding import CollectionEncoding
from stele.retrieval.dense.encoding_argument import add_encoding_argument, parse_encoding
from stele.retrieval.dense.processes import ProcessGroup, set_threads
from stele.retrieval.dense.query_vectors import encode_queries, unmoved
from stele.retrieval.dense.shared_queries import SharedQueries
from stele.retrieval.dense.stored_collection import COSTS, Stored, StoredCollection, parts_of, read_stored
from stele.retrieval.dense.vector_files import claim_kept, is_tidy
from stele.retrieval.dense.windows import add_windows_argument, document_hits, parse_windows
from stele.retrieval.searches import search_job
from stele.retrieval.searches.search_job import FinishedSearches

logger = logging.getLogger(__name__)

JOB = "retrieve"
ALONE = ("limit", "calibration", "keep_index")  # what is done where passages are encoded: not with --vectors
SHOWN = 3  # ids in a message
OTHERS = 100  # with --limit N: this many passages a query besides those judged relevant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    add_calibration_arguments(parser)
    add_data_argument(parser)
    parser.add_argument("--depth", type=arguments.whole, default=100, help="passages a query")
    add_windows_argument(parser)
    parser.add_argument(
        "--vectors", nargs="+", type=Path, metavar="RECORD", help="of all collections, as encode_collection made them"
    )
    parser.add_argument(
        "--field", choices=get_args(TopicField), help="of topics, that is the query; default: the title"
    )
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    add_state_arguments(parser)
    arguments.add_record_beside(parser, JOB, ["runs"])
    parser.add_argument(
        "--keep-index", type=Path, help="keep vectors.npy and ids.npy of each collection in this folder"
    )
    parser.add_argument(
        "--limit", type=arguments.whole, help="only so many queries a query set, and few passages besides their own"
    )


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    job = Job(args, load_named("stele.benchmarks", args.benchmark, kind="benchmark"))
    for collections in job.collections_together():
        missing = {
            collection: job.waiting(collection)
            for collection in collections
            if job.waiting(collection) or not job.index_kept(collection)
        }
        job.run_collections(job.processes.broadcast(missing))
    if job.processes.is_main:
        finish(job, args, clock)


def finish(job: Job, args: argparse.Namespace, clock: records.Clock) -> None:
    """Writes the runs and the record, and drops the state."""
    published = job.finished.publish(job.query_sets, args.output.parent / "runs", JOB)
    records.write_record(
        args.output,
        job=JOB,
        inputs=job.inputs,
        clock=clock,
        labels=[*job.encoder.labels, *([records.LIMITED] if args.limit else [])],
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        limit=args.limit,
        searches={query_set.name: job.finished.facts(query_set) for query_set in job.query_sets},
        **job.encoder.facts(),
        **({"windows": job.windows.model_dump()} if job.windows else {}),
        **job.field,
        **calibration_facts(args),
        **job.encodings(),
        similarity="cosine" if job.normalize else "inner product",
        processes=job.processes.world,
        **published,
    )
    drop(job.state)


class Job:
    """One retrieval job: its query sets, its encoder, and where its state lies."""

    def __init__(self, args: argparse.Namespace, benchmark: ModuleType) -> None:
        from stele.encoders.load import load_encoder
        from stele.training.processes import process_context

        search_job.check_counts(args, "depth", "limit", "threads")
        set_threads(args.threads)
        self.processes = ProcessGroup(process_context())
        records_of_data = data_records(args.data)
        self.args, self.benchmark, self.data = args, benchmark, data_folders(records_of_data)
        encoded = {f"vectors {number}": path for number, path in enumerate(args.vectors or (), start=1)}
        self.inputs = {"encoder": args.encoder, **calibration_inputs(args), **records_of_data, **encoded}
        self.query_sets: list[QuerySet] = benchmark.query_sets(args.languages)
        if not self.query_sets:
            raise SteleError(f"{args.benchmark}: nothing to search for {', '.join(args.languages)}")
        if args.limit and args.keep_index:
            raise SteleError("--keep-index: a try with --limit has no index worth keeping; leave one of them out")
        if args.vectors and (other := [name for name in ALONE if getattr(args, name)]):
            option = other[0].replace("_", "-")
            raise SteleError(f"--vectors, --{option}: the vectors are there as they are; leave one of them out")
        # a quick try by hand leaves the state of the real job alone
        self.state: Path = args.state / ("stele-limited" if args.limit else "stele-retrieve")
        (self.state / "runs").mkdir(parents=True, exist_ok=True)
        self.encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(self.processes.device))
        self.normalize: bool = getattr(benchmark, "NORMALIZE", False) or self.encoder.cosine
        self.moves = given_moves(args, self.encoder, self.query_sets)
        self.windows = parse_windows(args.windows)
        made_of = {name: records.content_digest(path) for name, path in self.inputs.items()}
        spec = self.encoder.spec.facts()
        windows = self.windows and self.windows.model_dump()
        self.field = search_job.field_of_topics(benchmark, args.field)
        asked = [args.benchmark, made_of, spec, args.operation, windows, args.limit, args.depth, args.field, args.code]
        self.key = digest(asked)
        self.finished = FinishedSearches(self.state / "runs", self.key)
        folder = self.state / "queries"
        self.shared = SharedQueries(benchmark, self.query_sets, folder, self.key, self.processes)
        self.encoding = CollectionEncoding(
            passages=self.passages,
            inputs=self.inputs,
            encoder=self.encoder,
            processes=self.processes,
            state=self.state,
            key=self.key,
            normalize=self.normalize,
            windows=self.windows,
            moves=self.moves,
            whole=not args.limit,
        )
        self.stored = self.vectors_given()
        if args.keep_index and self.processes.is_main:
            claim_kept([self.kept(collection) for collection in self.collections()], JOB)

    def vectors_given(self) -> dict[str, Stored]:
        """The collections of --vectors, which must be what this job would have made."""
        windows = self.windows and self.windows.model_dump()
        alike = {"encoding": self.encoder.spec.facts(), "windows": windows, "normalize": self.normalize}
        return read_stored(self.args.vectors or (), records.content_digest(self.args.encoder), alike)

    def encodings(self) -> dict[str, Any]:
        """What the encoding of collections cost that other jobs encoded."""
        costs = {name: {key: part.record[key] for key in COSTS} for name, part in self.stored.items()}
        return {"encoded_before": costs} if costs else {}

    def collections(self) -> dict[str, list[QuerySet]]:
        grouped: dict[str, list[QuerySet]] = {}
        for query_set in self.query_sets:
            grouped.setdefault(query_set.collection, []).append(query_set)
        return grouped

    def query_collection(self, query_set: QuerySet) -> str | None:
        """The collection whose vectors are those of the queries too: each text of a job is encoded once."""
        of = getattr(self.benchmark, "query_collection", None)
        alike = self.encoder.spec.symmetric and self.encoder.spec.precision == "float32"  # as queries are held
        return of(query_set) if of and alike and not (self.args.limit or self.args.vectors) else None

    def collections_together(self) -> list[list[str]]:
        """All collections, those together of which one has the other's queries."""
        grouped: dict[frozenset[str], list[str]] = {}
        for collection, query_sets in self.collections().items():
            of_queries = {name for query_set in query_sets if (name := self.query_collection(query_set))}
            grouped.setdefault(frozenset({collection, *of_queries}), []).append(collection)
        return list(grouped.values())

    def waiting(self, collection: str) -> list[QuerySet]:
        """The query sets of a collection that are not searched yet."""
        return [query_set for query_set in self.collections()[collection] if self.finished.facts(query_set) is None]

    def kept(self, collection: str) -> Path | None:
        """The folder for a collection's vectors that are to stay."""
        return self.args.keep_index / collection if self.args.keep_index else None

    def index_kept(self, collection: str) -> bool:
        """Whether nothing is left to keep: no --keep-index, or this job's vectors are there, tidied."""
        return not (folder := self.kept(collection)) or is_tidy(folder, self.key)

    def run_collections(self, query_sets: Mapping[str, Sequence[QuerySet]]) -> None:
        """Encodes some collections, and those of their queries, searches them, and puts the vectors away."""
        of_queries = [
            name
            for of_collection in query_sets.values()
            for query_set in of_collection
            if (name := self.query_collection(query_set))
        ]
        collections = {name: self.encoded(name) for name in dict.fromkeys([*query_sets, *of_queries])}
        for name, of_collection in query_sets.items():
            for query_set in of_collection:
                of_queries = collections.get(self.query_collection(query_set) or "")
                self.run_search(query_set, collections[name], of_queries.vectors() if of_queries else None)
        for collection in collections.values():
            collection.put_away()

    def encoded(self, name: str) -> EncodedCollection | StoredCollection:
        """A collection with its vectors: made here, or by the jobs that encoded its parts."""
        if not self.stored:
            return self.encoding.encode(name, self.collections()[name], self.kept(name))
        parts = parts_of(self.benchmark, name, self.stored)
        collection = StoredCollection(name, parts, self.processes, self.encoder.device)
        if lacking := collection.lacking(self._judged(self.collections()[name])):
            some = ", ".join(lacking[:SHOWN])
            logger.warning("%s: %d judged documents are not in the collection (%s)", name, len(lacking), some)
        return collection

    def run_search(
        self, query_set: QuerySet, collection: EncodedCollection | StoredCollection, vectors: np.ndarray | None
    ) -> None:
        """Searches a query set; the first process saves its run. `vectors`: of its queries, where they are known."""
        queries = self.queries(query_set)
        if vectors is None:
            move = self.moves.of_queries(query_set) if self.moves else unmoved
            texts, how = [query.text for query in queries], {"normalize": self.normalize, "move": move}
            vectors = self.shared.vectors(query_set, lambda: encode_queries(self.encoder, self.processes, texts, **how))
        if len(vectors) != len(queries):
            raise SteleError(f"query set {query_set.name}: {len(queries)} queries, but {len(vectors)} vectors of them")
        with bar(collection.rows, f"search {query_set.name}, {len(queries)} queries", "passages") as shown:
            left_out = search_job.left_out(self.benchmark, self.data, query_set)
            deepest = left_out.deepest((query.id for query in queries), self.args.depth)
            best = collection.search(vectors, self.windows.hits if self.windows else deepest, shown.update)
        if not self.processes.is_main:
            return
        hits = best.hits()
        if self.windows:
            hits = (document_hits(of_query, self.windows.best) for of_query in hits)
        ranked = ((query.id, of_query) for query, of_query in zip(queries, hits, strict=True))
        kept = ((name, left_out.cut(name, of_query, self.args.depth)) for name, of_query in ranked)
        # counted anew: vectors may be another search's, another process's, or of before a restart
        cut = self.encoder.tokenize([query.text for query in queries], "query").cut
        asked = {"queries": len(queries), "cut_queries": cut}
        facts = {"language": query_set.language, "pool": query_set.collection, **asked, **collection.counts()}
        self.finished.save(query_set, kept, facts)
        logger.info("search %s: %d queries, %d passages", query_set.name, len(queries), collection.size)

    def queries(self, query_set: QuerySet) -> list[Query]:
        queries = list(islice(self.benchmark.queries(self.data, query_set, **self.field), self.args.limit))
        if not queries:
            raise SteleError(f"{self.args.benchmark}: query set {query_set.name} has no query in the data given")
        return queries

    def passages(self, collection: str) -> Iterator[Passage]:
        """The collection; with --limit the passages judged relevant to the queries, and the first of the others."""
        passages = self.benchmark.passages(self.data, collection)
        if not self.args.limit:
            return passages
        query_sets = self.collections()[collection]
        return search_job.some_passages(passages, self._judged(query_sets), OTHERS * self.args.limit * len(query_sets))

    def _judged(self, query_sets: Sequence[QuerySet]) -> set[str]:
        if not hasattr(self.benchmark, "judgments"):
            return set()
        names: set[str] = set()
        for query_set in query_sets:
            judged = self.benchmark.judgments(self.data, query_set)
            names.update(name for query in self.queries(query_set) for name in judged.get(query.id, ()))
        return names

"""Encode a benchmark's passages and queries, search, and write canonical runs.

The job handles one collection after the other: it encodes the passages into the state folder, searches the query sets,
and drops the vectors (or keeps them in --keep-index). Where one collection's texts are another's queries (Tatoeba), it
keeps both until both are searched, and encodes each text once. It also encodes shared queries of several searches once.
With --windows it encodes documents in windows of sentences or tokens, and scores a document by its windows' scores
(dense/windows.py). With --vectors it reads no passages: encode_collection has encoded them.

A killed job resumes where it stopped: finished searches and encoded blocks are kept in the state folder until the job
is done. Several processes (torchrun's) share the encoding and the search of each collection and write the same bytes as
one.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.command.arguments import Count, Datasets, Name, NewRecord, ResumableJob, Some, record_beside
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.progress import bar
from stele.recipes.search import TopicField
from stele.retrieval.dense.collection import CollectionEncoding, EncodedCollection
from stele.retrieval.dense.encoder_arguments import CalibratedJob, CalibrationTransforms
from stele.retrieval.dense.job_collections import COSTS, ResumableClock, StoredCollection, read_stored
from stele.retrieval.dense.processes import ProcessGroup, encode_queries, set_threads
from stele.retrieval.dense.vector_files import claim_kept, is_tidy
from stele.retrieval.dense.windows import WindowsJson, document_hits, parse_windows
from stele.retrieval.searches import search_job
from stele.retrieval.searches.search_job import FinishedSearches
from stele.training.processes import process_context

logger = logging.getLogger(__name__)

JOB = "retrieve"
WITHOUT_VECTORS = ("limit", "calibration", "keep_index")  # arguments for encoding passages
EXAMPLES = 3  # ids in a message
Collection = EncodedCollection | StoredCollection
OTHERS = 100  # with --limit N: this many passages per query besides the judged ones


class Retrieve(ResumableJob, CalibratedJob):
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Languages of the benchmark to search."""
    data: Datasets
    depth: Count = 100
    """Passages to rank per query."""
    windows: WindowsJson = None
    vectors: Some[Path] | None = None
    """Records of `retrieval encode_collection`, one per collection, to search instead of encoding passages."""
    field: TopicField | None = None
    """Field of a topic that is the query; default: the collection's own, mostly the title."""
    output: Annotated[NewRecord, record_beside(JOB, ["runs"])]
    keep_index: Path | None = None
    """Folder in which to keep vectors.npy and ids.npy of each collection."""
    limit: Count | None = None
    """Search at most this many queries of each query set, in a sample of the passages, for a quick try."""


def run(args: Retrieve) -> None:
    job = RetrievalJob(args)

    # a collection whose texts are another's queries is searched together with it
    for names in job.collections_together():
        # the remaining searches; the first process decides for all
        waiting = {name: job.waiting(name) for name in names if job.waiting(name) or not job.is_index_kept(name)}
        waiting = job.processes.broadcast(waiting)

        # encode these collections, and those whose vectors are the queries'; an error in the queries comes first
        needed, queries_of = list(waiting), {}
        for query_sets in waiting.values():
            queries_of |= {query_set: job.queries(query_set) for query_set in query_sets}
            needed += [name for query_set in query_sets if (name := job.query_collection(query_set))]
        collections = {name: job.open_collection(name) for name in dict.fromkeys(needed)}

        # search their query sets
        for name, query_sets in waiting.items():
            for query_set in query_sets:
                queries, query_collection = queries_of[query_set], job.query_collection(query_set)
                if query_collection:
                    vectors = collections[query_collection].vectors()
                else:
                    vectors = job.query_vectors(query_set, queries)
                job.search(query_set, queries, vectors, collections[name])
        for collection in collections.values():
            collection.put_away()
    if not job.processes.is_main:
        return

    # publish the runs, and write the record
    published = job.finished.publish(job.query_sets, args.output.parent / "runs", JOB)
    costs = {name: {key: part.record[key] for key in COSTS} for name, part in job.stored.items()}
    records.write_record(
        args.output,
        job=JOB,
        inputs=job.inputs,
        earlier=job.clock.earlier,
        labels=[*job.encoder.labels, *([records.LIMITED] if args.limit else [])],
        benchmark=args.benchmark,
        languages=list(args.languages),
        depth=args.depth,
        limit=args.limit,
        searches={query_set.name: job.finished.facts(query_set) for query_set in job.query_sets},
        **job.encoder.facts(),
        **({"windows": job.windows.model_dump()} if job.windows else {}),
        **job.topic_options,
        **job.transforms.facts,
        **({"encoded_before": costs} if costs else {}),
        similarity="cosine" if job.normalize else "inner product",
        processes=job.processes.world,
        **published,
    )
    drop(job.state)


class RetrievalJob:
    """Runs one retrieval job: holds its inputs, encoder and state folder, and searches its query sets."""

    def __init__(self, args: Retrieve) -> None:
        from stele.encoders.load import load_encoder, parse_encoding

        # the arguments
        if args.limit and args.keep_index:
            raise SteleError("--keep-index, --limit: with --limit the index is incomplete; leave out one of them")
        if args.vectors and (other := [name for name in WITHOUT_VECTORS if getattr(args, name)]):
            option = other[0].replace("_", "-")
            raise SteleError(f"--vectors, --{option}: stored vectors are used unchanged; leave one of them out")

        # the benchmark and its data
        self.args = args
        self.benchmark = load_reader(args.benchmark, RetrievalReader)
        benchmark_data = data_records(args.data)
        self.data = data_folders(benchmark_data)
        self.query_sets = search_job.query_sets(self.benchmark, args.benchmark, args.languages)
        self.collections: defaultdict[str, list[QuerySet]] = defaultdict(list)
        for query_set in self.query_sets:
            self.collections[query_set.collection].append(query_set)
        self.topic_options = search_job.topic_options(self.benchmark, args.benchmark, args.field)

        # the encoder, and what is done to its vectors
        set_threads(args.threads)
        self.processes = ProcessGroup(process_context())
        self.encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(self.processes.device))
        self.normalize: bool = self.benchmark.NORMALIZE or self.encoder.cosine
        self.transforms = CalibrationTransforms(args, self.encoder, self.query_sets)
        self.windows = parse_windows(args.windows)
        windows = self.windows.model_dump() if self.windows else None

        # the state folder; a quick try (--limit) keeps the real job's state
        vector_records = {f"vectors {number}": path for number, path in enumerate(args.vectors or (), start=1)}
        self.inputs = {"encoder": args.encoder, **self.transforms.inputs, **benchmark_data, **vector_records}
        made_by = args.model_dump(include={"benchmark", "operation", "limit", "depth", "field"})
        made_by |= {"encoding": self.encoder.spec.facts(), "windows": windows}
        made_by |= {"languages": args.languages} if args.limit else {}  # --limit samples depend on all searches
        self.state = own_folder(
            args.state,
            recipe=made_by,
            inputs=self.inputs,
            seed=0,
            code=args.code,
            first=self.processes.is_main and not args.limit,
        )
        self.finished = FinishedSearches(self.state / "runs")
        self.clock = ResumableClock(self.state)

        # the collections: encoded here, or by other jobs with the same settings
        self.encoding = CollectionEncoding(
            passages=self.passages,
            inputs=self.inputs,
            encoder=self.encoder,
            processes=self.processes,
            state=self.state,
            key=self.state.name,
            normalize=self.normalize,
            windows=self.windows,
            transform=self.transforms.of_collection,
            whole=not args.limit,
            on_block=self.clock.save,
        )
        self.stored = read_stored(
            args.vectors or (),
            records.content_digest(args.encoder),
            {"encoding": self.encoder.facts()["encoding"], "windows": windows, "normalize": self.normalize},
        )
        if args.keep_index and self.processes.is_main:
            claim_kept([self.kept(collection) for collection in self.collections], JOB)

    def query_collection(self, query_set: QuerySet) -> str | None:
        """Collection whose texts are this query set's queries, so that its vectors serve both; None without one."""
        is_symmetric = self.encoder.symmetric and not self.encoder.spec.half  # queries are held in float32
        if not is_symmetric or self.args.limit or self.args.vectors:
            return None
        return self.benchmark.query_collection(query_set)

    def collections_together(self) -> list[list[str]]:
        """Groups all collections so that those with the same texts as queries or passages are together."""
        grouped: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for collection, query_sets in self.collections.items():
            of_queries = filter(None, map(self.query_collection, query_sets))
            grouped[frozenset({collection, *of_queries})].append(collection)
        return list(grouped.values())

    def waiting(self, collection: str) -> list[QuerySet]:
        """Query sets of a collection that are not searched yet."""
        return [query_set for query_set in self.collections[collection] if self.finished.facts(query_set) is None]

    def kept(self, collection: str) -> Path | None:
        """Folder that keeps a collection's vectors; None without --keep-index."""
        return self.args.keep_index / collection if self.args.keep_index else None

    def is_index_kept(self, collection: str) -> bool:
        """Whether the kept index is complete: it has this job's vectors, or there is no --keep-index."""
        return not (folder := self.kept(collection)) or is_tidy(folder, self.state.name)

    def open_collection(self, name: str) -> Collection:
        """Encodes a collection, or opens --vectors (SteleError if one is missing); warns of missing documents."""
        if not self.stored:
            encoded = EncodedCollection(self.encoding, name, self.kept(name))
            encoded.encode()
            return encoded
        parts = self.benchmark.parts(name)
        if missing := [part for part in parts if part not in self.stored]:
            raise SteleError(f"--vectors: collection {name} needs the records of {', '.join(missing)} too")
        stored = [self.stored[part] for part in parts]
        collection = StoredCollection(name, stored, self.processes, self.encoder.device)
        if lacking := collection.lacking(self._judged(self.collections[name])):
            examples = ", ".join(lacking[:EXAMPLES])
            logger.warning("%s: %d judged documents are not in the collection (%s)", name, len(lacking), examples)
        return collection

    def query_vectors(self, query_set: QuerySet, queries: Sequence[Query]) -> np.ndarray:
        """Encodes queries, float32 [n, d]; those that several searches of the job share (Belebele's) only once."""
        name = self.benchmark.asked_in(query_set)
        path = self.state / "queries" / f"{digest(name)}.npy"
        if self.processes.broadcast(path.is_file()):
            return self.processes.broadcast(np.load(path) if self.processes.is_main else None)
        texts = [query.text for query in queries]
        transform = self.transforms.of_queries(query_set)
        vectors = encode_queries(self.encoder, self.processes, texts, normalize=self.normalize, transform=transform)
        is_shared = [self.benchmark.asked_in(other) for other in self.query_sets].count(name) > 1
        if is_shared and self.processes.is_main:
            with atomic_file(path, "wb") as handle:
                np.save(handle, vectors)
        return vectors

    def search(
        self, query_set: QuerySet, queries: Sequence[Query], vectors: np.ndarray, collection: Collection
    ) -> None:
        """Searches a query set with vectors [n, d]; the first process saves the run. Raises SteleError if n differs."""
        if len(vectors) != len(queries):
            raise SteleError(f"query set {query_set.name}: found {len(queries)} queries, but {len(vectors)} vectors")
        # search deep enough to leave out excluded documents
        left_out = self.benchmark.left_out(self.data, query_set)
        depth = left_out.deepest((query.id for query in queries), self.args.depth)
        with bar(collection.rows, f"search {query_set.name}, {len(queries)} queries", "passages") as shown:
            best = collection.search(vectors, self.windows.hits if self.windows else depth, shown.update)
        if not self.processes.is_main:
            return
        # rank, from windows to documents where there are some, and save
        hits = best.hits()
        if self.windows:
            hits = (document_hits(window_hits, self.windows.best) for window_hits in hits)
        ranked = search_job.ranked_hits(queries, hits, left_out, self.args.depth)
        # cut queries are counted here, since vectors may come from another search, process or run
        tokens = self.encoder.tokenize([query.text for query in queries], "query")
        facts = {
            "language": query_set.language,
            "pool": query_set.collection,
            "queries": len(queries),
            "cut_queries": tokens.cut,
            **collection.counts(),
        }
        self.finished.save(query_set, ranked, facts)
        self.clock.save()
        logger.info("search %s: %d queries, %d passages", query_set.name, len(queries), collection.size)

    def queries(self, query_set: QuerySet) -> list[Query]:
        """Reads the queries of a query set, at most --limit. Raises SteleError for a wrong id, or without a query."""
        queries = self.benchmark.queries(self.data, query_set, **self.topic_options)
        where = f"{self.args.benchmark}: query set {query_set.name}"
        return search_job.distinct_queries(islice(queries, self.args.limit), where)

    def passages(self, collection: str) -> Iterator[Passage]:
        """Reads a collection's passages; with --limit only the judged ones and the first of the others."""
        passages = self.benchmark.passages(self.data, collection)
        if not self.args.limit:
            return passages
        query_sets = self.collections[collection]
        return search_job.some_passages(passages, self._judged(query_sets), OTHERS * self.args.limit * len(query_sets))

    def _judged(self, query_sets: Sequence[QuerySet]) -> set[str]:
        """Ids of all documents judged for the query sets; none for a benchmark not scored by judgments."""
        if self.benchmark.SCORED_BY != "judgments":
            return set()
        names: set[str] = set()
        for query_set in query_sets:
            judgments = self.benchmark.judgments(self.data, query_set)
            for query in self.queries(query_set):
                names.update(judgments.get(query.id, ()))
        return names

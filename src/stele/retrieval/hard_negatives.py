"""Mine hard negatives: an encoder's best passages for the queries of a training set, without their positives.

Every question is searched, exactly, in the collection of its language, from which its passages come. Its negatives
are the best --depth passages that match no positive by id or by text, since a collection may have a passage under
several ids. A question that occurs twice is searched once, without the positives of both.

What it costs: the collection is read and encoded once; its vectors are read once for every million of kept passages
(34,000 questions at depth 30); and it is read once more to write the texts of the negatives. For MS MARCO (401,000
questions, 8.8 million passages of 768 numbers) that is 27 GB of disk and 5.4e15 multiplications and additions, which
are 40 hours of one core (docs/speed.md) or minutes of a GPU that faiss can use. Memory: a
few blocks of passages, 34,000 questions with their negatives, and the ids of all negatives. A killed job resumes
where it stopped: encoded blocks and searched questions are kept. Several processes (torchrun's) share the
encoding and the search, read the collection each for itself, and write the same bytes as one.
"""

import logging
import shutil
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import CollectionReader, TrainingReader
from stele.benchmarks.transfer_set import MINED_PASSAGES, MINED_QUESTIONS
from stele.command.arguments import Count, Datasets, NewRecord, Record, ResumableJob, Threads, record_of
from stele.errors import SteleError
from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.paths import relative
from stele.files.reading import read_state
from stele.progress import bar, track
from stele.retrieval.dense.collection import CollectionEncoding, EncodedCollection
from stele.retrieval.dense.processes import ProcessGroup, encode_queries, set_threads
from stele.retrieval.searches import search_job
from stele.retrieval.searches.search_job import Questions
from stele.training.processes import process_context

logger = logging.getLogger(__name__)

JOB = "hard_negatives"
HITS = 1 << 20  # passages kept at a time, over all questions that are searched together
READ = 8_192  # passages of the collection processed at once


class HardNegatives(ResumableJob):
    training_set: str
    """Module of stele/benchmarks that reads the training set."""
    encoder: Record
    """record.json in the folder of a fine-tuned encoder."""
    data: Datasets
    depth: Count
    """Number of negatives per question."""
    threads: Threads = None
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: HardNegatives) -> None:
    job = MiningJob(args)

    # mine each collection with its questions; the first process says which are left
    collections = job.questions()
    for collection, questions in collections.items():
        if not job.processes.broadcast(job.counts_file(collection).exists()):
            job.mine(collection, questions)
    if not job.processes.is_main:
        return

    # publish the files of all collections with their record
    counts = {collection: read_state(job.counts_file(collection)) for collection in collections}
    with records.output_folder(args.output, JOB, job.inputs) as (folder, facts):
        for collection in collections:
            for template in (MINED_PASSAGES, MINED_QUESTIONS):
                name = template.format(collection=collection)
                shutil.copyfile(job.state / name, folder / name)
        facts.update(
            training_set=args.training_set,
            depth=args.depth,
            pools=counts,
            **job.encoder.facts(),
            processes=job.processes.world,
        )
    drop(job.state)


class MiningJob:
    """Runs one mining job: holds its inputs, encoder and state folder, and mines its collections."""

    def __init__(self, args: HardNegatives) -> None:
        from stele.encoders.load import load_encoder

        set_threads(args.threads)
        self.args, self.depth = args, args.depth
        self.processes = ProcessGroup(process_context())
        self.training_set = load_reader(args.training_set, TrainingReader)
        collection = load_reader(args.training_set, CollectionReader)
        data = data_records(args.data)
        self.inputs = {"encoder": args.encoder, **data}
        self.data = data_folders(data)
        self.passages = partial(collection.passages, self.data)  # name of a collection -> its passages
        self.encoder = load_encoder(args.encoder.parent, None, str(self.processes.device))
        recipe = {"training_set": args.training_set, "depth": args.depth}
        self.state = own_folder(
            args.state, recipe=recipe, inputs=self.inputs, seed=0, code=args.code, first=self.processes.is_main
        )

    def questions(self) -> dict[str, Questions]:
        """Reads the training questions by collection. Raises SteleError if no question has a positive passage."""
        collections: dict[str, Questions] = {}
        with bar(None, "read questions", "questions") as shown:
            for example in self.training_set.training(self.data, "train"):
                if example.language not in collections:  # it names files
                    relative(example.language, "the language of a training question")
                collections.setdefault(example.language, Questions()).add(example)
                shown.update()
        if not collections:
            raise SteleError("the training set has no question with a positive passage; give another one")
        return collections

    def counts_file(self, collection: str) -> Path:
        """File of a mined collection's counts; it is written last and marks the collection as finished."""
        return self.state / f"{collection}.json"

    def mine(self, name: str, questions: Questions) -> None:
        """Mines a collection's negatives; only the first process writes. Raises SteleError if it has no positive."""
        # encode the collection, and find the passages that are no negatives while it is read
        settings = CollectionEncoding(
            passages=self.passages,
            inputs=self.inputs,
            encoder=self.encoder,
            processes=self.processes,
            state=self.state,
            key="",
            normalize=self.encoder.cosine,
        )
        collection = EncodedCollection(settings, name)
        collection.encode(questions.find_answers)
        if not questions.is_collection_read:  # the vectors were there already
            for _ in questions.find_answers(self.passages(name)):
                pass
        excluded = questions.excluded()
        if not any(excluded):
            raise SteleError(f"collection {name}: it has none of the questions' positives; give theirs")

        # search the questions, and write their negatives
        saved = self.search(collection, list(questions.positives), excluded)
        if self.processes.is_main:
            counts = {
                "questions": len(excluded),
                "passages": collection.size,
                **self.write(name, questions, saved),
                "excluded": sum(map(len, excluded)),
            }
            atomic_write_json(self.counts_file(name), counts)
        collection.put_away()

    def search(
        self, collection: EncodedCollection, questions: Sequence[str], excluded: Sequence[set[bytes]]
    ) -> list[Path]:
        """Searches the questions part by part; returns the files that `save_found` wrote, one per part."""
        wanted = [min(collection.size, self.depth + len(names)) for names in excluded]
        slices = parts(wanted, HITS)
        saved = [collection.folder / f"found-{number:06d}.npz" for number in range(len(slices))]
        numbers = collection.size * collection.layout.dimension
        logger.info(
            "collection %s: %d questions, %d passages: %.3g PFLOP of inner products; %.3g GB of vectors, read %d times",
            *(collection.name, len(questions), collection.size, 2e-15 * numbers * len(questions)),
            *(1e-9 * numbers * np.dtype(collection.layout.dtype).itemsize, len(slices)),
        )
        with bar(len(questions), f"search collection {collection.name}", "questions") as shown:
            for number, rows in enumerate(slices):
                if not self.processes.broadcast(saved[number].exists()):
                    texts = [questions[row] for row in rows]
                    vectors = encode_queries(self.encoder, self.processes, texts, normalize=self.encoder.cosine)
                    best = collection.search(vectors, max(wanted[row] for row in rows))
                    if self.processes.is_main:
                        save_found(saved[number], rows, best.ids, excluded, self.depth)
                shown.update(len(rows))
        return saved

    def write(self, collection: str, questions: Questions, saved: Sequence[Path]) -> dict[str, int]:
        """Writes a collection's negatives and its questions as Parquet files; returns the counts of negatives."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        expected = search_job.expected_passages(self.inputs, collection)
        sizes, names = in_order(saved)
        used, place = np.unique(names, return_inverse=True)
        line = np.full(len(used), -1, np.int32)  # the line of each used id in the file of passages
        text = pa.large_string()
        with atomic_file(self.state / MINED_PASSAGES.format(collection=collection), "wb") as handle:
            columns = pa.schema({"id": text, "title": text, "text": text})
            written = 0
            with pq.ParquetWriter(handle, columns, compression="zstd", use_dictionary=["title"]) as writer:
                passages = iter(track(self.passages(collection), expected, f"texts of {collection}", "passages"))
                while block := list(islice(passages, READ)):
                    ids = np.array([passage.id.encode() for passage in block])
                    at = np.minimum(np.searchsorted(used, ids), max(len(used) - 1, 0))
                    chosen = np.flatnonzero(used[at] == ids) if len(used) else []
                    line[at[chosen]] = np.arange(written, written + len(chosen))
                    written += len(chosen)
                    rows = [block[i]._asdict() for i in chosen]
                    writer.write_table(pa.Table.from_pylist(rows, schema=columns))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(line[place]))
        table = pa.table({"question": pa.array(list(questions.positives), text), "passages": lists})
        with atomic_file(self.state / MINED_QUESTIONS.format(collection=collection), "wb") as handle:
            pq.write_table(table, handle, compression="zstd")
        lacking = int(np.count_nonzero(sizes == 0))
        return {"negatives": len(names), "distinct_negatives": written, "without_negatives": lacking}


def parts(wanted: Sequence[int], limit: int) -> list[list[int]]:
    """Groups rows to search together, given the search depth of each; a part keeps at most `limit` passages.

    Rows are sorted by depth, since a part is searched to the greatest depth of its rows.

    >>> parts([3, 9, 3, 4], 9)
    [[0, 2], [3], [1]]
    """
    groups: list[list[int]] = []
    for row in sorted(range(len(wanted)), key=wanted.__getitem__):
        if not groups or (len(groups[-1]) + 1) * wanted[row] > limit:
            groups.append([])
        groups[-1].append(row)
    return groups


def save_found(
    path: Path, rows: Sequence[int], hit_ids: Sequence[np.ndarray], excluded: Sequence[set[bytes]], depth: int
) -> None:
    """Saves negatives of the questions `rows`: their first `depth` hits without excluded ids; `in_order` reads them."""
    names: list[bytes] = []
    sizes: list[int] = []
    for row, ids in zip(rows, hit_ids, strict=True):
        negatives = [name for name in ids.tolist() if name not in excluded[row]][:depth]
        names += negatives
        sizes.append(len(negatives))
    with atomic_file(path, "wb") as handle:
        np.savez(handle, rows=rows, sizes=sizes, names=np.array(names, dtype=np.bytes_))


def in_order(saved: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Reads saved parts: number of negatives per question, int64 [questions], and all ids, bytes, by question."""
    parts_read = [np.load(path) for path in saved]
    rows = np.concatenate([part["rows"] for part in parts_read])
    sizes = np.concatenate([part["sizes"] for part in parts_read])
    names = np.concatenate([part["names"] for part in parts_read])
    starts, order = np.cumsum(sizes) - sizes, np.argsort(rows)
    sizes = sizes[order]
    within = np.arange(len(names)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return sizes, names[np.repeat(starts[order], sizes) + within]

"""Mine hard negatives: an encoder's best passages for the queries of a training set, positives left out.

Every question is searched, exactly, in the collection that its passages are from, that of its language. Kept
are the best --depth passages that are not its positives: not by id, and not by text, since a collection may have a
passage under several ids. A question that is there twice is searched once, without the positives of both.

What it costs: the collection is read and encoded once; its vectors are read once for every million of kept passages
(34,000 questions at depth 30); and it is read once more to write the texts of what was found. For MS MARCO (401,000
questions, 8.8 million passages of 768 numbers) that is 27 GB of disk and 5.4e15 multiplications and additions, which
are 40 hours of one core (tests/speed/bench_hard_negatives.py) or minutes of a GPU that faiss can use. Memory: a
few blocks of passages, 34,000 questions with what was found for them, and the ids of all negatives. A killed
job continues where it stopped: encoded blocks and searched questions are kept. Several processes (torchrun's) share the
encoding and the search, read the collection each for itself, and write the same bytes as one.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.transfer_set import MINED_PASSAGES, MINED_QUESTIONS
from stele.benchmarks.types import Passage
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file, atomic_write_json, folder_facts
from stele.files.paths import relative
from stele.files.reading import read_state
from stele.progress import bar, track
from stele.registry import load_named
from stele.retrieval.dense.collection import EncodedCollection
from stele.retrieval.dense.positives import Answers, Questions
from stele.retrieval.dense.processes import ProcessGroup, set_threads
from stele.retrieval.dense.query_vectors import encode_queries
from stele.retrieval.searches import search_job

logger = logging.getLogger(__name__)

JOB = "hard_negatives"
HITS = 1 << 20  # passages kept at a time, over all questions that are searched together
READ = 8_192  # passages of the collection looked at together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--training-set", required=True, metavar="MODULE", help="a module of stele/benchmarks")
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in a fine-tuned encoder's folder")
    add_data_argument(parser)
    parser.add_argument("--depth", type=arguments.whole, required=True, help="negatives a question")
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    add_state_arguments(parser)
    arguments.add_record(parser, JOB)


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    job = Job(args)
    collections = job.questions()
    for collection, questions in collections.items():
        if not job.processes.broadcast(job.done(collection).exists()):
            job.mine(collection, questions)
    if job.processes.is_main:
        finish(job, collections, clock)


def finish(job: Job, collections: Iterable[str], clock: records.Clock) -> None:
    """Writes the folder with its record, and drops the state."""
    args, facts = job.args, {collection: read_state(job.done(collection)) for collection in collections}
    with atomic_directory(args.output.parent, JOB) as folder:
        for collection in facts:
            for name in (MINED_PASSAGES, MINED_QUESTIONS):
                shutil.copyfile(
                    job.state / name.format(collection=collection), folder / name.format(collection=collection)
                )
        records.write_record(
            folder / "record.json",
            job=JOB,
            inputs=job.inputs,
            clock=clock,
            training_set=args.training_set,
            depth=args.depth,
            pools=facts,
            **job.encoder.facts(),
            processes=job.processes.world,
            outputs=folder_facts(folder),
        )
    drop(job.state)


class Job:
    """One mining: its encoder, its data, and where its state lies."""

    def __init__(self, args: argparse.Namespace) -> None:
        from stele.encoders.load import load_encoder
        from stele.training.processes import process_context

        search_job.check_counts(args, "depth", "threads")
        set_threads(args.threads)
        self.args, self.processes = args, ProcessGroup(process_context())
        self.module, self.depth = load_named("stele.benchmarks", args.training_set, kind="training set"), args.depth
        if not (hasattr(self.module, "training") and hasattr(self.module, "passages")):
            raise SteleError(f"--training-set {args.training_set}: it has no training questions, or no collection")
        data = data_records(args.data)
        self.inputs, self.data = {"encoder": args.encoder, **data}, data_folders(data)
        self.encoder = load_encoder(args.encoder.parent, None, str(self.processes.device))
        recipe = {"training_set": args.training_set, "depth": args.depth}
        made_of = {"recipe": recipe, "inputs": self.inputs, "seed": 0, "code": args.code}
        self.state = own_folder(args.state, **made_of, first=self.processes.is_main)

    def questions(self) -> dict[str, Questions]:
        """The questions of the training set by collection."""
        collections: dict[str, Questions] = {}
        with bar(None, "read questions", "questions") as shown:
            for example in self.module.training(self.data, "train"):
                if example.language not in collections:  # files are called by it
                    relative(example.language, "the language of a training question")
                collections.setdefault(example.language, Questions()).add(example)
                shown.update()
        if not collections:
            raise SteleError("the training set has no question with a positive passage")
        return collections

    def passages(self, collection: str) -> Iterator[Passage]:
        return self.module.passages(self.data, collection)

    def done(self, collection: str) -> Path:
        """The counts of a mined collection; written after its files."""
        return self.state / f"{collection}.json"

    def mine(self, name: str, questions: Questions) -> None:
        """Mines one collection into the state folder; the first process writes."""
        given = (name, self.state / "collections" / name, lambda: self.passages(name), self.encoder, self.processes)
        collection = EncodedCollection(*given, key="")
        excluded = self.encode(collection, questions)
        saved = self.search(collection, list(questions.rows), excluded)
        if self.processes.is_main:
            facts = {
                "questions": len(questions.rows),
                "passages": collection.size,
                **self.write(name, questions, saved),
            }
            facts["excluded"] = sum(map(len, excluded))
            atomic_write_json(self.done(name), facts)
        collection.put_away()

    def encode(self, collection: EncodedCollection, questions: Questions) -> list[set[bytes]]:
        """Encodes a collection; returns for each question the passages that are no negatives of it."""
        answers = Answers(questions)
        collection.encode(search_job.expected_passages(self.inputs, collection.name, "passages"), answers.watch)
        if not answers.whole:  # the vectors were there already
            for _ in answers.watch(self.passages(collection.name)):
                pass
        if not any(excluded := answers.excluded(questions)):
            raise SteleError(
                f"collection {collection.name}: none of the questions' positives is in it; it is the wrong one"
            )
        return excluded

    def search(
        self, collection: EncodedCollection, questions: Sequence[str], excluded: Sequence[set[bytes]]
    ) -> list[Path]:
        """Searches the questions part by part; each is saved: its rows, how many ids each has, and the ids."""
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
                    vectors = encode_queries(collection.encoder, self.processes, texts, normalize=False)
                    best = collection.search(vectors, max(wanted[row] for row in rows))
                    if self.processes.is_main:
                        save_found(saved[number], rows, best.ids, excluded, self.depth)
                shown.update(len(rows))
        return saved

    def write(self, collection: str, questions: Questions, saved: Sequence[Path]) -> dict[str, int]:
        """Writes the two files of a collection; returns their counts."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        expected = search_job.expected_passages(self.inputs, collection, "passages")
        sizes, names = in_order(saved)
        used, place = np.unique(names, return_inverse=True)
        line = np.full(len(used), -1, np.int32)  # of the file of passages, for each id that is used
        text = pa.large_string()
        with atomic_file(self.state / MINED_PASSAGES.format(collection=collection), "wb") as handle:
            columns, written = pa.schema({"id": text, "title": text, "text": text}), 0
            with pq.ParquetWriter(handle, columns, compression="zstd", use_dictionary=["title"]) as writer:
                for block in _batches(track(self.passages(collection), expected, f"texts of {collection}", "passages")):
                    ids = np.array([passage.id.encode() for passage in block])
                    at = np.minimum(np.searchsorted(used, ids), max(len(used) - 1, 0))
                    chosen = np.flatnonzero(used[at] == ids) if len(used) else []
                    line[at[chosen]] = np.arange(written, written + len(chosen))
                    written += len(chosen)
                    rows = [block[i]._asdict() for i in chosen]
                    writer.write_table(pa.Table.from_pylist(rows, schema=columns))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(line[place]))
        table = pa.table({"question": pa.array(list(questions.rows), text), "passages": lists})
        with atomic_file(self.state / MINED_QUESTIONS.format(collection=collection), "wb") as handle:
            pq.write_table(table, handle, compression="zstd")
        lacking = int(np.count_nonzero(sizes == 0))
        return {"negatives": len(names), "distinct_negatives": written, "without_negatives": lacking}


def parts(wanted: Sequence[int], most: int) -> list[list[int]]:
    """Rows that are searched together, by how many passages each wants: what a part wants together is at most `most`.

    All of a part are searched as deep as the one that wants most. Those that want few come first, so that one whose
    answer is there a thousand times makes a small part and not a deep search for all.

    >>> parts([3, 9, 3, 4], 9)
    [[0, 2], [3], [1]]
    """
    groups: list[list[int]] = []
    for row in sorted(range(len(wanted)), key=wanted.__getitem__):
        if not groups or (len(groups[-1]) + 1) * wanted[row] > most:
            groups.append([])
        groups[-1].append(row)
    return groups


def save_found(
    path: Path, rows: Sequence[int], hit_ids: Sequence[np.ndarray], excluded: Sequence[set[bytes]], depth: int
) -> None:
    """Saves what was found for some questions, without what is excluded; `in_order` reads it."""
    hits = zip(rows, hit_ids, strict=True)
    negatives = [[name for name in ids.tolist() if name not in excluded[row]][:depth] for row, ids in hits]
    names = np.array([name for ids in negatives for name in ids], dtype=np.bytes_)
    with atomic_file(path, "wb") as handle:
        np.savez(handle, rows=rows, sizes=[len(ids) for ids in negatives], names=names)


def in_order(saved: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
    """From the saved parts: how many negatives each question has (int64), and the ids of all, question by question."""
    parts_read = [np.load(path) for path in saved]
    rows, sizes = (np.concatenate([part[name] for part in parts_read]).astype(np.int64) for name in ("rows", "sizes"))
    names = np.concatenate([part["names"] for part in parts_read])
    starts, order = np.cumsum(sizes) - sizes, np.argsort(rows)
    sizes = sizes[order]
    within = np.arange(len(names)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return sizes, names[np.repeat(starts[order], sizes) + within]


def _batches(passages: Iterable[Passage]) -> Iterator[list[Any]]:
    passages = iter(passages)
    while batch := list(islice(passages, READ)):
        yield batch

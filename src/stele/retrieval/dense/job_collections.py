"""Collections that a job searches: it encodes them itself, or reads those that encode_collection has encoded.

Several encoded collections, such as "fa", "ru" and "zh", can be searched as one. The result equals that of a search in
one collection with the passages of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Passage, QuerySet
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_state
from stele.recipes.search import TokenWindows, Windows
from stele.retrieval.dense.collection import EncodedCollection, search_blocks
from stele.retrieval.dense.encoder_arguments import CalibrationTransforms
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.dense.vector_files import blocks, identity
from stele.retrieval.dense.windows import MARK, DocumentWindows, by_sentences, by_tokens
from stele.retrieval.searches.search_job import expected_passages

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

JOB = "encode_collection"
STORED_FILES = ("vectors.npy", "ids.npy")
COSTS = ("wall_seconds", "cpu_seconds")  # of an encoding, which the record of a search repeats


class ResumableClock:
    """Clock of a job that also counts its earlier runs, whose time is saved in the state folder under a key."""

    def __init__(self, clock: records.Clock, state: Path, key: str) -> None:
        self.file, self.key = state / "clock.json", key
        saved = read_state(self.file)
        self.clock = clock.set_back(*saved["spent"]) if saved and saved["key"] == key else clock

    def save(self) -> None:
        """Saves the wall-clock and CPU seconds so far, for a run that resumes after this one."""
        now = records.start()
        spent = now.wall - self.clock.wall, now.cpu - self.clock.cpu
        atomic_write_json(self.file, {"key": self.key, "spent": spent})


@dataclass(frozen=True)
class CollectionEncoding:
    """Settings with which a job encodes its collections.

    passages    name of a collection -> its passages, read from their beginning
    inputs      name -> record of the data, which have the number of passages for the progress bar
    key         identifies what the vectors are made from
    normalize   whether they are scaled to length 1
    windows     how documents are cut, None where passages are encoded whole
    transforms  applied to vectors before their use
    whole       whether all passages are encoded
    on_block    called after each block of passages that the first process has saved
    """

    passages: Callable[[str], Iterator[Passage]]
    inputs: Mapping[str, Path]
    encoder: Encoder
    processes: ProcessGroup
    state: Path
    key: str
    normalize: bool
    windows: Windows | TokenWindows | None
    transforms: CalibrationTransforms | None = None
    whole: bool = True
    on_block: Callable[[], object] = lambda: None

    def encode(self, name: str, query_sets: Sequence[QuerySet], index_folder: Path | None) -> EncodedCollection:
        """Encodes and returns the collection that `query_sets` search; `index_folder`, if any, keeps its vectors."""
        windows = self._windows(name, query_sets) if self.windows else None
        collection = EncodedCollection(
            name,
            self.state / "collections" / name,
            windows.read if windows else lambda: self.passages(name),
            self.encoder,
            self.processes,
            key=self.key,
            normalize=self.normalize,
            index_folder=index_folder,
            transform=self.transforms.of_collection(name) if self.transforms else identity,
            windows=windows,
            on_block=self.on_block if self.processes.is_main else lambda: None,
        )
        counted = self.whole and not windows
        collection.encode(expected_passages(self.inputs, name, "passages", "candidates") if counted else None)
        return collection

    def _windows(self, name: str, query_sets: Sequence[QuerySet]) -> DocumentWindows:
        """Cuts documents by tokens or sentences. Raises SteleError for sentences in more than one query language."""
        if isinstance(self.windows, TokenWindows):
            split = by_tokens(self.encoder, self.windows)
        else:
            languages = {query_set.language for query_set in query_sets}
            if len(languages) > 1:
                raise SteleError(
                    f"--windows: the documents of collection {name} must be in one language, to be split into "
                    f"sentences; its queries are in {', '.join(sorted(languages))}"
                )
            split = by_sentences(languages.pop(), self.windows)
        return DocumentWindows(
            lambda: self.passages(name),
            split,
            file=self.state / "windows" / f"{name}.json",
            key=self.key,
            writes=self.processes.is_main,
        )


class Stored(NamedTuple):
    """A collection that another job encoded: the folder of its vectors, and its record."""

    folder: Path
    record: Mapping[str, Any]


def read_stored(paths: Iterable[Path], encoder: str, expected: Mapping[str, Any]) -> dict[str, Stored]:
    """Reads the records of encoded collections; returns name -> collection.

    encoder: the content digest of the encoder; expected: key of a record -> the value that it must have. Raises
    SteleError for a record of another job, for vectors that were made in another way, and for a collection given twice.
    """
    stored: dict[str, Stored] = {}
    for path in paths:
        record: Mapping[str, Any] = records.read_record(path)
        if record.get("job") != JOB:
            raise SteleError(f"--vectors: {path}: want the record of {JOB}, found that of {record.get('job')}")
        different = [key for key, value in expected.items() if record.get(key) != value]
        if record["inputs"]["encoder"] != encoder:
            different.append("encoder")
        if different:
            raise SteleError(
                f"--vectors: {path}: passages and queries must be encoded alike; "
                f"these passages were encoded with another {', another '.join(different)}"
            )
        if record["collection"] in stored:
            raise SteleError(f"--vectors: collection {record['collection']} is given twice; give it once")
        stored[record["collection"]] = Stored(path.parent, record)
    return stored


def parts_of(benchmark: RetrievalReader, collection: str, stored: Mapping[str, Stored]) -> list[Stored]:
    """Selects the encoded collections that make up a benchmark's collection, named by its method `parts`.

    Raises SteleError if one of them was not given.
    """
    names = benchmark.parts(collection)
    if missing := [name for name in names if name not in stored]:
        raise SteleError(f"--vectors: collection {collection} needs the records of {', '.join(missing)} too")
    return [stored[name] for name in names]


class StoredCollection:
    """Searches the collection `name`, made up of encoded collections (`parts`), on `device`."""

    def __init__(self, name: str, parts: Sequence[Stored], processes: ProcessGroup, device: str) -> None:
        self.name, self.parts, self.processes, self.device = name, parts, processes, device
        counts = self.counts()
        self.windows = "windows" in counts
        self.size = counts["windows" if self.windows else "passages"]
        self.rows = -(-self.size // processes.world)  # of this process, approximately
        if processes.is_main:
            self._refuse_double_ids()

    def search(self, vectors: np.ndarray, k: int, seen: Callable[[int], Any] = lambda rows: None) -> TopK:
        """Finds the k best passages as `EncodedCollection.search`."""
        everything = chain.from_iterable(blocks(part.folder) for part in self.parts)
        of_process = islice(everything, self.processes.rank, None, self.processes.world)
        return search_blocks(of_process, vectors, min(k, self.size), self.device, self.processes, seen)

    def counts(self) -> dict[str, int]:
        """Numbers of texts and of cut texts, summed over all parts."""
        return {key: sum(part.record["counts"][key] for part in self.parts) for key in self.parts[0].record["counts"]}

    def lacking(self, documents: Iterable[str]) -> list[str]:
        """Ids among `documents` that have no vector in the collection, sorted."""
        names = {f"{name}{MARK}0" if self.windows else name: name for name in documents}
        wanted = np.array(sorted(name.encode() for name in names), dtype=np.bytes_)
        is_here = np.isin(wanted, self._ids)
        return sorted(names[name.decode()] for name in wanted[~is_here])

    def put_away(self) -> None:
        """Does nothing, since the vectors belong to another job."""

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([np.load(part.folder / "ids.npy", mmap_mode="r") for part in self.parts])

    def _refuse_double_ids(self) -> None:
        ordered = np.sort(self._ids)
        double = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(double):
            places = [part.record["collection"] for part in self.parts if double[0] in np.load(part.folder / "ids.npy")]
            raise SteleError(
                f"collection {self.name}: passage id {double[0].decode()!r} appears twice (in {' and '.join(places)})"
            )

"""Collections that a job searches: it encodes them itself, or reads those that encode_collection has encoded.

Several, such as "fa", "ru" and "zh", can be searched as if they were one collection with the passages of all.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_state
from stele.retrieval.dense.collection import repeated_id, search_blocks
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.dense.vector_files import blocks
from stele.retrieval.dense.windows import MARK

JOB = "encode_collection"
STORED_FILES = ("vectors.npy", "ids.npy")
COSTS = ("wall_seconds", "cpu_seconds")  # of an encoding, which the record of a search repeats


class ResumableClock:
    """Clock of a job that also counts its earlier runs, whose time is saved in the state folder."""

    def __init__(self, state: Path) -> None:
        self.file = state / "clock.json"
        self.earlier: tuple[float, float] = tuple(read_state(self.file) or (0.0, 0.0))
        self.saved = -math.inf

    def save(self) -> None:
        """Saves the wall-clock and CPU seconds so far, at most once a second, for a run that resumes after this one."""
        seconds = records.spent(self.earlier)
        if seconds[0] - self.saved >= 1:
            atomic_write_json(self.file, seconds)
            self.saved = seconds[0]


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


class StoredCollection:
    """Searches the collection `name`, made up of encoded collections (`parts`), on `device`."""

    def __init__(self, name: str, parts: Sequence[Stored], processes: ProcessGroup, device: str) -> None:
        self.name, self.parts, self.processes, self.device = name, parts, processes, device
        counts = self.counts()
        self.windows = "windows" in counts
        self.size = counts["windows" if self.windows else "passages"]
        self.rows = -(-self.size // processes.world)  # about this many per process
        self.ids = [np.load(part.folder / "ids.npy", mmap_mode="r") for part in parts]
        if processes.is_main and (name_twice := repeated_id(self.ids)):
            places = [part.record["collection"] for part, ids in zip(parts, self.ids, strict=True) if name_twice in ids]
            where = f"in {' and '.join(places)}"
            raise SteleError(f"collection {name}: passage id {name_twice.decode()!r} appears twice ({where})")

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
        is_here = np.isin(wanted, np.concatenate(self.ids))
        return sorted(names[name.decode()] for name in wanted[~is_here])

    def put_away(self) -> None:
        """Does nothing, since the vectors belong to another job."""

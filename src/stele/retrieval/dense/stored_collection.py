"""Collections that jobs of their own encoded (encode_collection), searched as one: "fa" alone, or "fa", "ru" and "zh".

The result is that of a search in one collection that has the passages of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from stele.artifacts import records
from stele.errors import SteleError
from stele.retrieval.dense.collection import search_blocks
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.dense.vector_files import blocks
from stele.retrieval.dense.windows import MARK

JOB = "encode_collection"
FILES = ("vectors.npy", "ids.npy")
COSTS = ("wall_seconds", "cpu_seconds")  # of an encoding, which the record of a search repeats


class Stored(NamedTuple):
    """An encoded collection: the folder of its vectors, and its record."""

    folder: Path
    record: Mapping[str, Any]


def read_stored(paths: Iterable[Path], encoder: str, alike: Mapping[str, Any]) -> dict[str, Stored]:
    """The encoded collections by name; vectors of another encoder (a content digest), or not `alike`, are refused.

    alike: key of a record -> the value that it must have.
    """
    stored: dict[str, Stored] = {}
    for path in paths:
        record: Mapping[str, Any] = records.read_record(path)
        if record.get("job") != JOB:
            raise SteleError(f"--vectors: {path}: want the record of {JOB}, found that of {record.get('job')}")
        different = [key for key, value in alike.items() if record.get(key) != value]
        if record["inputs"]["encoder"] != encoder:
            different.append("encoder")
        if different:
            raise SteleError(
                f"--vectors: {path}: passages and queries must be encoded alike; "
                f"these passages were with another {', another '.join(different)}"
            )
        if record["collection"] in stored:
            raise SteleError(f"--vectors: collection {record['collection']} is given twice")
        stored[record["collection"]] = Stored(path.parent, record)
    return stored


def parts_of(benchmark: ModuleType, collection: str, stored: Mapping[str, Stored]) -> list[Stored]:
    """What a benchmark's collection is made of: the one of that name, or those that its `parts` names."""
    names: Sequence[str] = benchmark.parts(collection) if hasattr(benchmark, "parts") else [collection]
    if missing := [name for name in names if name not in stored]:
        raise SteleError(f"--vectors: collection {collection} needs those of {', '.join(missing)} too")
    return [stored[name] for name in names]


class StoredCollection:
    """The collection `name`, made of these encoded ones; `device` searches it."""

    def __init__(self, name: str, parts: Sequence[Stored], processes: ProcessGroup, device: str) -> None:
        self.name, self.parts, self.processes, self.device = name, parts, processes, device
        counts = self.counts()
        self.windows = "windows" in counts
        self.size = counts["windows" if self.windows else "passages"]
        self.rows = -(-self.size // processes.world)  # of this process, nearly
        if processes.is_main:
            self._refuse_double_ids()

    def search(self, vectors: np.ndarray, k: int, seen: Callable[[int], Any] = lambda rows: None) -> TopK:
        """The k best passages of each query; in the first process, of all processes. `seen` gets numbers of rows."""
        everything = chain.from_iterable(blocks(part.folder) for part in self.parts)
        own = islice(everything, self.processes.rank, None, self.processes.world)
        return search_blocks(own, vectors, min(k, self.size), self.device, self.processes, seen)

    def counts(self) -> dict[str, int]:
        """How many texts there are and how many were cut, of all parts together."""
        return {key: sum(part.record["counts"][key] for part in self.parts) for key in self.parts[0].record["counts"]}

    def lacking(self, documents: Iterable[str]) -> list[str]:
        """Those of some documents that have no vector here, in order."""
        names = {f"{name}{MARK}0" if self.windows else name: name for name in documents}
        wanted = np.array(sorted(name.encode() for name in names), dtype=np.bytes_)
        here = np.isin(wanted, self._ids)
        return sorted(names[name.decode()] for name in wanted[~here])

    def put_away(self) -> None:
        """The vectors are another job's."""

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([np.load(part.folder / "ids.npy", mmap_mode="r") for part in self.parts])

    def _refuse_double_ids(self) -> None:
        ordered = np.sort(self._ids)
        if len(again := ordered[1:][ordered[1:] == ordered[:-1]]):
            places = [part.record["collection"] for part in self.parts if again[0] in np.load(part.folder / "ids.npy")]
            raise SteleError(
                f"collection {self.name}: passage id {again[0].decode()!r} is there twice (in {' and '.join(places)})"
            )

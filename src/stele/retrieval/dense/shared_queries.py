"""Vectors of queries that several searches of a job ask: they are encoded once.

Belebele's 376 searches ask the questions of 122 variants, those in English in 122 of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from stele.benchmarks.types import QuerySet
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.retrieval.dense.processes import ProcessGroup


class SharedQueries:
    """Keeps in `folder` the vectors of queries that the query sets share, as the benchmark's `asked_in` says.

    A benchmark without `asked_in` shares none. `key` says what the vectors are made from.
    """

    def __init__(
        self, benchmark: ModuleType, query_sets: Sequence[QuerySet], folder: Path, key: str, processes: ProcessGroup
    ) -> None:
        self._asked_in: Callable[[QuerySet], str] | None = getattr(benchmark, "asked_in", None)
        self._searches = Counter(map(self._asked_in, query_sets)) if self._asked_in else Counter()
        self._folder, self._key, self._processes = folder, key, processes

    def vectors(self, query_set: QuerySet, encode: Callable[[], np.ndarray]) -> np.ndarray:
        """The vectors of a query set's queries, float32, in all processes the same bytes; `encode` makes them."""
        name = self._asked_in(query_set) if self._asked_in else ""
        if self._searches[name] < 2:
            return encode()
        path = self._folder / f"{digest([self._key, name])}.npy"
        if not self._processes.broadcast(path.is_file()):
            vectors = encode()
            if self._processes.is_main:
                path.parent.mkdir(parents=True, exist_ok=True)
                with atomic_file(path, "wb") as handle:
                    np.save(handle, vectors)
            return vectors
        vectors = np.load(path) if self._processes.is_main else None
        shape = self._processes.broadcast(vectors.shape if vectors is not None else None)
        vectors = np.empty(shape, np.float32) if vectors is None else vectors
        self._processes.broadcast_array(vectors, 0)
        return vectors

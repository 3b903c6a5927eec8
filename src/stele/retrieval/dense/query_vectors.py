"""Vectors of queries: each process of a job encodes its windows of them, and all get all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.dense.sharding import Shares
from stele.retrieval.dense.vector_files import l2_normalize

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Move = Callable[[np.ndarray], np.ndarray]


def unmoved(vectors: np.ndarray) -> np.ndarray:
    return vectors


def encode_queries(
    encoder: Encoder, processes: ProcessGroup, texts: Sequence[str], *, normalize: bool, move: Move = unmoved
) -> np.ndarray:
    """Vectors [n, d] of queries, float32, in all processes the same bytes; scaled to length 1 where `normalize`.

    `move` is what is done to them before they are scaled.
    """
    shares = Shares(processes.rank, processes.world, encoder.window)
    rows = [row for row, _ in shares.assigned(enumerate(texts))]
    vectors = np.empty((len(texts), encoder.dimension), np.float32)
    if rows:
        vectors[rows] = move(encoder.encode([texts[row] for row in rows], "query"))
    for number, owner in enumerate(shares.owners):
        processes.broadcast_array(vectors[number * shares.window : (number + 1) * shares.window], owner)
    return l2_normalize(vectors) if normalize else vectors

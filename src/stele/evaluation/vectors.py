"""Embeddings as points of the unit sphere, and similarities in blocks: never a whole matrix of all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stele.errors import SteleError

BLOCK = 1 << 23  # similarities held at once: 64 MiB


def l2_normalize(vectors: np.ndarray, where: str) -> np.ndarray:
    """The vectors [n, d] divided by their L2 norms, float64.

    float64, so that the size of a block cannot show in a score rounded to float32. Raises SteleError, beginning with
    `where`, for a vector that has no direction.
    """
    wide = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    wrong = np.flatnonzero(~((norms > 0) & np.isfinite(norms)))
    if wrong.size:
        content = "only zeros" if norms[wrong[0], 0] == 0 else "a number that is not finite"
        raise SteleError(f"{where}: vector {wrong[0] + 1} of {len(wide)} holds {content}; it has no direction")
    return wide / norms


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices of 0..rows of at most BLOCK / width rows each."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))

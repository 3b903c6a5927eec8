"""Similarities of parallel sentences, cosine and cosine corrected for hubs (CSLS), and nearest neighbours by either.

Similarities are computed in blocks, never as a whole matrix of all pairs.

CSLS: Conneau et al. 2018, equation 3; facebookresearch/MUSE 3159355 src/evaluation/word_translation.py, `csls_knn_10`:
csls(x, y) = 2 cos(x, y) - r(x) - r(y), where r is the mean cosine to the k nearest vectors of the *other* language.
MUSE stops with an error where a language has fewer than k vectors, or fills up with -infinity; here k is then all of
them. The score is symmetric, the nearest is not: each direction has its own precision at 1.
"""

from collections.abc import Iterator

import numpy as np

from stele.errors import SteleError, check_known

NEIGHBOURS = 10
BLOCK = 1 << 23  # similarities held at once: 64 MiB


def l2_normalize(vectors: np.ndarray, where: str) -> np.ndarray:
    """Divides vectors [n, d] by their L2 norms; returns float64 [n, d].

    In float64 the size of a block cannot show in a score rounded to float32. Raises SteleError, with a message that
    begins with `where`, for a vector that has no direction.
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


def cosine(x: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
    """Cosines of x [n, d] and y [m, d], float64 blocks [b, m] of successive rows of x."""
    x, y = l2_normalize(x, "the side that searches"), l2_normalize(y, "the side that is searched")
    return (x[rows] @ y.T for rows in blocks(len(x), len(y)))


def csls(x: np.ndarray, y: np.ndarray, k: int = NEIGHBOURS) -> Iterator[np.ndarray]:
    """CSLS scores of x [n, d] and y [m, d], float64 blocks [b, m] of successive rows of x."""
    near_x, near_y = neighbourhoods(x, y, k)
    start = 0
    for similarities in cosine(x, y):
        rows = slice(start, start := start + len(similarities))
        yield 2 * similarities - near_x[rows, None] - near_y


def neighbourhoods(x: np.ndarray, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean cosine of each row of x and of y to its k nearest rows (at most all) of the other side: float64 [n] and [m].

    It is r in the formula of CSLS. One pass over the blocks serves both.
    """
    near_x, best = [], np.empty((0, len(y)))
    for similarities in cosine(x, y):
        near_x.append(_largest(similarities.T, k).mean(axis=0))
        best = _largest(np.concatenate((best, similarities)), k)
    return np.concatenate(near_x), best.mean(axis=0)


def _largest(values: np.ndarray, k: int) -> np.ndarray:
    """The k largest values of each column of `values` [n, m], ascending: [min(k, n), m]."""
    if len(values) > k:
        values = np.partition(values, len(values) - k, axis=0)[len(values) - k :]
    return np.sort(values, axis=0)


SIMILARITIES = {"cosine": cosine, "csls": csls}


def nearest(x: np.ndarray, y: np.ndarray, similarity: str) -> tuple[np.ndarray, np.ndarray]:
    """Index, int64 [n], and score, float32 [n], of the row of y [m, d] that is most similar to each row of x [n, d].

    Of equal scores (in float32, as in runs) the lowest index is taken. `similarity` is "cosine" or "csls"; raises
    SteleError for another one.
    """
    check_known("similarity", similarity, SIMILARITIES)
    parts = []
    for block in SIMILARITIES[similarity](x, y):
        scores = block.astype(np.float32)
        parts.append((scores.argmax(axis=1), scores.max(axis=1)))
    indices, best = zip(*parts, strict=True)
    return np.concatenate(indices), np.concatenate(best)


def accuracy(x: np.ndarray, y: np.ndarray) -> float:
    """Share of rows of x [n, d] whose nearest row of y [n, d] by cosine has their index; ties go to the lowest one."""
    indices, _ = nearest(x, y, "cosine")
    return float(np.mean(indices == np.arange(len(x))))

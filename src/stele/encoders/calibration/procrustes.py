"""The orthogonal matrix that brings some vectors nearest to others, and the one nearest to a given matrix."""

from __future__ import annotations

import numpy as np

SMALL = 1e-9  # of the norm of second^T first: below it the pairs say nothing of a direction


def procrustes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The orthogonal W [d, d] that makes the sum of |W first_i - second_i|^2 least, for rows [n, d]; float64.

    W = U V^T, with U S V^T the singular value decomposition of second^T first (Conneau et al. 2018, equation 2). Where
    the pairs do not determine W, it turns as little as it can: directions of which they say nothing stay as they are.

    >>> matrix = procrustes(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [-2.0, 0.0]]))
    >>> matrix.round().astype(int).tolist()
    [[0, -1], [1, 0]]
    """
    product = np.asarray(second, np.float64).T @ np.asarray(first, np.float64)
    return nearest_orthogonal(product / (np.linalg.norm(product) or 1.0) + SMALL * np.eye(len(product)))


def nearest_orthogonal(matrix: np.ndarray) -> np.ndarray:
    """The orthogonal matrix [d, d] nearest to a square one, float64."""
    left, _, right = np.linalg.svd(np.asarray(matrix, np.float64))
    return left @ right

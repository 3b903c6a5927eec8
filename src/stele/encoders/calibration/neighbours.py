"""Nearest neighbours by CSLS between two languages' vectors, in blocks, on any device.

The rule is that of `evaluation.similarity`, which ranks in float64; W is learnt in float32, so that a GPU can do it.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import normalize

BLOCK = 1 << 25  # similarities held at once: 128 MiB


def nearest(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """For each x [n, d] the row of its nearest y [m, d] by CSLS, and for each y that of its nearest x: int64 [n], [m].

    Of equal ones the lowest row. CSLS corrects a cosine by the mean cosines of both to their k nearest (at most all)
    of the other language.
    """
    x, y = normalize(x), normalize(y)
    near_x, near_y = _means_of_nearest(x, y, k)
    of_x, best, of_y = [], torch.full_like(near_y, -torch.inf), torch.zeros(len(y), dtype=torch.long, device=y.device)
    for start, cosines in blocks(x, y):
        rows = slice(start, start + len(cosines))
        scores = 2 * cosines - near_x[rows, None] - near_y
        of_x.append(scores.argmax(dim=1))
        values, places = scores.max(dim=0)
        of_y = torch.where(values > best, places + start, of_y)
        best = torch.maximum(best, values)
    return torch.cat(of_x), of_y


def mutual(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Rows of x [n, d] and of y [m, d] that are each other's nearest by CSLS: int64 [p] both, by the rows of x."""
    of_x, of_y = nearest(x, y, k)
    rows = torch.arange(len(x), device=x.device)
    kept = rows[of_y[of_x] == rows]
    return kept, of_x[kept]


def mean_cosine(x: Tensor, y: Tensor, k: int) -> float:
    """The mean cosine of each x [n, d] to its nearest y [m, d] by CSLS: what a W is judged by without translations.

    MUSE calls it `mean_cosine-csls_knn_10-S2T-10000` (Conneau et al. 2018, section 3.2).
    """
    of_x, _ = nearest(x, y, k)
    return float((normalize(x) * normalize(y)[of_x]).sum(dim=1).mean())


def _means_of_nearest(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The mean cosine of each x to its k nearest y, and of each y to its k nearest x: [n], [m]."""
    near_x, best = [], torch.empty((0, len(y)), device=y.device)
    for _, cosines in blocks(x, y):
        near_x.append(cosines.topk(min(k, len(y)), dim=1).values.mean(dim=1))
        best = torch.cat([best, cosines])
        best = best.topk(min(k, len(best)), dim=0).values
    return torch.cat(near_x), best.mean(dim=0)


def blocks(x: Tensor, y: Tensor) -> Iterator[tuple[int, Tensor]]:
    """(first row, cosines [b, m]) of some rows of unit vectors x with all of y."""
    size = max(1, BLOCK // max(1, len(y)))
    for start in range(0, len(x), size):
        yield start, x[start : start + size] @ y.T

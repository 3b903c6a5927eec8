"""Nearest neighbours by CSLS between two languages' vectors, in blocks, on any device.

CSLS is that of `stele.evaluation.similarity`, which ranks in float64 on a CPU. To learn a rotation it is computed in
float32. Translations are searched in float64 and compared in float32, so that the result does not depend on the device
or the size of a block, and equal texts are equal whatever else is searched.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from stele.evaluation.similarity import NEIGHBOURS, l2_normalize

BLOCK = 1 << 25  # similarities held at once: 128 MiB in float32, 256 MiB in float64


def nearest(x: Tensor, y: Tensor, k: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Finds nearest neighbours by CSLS of unit vectors: for each x [n, d] a row of y [m, d], for each y a row of x.

    Returns (rows, scores) of each side: int64 and float32, [n] and [m]. The lowest row wins ties of the float32 scores.
    CSLS corrects a cosine by both vectors' mean cosines to their k nearest neighbours (or all, if fewer) in the other
    language.
    """
    near_x, near_y = _means_of_nearest(x, y, k)
    of_x, best_x = [], []
    of_y = torch.zeros(len(y), dtype=torch.long, device=y.device)
    best_y = torch.full((len(y),), -torch.inf, device=y.device)
    for start, cosines in blocks(x, y):
        near = near_x[start : start + len(cosines), None]
        scores = cosines.mul_(2).sub_(near).sub_(near_y).float()
        values, places = scores.max(dim=1)
        best_x.append(values)
        of_x.append(places)
        values, places = scores.max(dim=0)
        of_y = torch.where(values > best_y, places + start, of_y)
        best_y = torch.maximum(best_y, values)
    return (torch.cat(of_x), torch.cat(best_x)), (of_y, best_y)


def mutual(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Rows of x [n, d] and y [m, d] that are each other's nearest by CSLS; both int64 [p], ascending in x."""
    (of_x, _), (of_y, _) = nearest(normalize(x), normalize(y), k)
    rows = torch.arange(len(x), device=x.device)
    is_mutual = of_y[of_x] == rows
    return rows[is_mutual], of_x[is_mutual]


def mean_cosine(x: Tensor, y: Tensor, k: int) -> float:
    """Mean cosine of each x [n, d] and its nearest y [m, d] by CSLS, to judge a rotation W without translations.

    MUSE calls it `mean_cosine-csls_knn_10-S2T-10000` (Conneau et al. 2018, section 3.2).
    """
    x, y = normalize(x), normalize(y)
    (of_x, _), _ = nearest(x, y, k)
    return float((x * y[of_x]).sum(dim=1).mean())


def _means_of_nearest(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Mean cosines of each x to its k nearest y, [n], and of each y to its k nearest x, [m]."""
    near_x, best = [], torch.empty((0, len(y)), dtype=y.dtype, device=y.device)
    for _, cosines in blocks(x, y):
        near_x.append(cosines.topk(min(k, len(y)), dim=1).values.mean(dim=1))
        best = torch.cat([best, cosines])
        best = best.topk(min(k, len(best)), dim=0).values
    return torch.cat(near_x), best.mean(dim=0)


def blocks(x: Tensor, y: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yields (first row, cosines [b, m]) for blocks of b rows of x with all rows of y; both are unit vectors."""
    size = max(1, BLOCK // max(1, len(y)))
    for start in range(0, len(x), size):
        yield start, x[start : start + size] @ y.T


class Nearest(NamedTuple):
    """Row of the nearest text of the other language for each text, int64 [n], and their CSLS scores, float32 [n]."""

    rows: np.ndarray
    scores: np.ndarray


def nearest_translations(
    x: np.ndarray, y: np.ndarray, device: torch.device, k: int = NEIGHBOURS
) -> tuple[Nearest, Nearest]:
    """Finds the nearest y [m, d] of each x [n, d], and vice versa; of equal float32 scores the lowest row wins.

    Raises SteleError for a vector that has no direction. The device holds both sides in float64, and blocks of 256 MiB;
    not n x m.
    """
    sides = l2_normalize(x, "the first language"), l2_normalize(y, "the second language")
    of_x, of_y = nearest(*(torch.from_numpy(side).to(device) for side in sides), k)
    return Nearest(*(part.cpu().numpy() for part in of_x)), Nearest(*(part.cpu().numpy() for part in of_y))

"""Nearest neighbours by CSLS between two languages' vectors, in blocks, on any device.

CSLS is that of `stele.evaluation.similarity`, which ranks in float64 on a CPU. `nearest` is in float32, to learn a
rotation on a GPU. `nearest_translations` is exact: float32 only chooses candidates, while the cosines to the k nearest
and the scores of the best are summed in float64. So its result does not depend on the device or the size of a block,
and equal texts are equal whatever else is searched.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from stele.evaluation.similarity import NEIGHBOURS, l2_normalize

BLOCK = 1 << 25  # similarities held at once: 128 MiB
SPARE = 8  # extra candidates, since float32 rounding may hide a true neighbour
PAIRS = 1 << 22  # numbers of candidates' vectors held at once: 32 MiB; with 256 a CPU takes three times as long


def nearest(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Finds nearest neighbours by CSLS: for each x [n, d] a row of y [m, d], for each y a row of x; int64 [n], [m].

    The lowest row wins ties. CSLS corrects a cosine by both vectors' mean cosines to their k nearest neighbours (or
    all, if fewer) in the other language.
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
    """Rows of x [n, d] and y [m, d] that are each other's nearest by CSLS; both int64 [p], ascending in x."""
    of_x, of_y = nearest(x, y, k)
    rows = torch.arange(len(x), device=x.device)
    is_mutual = of_y[of_x] == rows
    return rows[is_mutual], of_x[is_mutual]


def mean_cosine(x: Tensor, y: Tensor, k: int) -> float:
    """Mean cosine of each x [n, d] and its nearest y [m, d] by CSLS, to judge a rotation W without translations.

    MUSE calls it `mean_cosine-csls_knn_10-S2T-10000` (Conneau et al. 2018, section 3.2).
    """
    of_x, _ = nearest(x, y, k)
    return float((normalize(x) * normalize(y)[of_x]).sum(dim=1).mean())


def _means_of_nearest(x: Tensor, y: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Mean cosines of each x to its k nearest y, [n], and of each y to its k nearest x, [m]."""
    near_x, best = [], torch.empty((0, len(y)), device=y.device)
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

    Raises SteleError for a vector that has no direction. The device holds both sides in float64 and in float32, and
    blocks of 128 MiB (of 256 where many texts are alike); not n x m.
    """
    sides = l2_normalize(x, "the first language"), l2_normalize(y, "the second language")
    exact = [torch.from_numpy(side).to(device) for side in sides]
    # the mean cosine of each text to its k nearest of the other side
    near = []
    for side, places in enumerate(_candidates(*exact, k + SPARE)):
        cosines = _cosines(exact[side], exact[1 - side], places)
        near.append(cosines.topk(min(k, places.shape[1]), dim=1).values.mean(dim=1))
    # the best of each side by CSLS
    best = []
    for side, places in enumerate(_candidates(*exact, 1 + SPARE, *near)):
        x, y, near_x, near_y = exact[side], exact[1 - side], near[side], near[1 - side]
        scores = 2 * _cosines(x, y, places) - near_x[:, None] - near_y[places]
        values, columns = scores.float().max(dim=1)  # ties: the first, that is the lowest row
        rows = places.gather(1, columns[:, None])[:, 0]
        # if all candidates score alike, a text outside them may be nearest
        if places.shape[1] < len(y):
            unsure = torch.nonzero(scores.amin(dim=1) >= scores.amax(dim=1) - _margin(x.shape[1]))[:, 0]
            for start, cosines in blocks(x[unsure], y):
                part = unsure[start : start + len(cosines)]
                values[part], rows[part] = (2 * cosines - near_x[part, None] - near_y).float().max(dim=1)
        best.append(Nearest(rows.cpu().numpy(), values.cpu().numpy()))
    return best[0], best[1]


def _margin(dimension: int) -> float:
    """Largest float64 difference of two CSLS scores of unit vectors whose order float32 may reverse.

    The error of a float32 inner product grows like a random walk; 4 sqrt(d) units in the last place are rarely reached.
    """
    return 4 * (4 * dimension**0.5 + 4) * 2.0**-24


def _candidates(x: Tensor, y: Tensor, count: int, *near: Tensor) -> tuple[Tensor, Tensor]:
    """Rows, ascending, of the `count` nearest y of each x, int64 [n, count], and nearest x of each y, [m, count].

    `count` is at most the number of texts. Nearness is by cosine, or by CSLS if both sides' mean cosines `near` are
    given.
    """
    x, y = x.float(), y.float()
    near_x, near_y = (mean.float() for mean in near) if near else (None, None)
    of_x = []
    best = torch.empty((0, len(y)), device=y.device)
    of_y = torch.empty((0, len(y)), dtype=torch.long, device=y.device)
    for start, scores in blocks(x, y):
        if near:
            scores.mul_(2).sub_(near_x[start : start + len(scores), None]).sub_(near_y)
        of_x.append(scores.topk(min(count, len(y)), dim=1).indices)
        values, places = scores.topk(min(count, len(scores)), dim=0)
        best, of_y = torch.cat([best, values]), torch.cat([of_y, places + start])
        best, order = best.topk(min(count, len(best)), dim=0)
        of_y = of_y.gather(0, order)
    return torch.cat(of_x).sort(dim=1).values, of_y.T.sort(dim=1).values


def _cosines(x: Tensor, y: Tensor, places: Tensor) -> Tensor:
    """Cosines of each x [n, d] with the rows `places` [n, c] of y, both unit vectors; float64 [n, c]."""
    size = max(1, PAIRS // (places.shape[1] * x.shape[1]))
    parts = range(0, len(x), size)
    return torch.cat([(y[places[i : i + size]] @ x[i : i + size, :, None])[..., 0] for i in parts])

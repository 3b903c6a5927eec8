"""The nearest of each text among those of another language by CSLS, on any device, exactly.

The rule is that of `evaluation.similarity`, which ranks in float64 and on a CPU. Here all pairs are compared in
float32 and in blocks, so that a GPU can do it, and this chooses candidates alone; what decides, the cosines to the k
nearest and the scores of the best, is summed in float64. So neither the device nor the size of a block shows in a
result, and texts of one vector are equal whatever stands beside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from stele.encoders.calibration.neighbours import blocks
from stele.evaluation.similarity import NEIGHBOURS, l2_normalize

SPARE = 8  # candidates besides those that are wanted: so many may lie within float32's rounding of one another
PAIRS = 1 << 22  # numbers of candidates' vectors held at once: 32 MiB; with 256 a CPU takes three times as long


class Nearest(NamedTuple):
    """For each text of one side [n] the row of its nearest on the other, int64, and their CSLS, float32."""

    rows: np.ndarray
    scores: np.ndarray


def nearest_translations(
    x: np.ndarray, y: np.ndarray, device: torch.device, k: int = NEIGHBOURS
) -> tuple[Nearest, Nearest]:
    """Of each x [n, d] its nearest y [m, d], and of each y its nearest x; of equal ones, in float32, the lowest row.

    SteleError for a vector that has no direction. On the device are both sides in float64 and in float32, and blocks of
    128 MiB; not n x m.
    """
    sides = l2_normalize(x, "the first language"), l2_normalize(y, "the second language")
    exact = [torch.from_numpy(side).to(device) for side in sides]
    near = [
        _cosines(*pair, places).topk(min(k, places.shape[1]), dim=1).values.mean(dim=1)
        for pair, places in zip(_both_ways(exact), _candidates(*exact, k + SPARE), strict=True)
    ]
    best = []
    for pair, (own, other), places in zip(
        _both_ways(exact), _both_ways(near), _candidates(*exact, 1 + SPARE, *near), strict=True
    ):
        scores = (2 * _cosines(*pair, places) - own[:, None] - other[places]).float()
        values, columns = scores.max(dim=1)  # of equals the first, and so the lowest row
        best.append(Nearest(places.gather(1, columns[:, None])[:, 0].cpu().numpy(), values.cpu().numpy()))
    return best[0], best[1]


def _both_ways(pair: list[Tensor]) -> list[tuple[Tensor, Tensor]]:
    return [(pair[0], pair[1]), (pair[1], pair[0])]


def _candidates(x: Tensor, y: Tensor, count: int, *near: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of the `count` (at most all) y that are nearest to each x [n, count], and of the x for each y [m, count].

    Nearest by cosine; by CSLS where the means `near` of both sides are given. Each row's are in rising order.
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
        best, kept = best.topk(min(count, len(best)), dim=0)
        of_y = of_y.gather(0, kept)
    return torch.cat(of_x).sort(dim=1).values, of_y.T.sort(dim=1).values


def _cosines(x: Tensor, y: Tensor, places: Tensor) -> Tensor:
    """The cosines of each x [n, d] to the y of `places` [n, c], of unit vectors in float64: [n, c]."""
    size = max(1, PAIRS // (places.shape[1] * x.shape[1]))
    parts = range(0, len(x), size)
    return torch.cat([(y[places[i : i + size]] @ x[i : i + size, :, None])[..., 0] for i in parts])

"""Why a rotation brings sentences to their translations, or does not; outside the tables.

W is learnt without translations; beside it one is learnt, by Procrustes, from half of a benchmark's pairs. Both are
scored on the other half.
"""

from __future__ import annotations

import math
from typing import Literal, TypedDict

import numpy as np

from stele.encoders.calibration.procrustes import procrustes
from stele.errors import SteleError
from stele.evaluation.similarity import accuracy
from stele.training.sampling import generator

ISOMORPHIC = 0.5  # accuracy of the W from translations below which there is no rotation to be found
LEAST = 20  # pairs

Verdict = Literal["found", "not found", "not isomorphic"]


class Diagnosis(TypedDict):
    """Accuracies (cosine, both directions) of the held-out pairs with no W, the W learnt without translations, and the
    one from translations; and what follows."""

    pairs: int
    held_out: int
    unrotated: float
    rotated: float
    from_translations: float
    verdict: Verdict


def diagnose(first: np.ndarray, second: np.ndarray, rotation: np.ndarray, seed: int, where: str) -> Diagnosis:
    """The diagnosis of a pair of languages from vectors [n, d] of its translations, shifted and scaled, and its W.

    Which half is held out is drawn by the seed. Fewer than LEAST pairs are an error that begins with `where`.
    """
    if len(first) != len(second) or len(first) < LEAST:
        raise SteleError(
            f"{where}: {len(first)} and {len(second)} sentences; want {LEAST} pairs at least, as many each"
        )
    order = generator(seed, "diagnosis", where).permutation(len(first))
    learnt, held = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    matrices = {
        "unrotated": np.eye(first.shape[1]),
        "rotated": rotation,
        "from_translations": procrustes(first[learnt], second[learnt]),
    }
    accuracies = {name: both_directions(first[held] @ matrix.T, second[held]) for name, matrix in matrices.items()}
    rotated, best = accuracies["rotated"], accuracies["from_translations"]
    return Diagnosis(pairs=len(first), held_out=len(held), **accuracies, verdict=verdict(rotated, best, len(held)))


def both_directions(first: np.ndarray, second: np.ndarray) -> float:
    """How many of the rows [n, d] have their counterpart nearest by cosine, the mean of both directions."""
    return float(np.mean([accuracy(first, second), accuracy(second, first)]))


def verdict(rotated: float, from_translations: float, held_out: int) -> Verdict:
    """What the accuracies of both W say; within two standard errors they are alike.

    >>> verdict(0.62, 0.65, 500), verdict(0.04, 0.65, 500), verdict(0.03, 0.35, 500)
    ('found', 'not found', 'not isomorphic')
    """
    error = math.sqrt(from_translations * (1 - from_translations) / held_out)
    if from_translations < ISOMORPHIC and rotated < ISOMORPHIC:
        return "not isomorphic"
    return "found" if rotated >= from_translations - 2 * error else "not found"

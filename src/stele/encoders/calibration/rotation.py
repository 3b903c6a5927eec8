"""The rotation of a pair of languages, learnt from vectors of both that do not translate each other.

A start (the identity, and by default an adversarial search from there), then Procrustes solutions over the pairs of
vectors that are each other's nearest by CSLS; of all W on the way the one is kept with the highest mean cosine of each
vector to its nearest (Conneau et al. 2018; facebookresearch/MUSE 0ca12a0, `unsupervised.py`). Other than there, the
identity counts as well: two languages of one encoder share their coordinates. And neighbours are sought among the first
vectors of both languages, in no order of frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stele.encoders.calibration.adversarial import Adversarial
from stele.encoders.calibration.neighbours import mean_cosine, mutual
from stele.encoders.calibration.procrustes import nearest_orthogonal, procrustes
from stele.errors import SteleError
from stele.recipes.calibration import RotationRecipe
from stele.training import saved_state

FLAT = 1e-10  # of the largest variance in any direction: below it there is none


class Rotation:
    """The best W of a pair so far, float64 [d, d], and what each one was worth."""

    def __init__(self, first: np.ndarray, second: np.ndarray, recipe: RotationRecipe, device: str) -> None:
        self.sides = [torch.from_numpy(np.asarray(side, np.float32)).to(device) for side in (first, second)]
        self.recipe, self.matrix = recipe, np.eye(first.shape[1])
        self.criteria: list[dict[str, Any]] = []
        self.consider("identity", self.matrix)

    def consider(self, name: str, matrix: np.ndarray) -> float:
        """Judges a W, which is kept if it is the best; returns its criterion."""
        first, second = (side[: self.recipe.criterion_vectors] for side in self.sides)
        criterion = round(mean_cosine(self.turned(first, matrix), second, self.recipe.neighbours), 6)
        if criterion > max((one["criterion"] for one in self.criteria), default=-np.inf):
            self.matrix = matrix
        self.criteria.append({"matrix": name, "criterion": criterion})
        return criterion

    def turned(self, vectors: torch.Tensor, matrix: np.ndarray) -> torch.Tensor:
        return vectors @ torch.from_numpy(matrix).to(vectors).T

    def refine(self) -> None:
        """Procrustes solutions, one from the neighbours that the one before it makes; the first from the best W."""
        matrix = self.matrix
        first, second = (side[: self.recipe.refinement_vectors] for side in self.sides)
        for number in range(1, self.recipe.refinements + 1):
            pairs = mutual(self.turned(first, matrix), second, self.recipe.neighbours)
            chosen = [side[rows].cpu().numpy() for side, rows in zip((first, second), pairs, strict=True)]
            matrix = procrustes(*chosen)
            self.consider(f"refinement {number}", matrix)
            self.criteria[-1]["mutual_neighbours"] = len(chosen[0])

    def facts(self) -> dict[str, Any]:
        """What a record says of it."""
        best = max(self.criteria, key=lambda one: one["criterion"])
        return {"kept": best["matrix"], "criterion": best["criterion"], "criteria": self.criteria}


def learn_rotation(
    first: np.ndarray,
    second: np.ndarray,
    recipe: RotationRecipe,
    seed: int,
    pair: str,
    *,
    device: str = "cpu",
    state: Path | None = None,
    watch: Callable[[int], Any] = lambda epoch: None,
) -> Rotation:
    """The rotation of `pair` ("de-en") from vectors [n, d] and [m, d] of its languages, shifted and scaled.

    W turns the first language's vectors into the second's space. `state` is the folder from which a run that was killed
    goes on, after its last whole epoch; `watch` is told of epochs. SteleErrors name the pair's language whose vectors
    are too few, singular or not finite.
    """
    for language, side in zip(pair.split("-"), (first, second), strict=True):
        _refuse_singular(np.asarray(side, np.float64)[: recipe.refinement_vectors], f"{pair}: {language}")
    rotation = Rotation(first, second, recipe, device)
    if recipe.start == "adversarial":
        search = Adversarial(*rotation.sides, recipe, (seed, "rotation", pair))
        if state is not None and (saved := saved_state.load(state, rotation.sides[0].device)):
            search.load_state_dict(saved["search"])
            rotation.matrix, rotation.criteria = saved["matrix"].cpu().numpy(), saved["criteria"]
        while search.epoch < recipe.epochs:
            matrix = nearest_orthogonal(search.run_epoch().cpu().numpy())
            search.judge(rotation.consider(f"adversarial epoch {search.epoch}", matrix))
            if state is not None:
                kept = {"matrix": torch.from_numpy(rotation.matrix), "criteria": rotation.criteria}
                saved_state.save(state, {"search": search.state_dict(), **kept})
            watch(search.epoch)
    rotation.refine()
    return rotation


def _refuse_singular(vectors: np.ndarray, where: str) -> None:
    """Refuses vectors [n, d] that do not spread over the space that is to be turned.

    One direction may be missing: the last normalisation of a transformer's layer takes one away.
    """
    count, dimension = vectors.shape
    if not np.isfinite(vectors).all():
        raise SteleError(f"{where}: vectors that are not finite; encode again with precision: float32")
    if count < dimension:
        raise SteleError(f"{where}: {count} vectors are too few to turn {dimension} dimensions; want more sentences")
    centred = vectors - vectors.mean(axis=0)
    variances = np.linalg.eigvalsh(centred.T @ centred)
    rank = int(np.count_nonzero(variances > FLAT * variances[-1]))
    if rank < dimension - 1:
        raise SteleError(
            f"{where}: vectors are singular, they spread over {rank} of {dimension} directions: the encoder has "
            "collapsed, or its texts are too much alike"
        )

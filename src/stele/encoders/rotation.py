"""Rotation of a pair of languages, learnt from vectors of both languages that are not translations of each other.

Learning starts from the identity, by default with an adversarial search, and goes on with Procrustes solutions over the
pairs of vectors that are each other's nearest by CSLS. Of all these matrices W it keeps the one with the highest mean
cosine of each vector to its nearest (Conneau et al. 2018; facebookresearch/MUSE 0ca12a0, `unsupervised.py`). It differs
from MUSE in two things: the identity is a candidate too, since two languages of one encoder share their coordinates;
and neighbours are searched among the first vectors of both languages, which are in no order of frequency.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from stele.encoders.calibration import MOST_DEAD
from stele.encoders.neighbours import mean_cosine, mutual
from stele.errors import SteleError
from stele.recipes.search import RotationRecipe
from stele.training import saved_state
from stele.training.sampling import derive
from stele.training.saved_state import State

FLAT = 1e-10  # share of the largest variance below which a direction has no variance
SMALL = 1e-9  # share of the norm of second^T first below which the pairs do not determine a direction
SLOPE = 0.2  # of the leaky ReLU


class Rotation:
    """Best rotation W of a pair so far (`matrix`, float64 [d, d]), and the criteria of all W considered."""

    def __init__(self, first: np.ndarray, second: np.ndarray, recipe: RotationRecipe, device: str) -> None:
        self.sides = [torch.from_numpy(np.asarray(side, np.float32)).to(device) for side in (first, second)]
        self.recipe, self.matrix = recipe, np.eye(first.shape[1])
        self.criteria: list[dict[str, Any]] = []
        self.consider("identity", self.matrix)

    def consider(self, name: str, matrix: np.ndarray) -> float:
        """Keeps a matrix W [d, d] if its criterion is the highest so far; returns the criterion."""
        first, second = (side[: self.recipe.criterion_vectors] for side in self.sides)
        criterion = round(mean_cosine(self.turned(first, matrix), second, self.recipe.neighbours), 6)
        if criterion > max((judged["criterion"] for judged in self.criteria), default=-np.inf):
            self.matrix = matrix
        self.criteria.append({"matrix": name, "criterion": criterion})
        return criterion

    def turned(self, vectors: torch.Tensor, matrix: np.ndarray) -> torch.Tensor:
        return vectors @ torch.from_numpy(matrix).to(vectors).T

    def refine(self) -> None:
        """Considers Procrustes solutions, each from the neighbours under the one before, the first under the best W."""
        matrix = self.matrix
        first, second = (side[: self.recipe.refinement_vectors] for side in self.sides)
        for number in range(1, self.recipe.refinements + 1):
            pairs = mutual(self.turned(first, matrix), second, self.recipe.neighbours)
            chosen = [side[rows].cpu().numpy() for side, rows in zip((first, second), pairs, strict=True)]
            matrix = procrustes(*chosen)
            self.consider(f"refinement {number}", matrix)
            self.criteria[-1]["mutual_neighbours"] = len(chosen[0])

    def facts(self) -> dict[str, Any]:
        """Facts for a record: the name and the criterion of the best W, and the criteria of all W."""
        best = max(self.criteria, key=lambda judged: judged["criterion"])
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
    """Learns the rotation of `pair` ("de-en") from its languages' shifted and scaled vectors, [n, d] and [m, d].

    W maps the first language's vectors to the second's space. `state` is the folder from which a killed run resumes
    after its last whole epoch; `watch` is called with the number of each epoch. Raises SteleError, with the language,
    for vectors that are too few, singular or not finite.
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
                best = {"matrix": torch.from_numpy(rotation.matrix), "criteria": rotation.criteria}
                saved_state.save(state, {"search": search.state_dict(), **best})
            watch(search.epoch)
    rotation.refine()
    return rotation


def _refuse_singular(vectors: np.ndarray, where: str) -> None:
    """Raises SteleError for vectors [n, d] that do not spread over nearly all directions of the space.

    Some directions may be missing: a transformer's last normalisation removes one, and coordinates may be constant.
    """
    count, dimension = vectors.shape
    if not np.isfinite(vectors).all():
        raise SteleError(f"{where}: some vectors are not finite; encode again with precision: float32")
    if count < dimension:
        raise SteleError(f"{where}: {count} vectors are too few to rotate {dimension} dimensions; give more sentences")
    centred = vectors - vectors.mean(axis=0)
    variances = np.linalg.eigvalsh(centred.T @ centred)
    rank = int(np.count_nonzero(variances > FLAT * variances[-1]))
    if dimension - rank > max(1, MOST_DEAD * dimension):
        raise SteleError(
            f"{where}: vectors are singular, since they span {rank} of {dimension} directions: the encoder has "
            "collapsed, or its texts are too similar"
        )


def procrustes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Finds the orthogonal W, float64 [d, d], that minimises the sum of |W first_i - second_i|^2 over rows [n, d].

    W = U V^T, with U S V^T the singular value decomposition of second^T first (Conneau et al. 2018, equation 2).
    W leaves directions that the pairs do not determine unchanged.

    >>> matrix = procrustes(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [-2.0, 0.0]]))
    >>> matrix.round().astype(int).tolist()
    [[0, -1], [1, 0]]
    """
    product = np.asarray(second, np.float64).T @ np.asarray(first, np.float64)
    return nearest_orthogonal(product / (np.linalg.norm(product) or 1.0) + SMALL * np.eye(len(product)))


def nearest_orthogonal(matrix: np.ndarray) -> np.ndarray:
    """Finds the orthogonal matrix, float64 [d, d], that is nearest to a square matrix."""
    left, _, right = np.linalg.svd(np.asarray(matrix, np.float64))
    return left @ right


def new_discriminator(dimension: int, recipe: RotationRecipe) -> nn.Module:
    """Makes a network that maps vectors [n, d] to logits [n] of belonging to the first language."""
    layers: list[nn.Module] = []
    for pair in pairwise([dimension, *[recipe.discriminator_width] * recipe.discriminator_layers, 1]):
        layers += [nn.Linear(*pair), nn.LeakyReLU(SLOPE)]
    return nn.Sequential(*layers[:-1], nn.Flatten(0))


class Adversarial:
    """Adversarial search for a W that makes one language's vectors indistinguishable from the other's.

    Conneau et al. 2018, section 2.1, with the values of facebookresearch/MUSE 0ca12a0 (`src/trainer.py`): a
    discriminator learns to tell a vector's language, and W to deceive it, both by SGD; after each step W moves towards
    an orthogonal matrix. An epoch depends only on its key and its start, so that a run can resume after any epoch.
    """

    def __init__(self, first: Tensor, second: Tensor, recipe: RotationRecipe, key: tuple[int | str, ...]) -> None:
        self.first, self.second, self.recipe, self.key, self.epoch = first, second, recipe, key, 0
        dimension, device = first.shape[1], first.device
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(*key, "discriminator"))
            self.discriminator = new_discriminator(dimension, recipe).to(device)
        self.mapping = torch.eye(dimension, device=device, requires_grad=True)
        self.rate, self.best, self.fallen = recipe.learning_rate, float("-inf"), False

    def run_epoch(self) -> Tensor:
        """Trains for an epoch and returns W [d, d], nearly orthogonal. Raises SteleError for a W that is not finite."""
        draws = torch.Generator(self.first.device).manual_seed(derive(*self.key, "epoch", self.epoch))
        discriminating = torch.optim.SGD(self.discriminator.parameters(), self.recipe.learning_rate)
        mapping = torch.optim.SGD([self.mapping], self.rate)
        for _ in range(-(-self.recipe.epoch_vectors // self.recipe.batch)):
            for _ in range(self.recipe.discriminator_steps):
                with torch.no_grad():
                    vectors, share = self._batch(draws), self.recipe.input_dropout
                    mask = torch.rand(vectors.shape, generator=draws, device=vectors.device) >= share
                    vectors = vectors * mask / (1 - share)  # as dropout does
                _step(discriminating, self._loss(vectors, deceive=False))
            _step(mapping, self._loss(self._batch(draws), deceive=True))
            with torch.no_grad():
                w, beta = self.mapping, self.recipe.beta
                w.copy_((1 + beta) * w - beta * w @ (w.T @ w))
        self.epoch += 1
        if not torch.isfinite(self.mapping).all():
            raise SteleError(
                f"{self.key[-1]}: the adversarial start diverged in epoch {self.epoch}: W is not finite; "
                "give the recipe's rotation a smaller learning_rate, or start: identity"
            )
        return self.mapping.detach().clone()

    def judge(self, criterion: float) -> None:
        """Decays the learning rate, and shrinks it more from the second time on that W is not the best so far."""
        self.rate *= self.recipe.decay
        if criterion < self.best:
            self.rate *= self.recipe.shrink if self.fallen else 1.0
            self.fallen = True
        self.best = max(self.best, criterion)

    def _batch(self, draws: torch.Generator) -> Tensor:
        """Draws vectors [2 b, d]: b of the first language, rotated by W, then b of the second."""
        first, second = (
            side[torch.randint(len(side), (self.recipe.batch,), generator=draws, device=side.device)]
            for side in (self.first, self.second)
        )
        return torch.cat([first @ self.mapping.T, second])

    def _loss(self, vectors: Tensor, deceive: bool) -> Tensor:
        targets = torch.full((len(vectors),), self.recipe.smoothing, device=vectors.device)
        targets[: self.recipe.batch] = 1 - self.recipe.smoothing
        return binary_cross_entropy_with_logits(self.discriminator(vectors), 1 - targets if deceive else targets)

    def state_dict(self) -> State:
        numbers = {"epoch": self.epoch, "rate": self.rate, "best": self.best, "fallen": self.fallen}
        return {"mapping": self.mapping.detach(), "discriminator": self.discriminator.state_dict(), **numbers}

    def load_state_dict(self, state: State) -> None:
        self.discriminator.load_state_dict(state["discriminator"])
        with torch.no_grad():
            self.mapping.copy_(state["mapping"])
        self.epoch, self.rate, self.best, self.fallen = (state[k] for k in ("epoch", "rate", "best", "fallen"))


def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()

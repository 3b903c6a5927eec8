"""The adversarial start of a rotation: W makes one language's vectors indistinguishable from the other's.

Conneau et al. 2018, section 2.1, with the values of facebookresearch/MUSE 0ca12a0 (`src/trainer.py`): a discriminator
learns which language a vector is of, W to deceive it, both by SGD; after each of its steps W goes towards an orthogonal
matrix. What an epoch does is a function of its key and of where it begins, so a run goes on from any epoch's end.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, leaky_relu

from stele.errors import SteleError
from stele.recipes.calibration import RotationRecipe
from stele.training.sampling import derive
from stele.training.saved_state import State

SLOPE = 0.2  # of the leaky ReLU


class Discriminator(nn.Module):
    """Vectors [n, d] -> logits [n] of being of the first language."""

    def __init__(self, dimension: int, recipe: RotationRecipe) -> None:
        super().__init__()
        widths = [dimension, *[recipe.discriminator_width] * recipe.discriminator_layers, 1]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))

    def forward(self, vectors: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            vectors = leaky_relu(layer(vectors), SLOPE)
        return self.layers[-1](vectors).squeeze(1)


class Adversarial:
    """W [d, d] and its discriminator between two epochs."""

    def __init__(self, first: Tensor, second: Tensor, recipe: RotationRecipe, key: tuple[int | str, ...]) -> None:
        self.first, self.second, self.recipe, self.key, self.epoch = first, second, recipe, key, 0
        dimension, device = first.shape[1], first.device
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(*key, "discriminator"))
            self.discriminator = Discriminator(dimension, recipe).to(device)
        self.mapping = torch.eye(dimension, device=device, requires_grad=True)
        self.rate, self.best, self.fallen = recipe.learning_rate, float("-inf"), False

    def run_epoch(self) -> Tensor:
        """Trains for an epoch and returns W, about orthogonal."""
        draws = torch.Generator(self.first.device).manual_seed(derive(*self.key, "epoch", self.epoch))
        discriminating = torch.optim.SGD(self.discriminator.parameters(), self.recipe.learning_rate)
        mapping = torch.optim.SGD([self.mapping], self.rate)
        for _ in range(-(-self.recipe.epoch_vectors // self.recipe.batch)):
            for _ in range(self.recipe.discriminator_steps):
                with torch.no_grad():
                    vectors = self._batch(draws)
                    vectors = _dropped(vectors, self.recipe.input_dropout, draws)
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
        """Sets the learning rate of the next epoch by how good W is now."""
        self.rate *= self.recipe.decay
        if criterion < self.best:
            self.rate *= self.recipe.shrink if self.fallen else 1.0
            self.fallen = True
        self.best = max(self.best, criterion)

    def _batch(self, draws: torch.Generator) -> Tensor:
        """Vectors drawn anew [2 b, d], those of the first language turned by W and first."""
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
        """What a run goes on from."""
        numbers = {"epoch": self.epoch, "rate": self.rate, "best": self.best, "fallen": self.fallen}
        return {"mapping": self.mapping.detach(), "discriminator": self.discriminator.state_dict(), **numbers}

    def load_state_dict(self, state: State) -> None:
        self.discriminator.load_state_dict(state["discriminator"])
        with torch.no_grad():
            self.mapping.copy_(state["mapping"])
        self.epoch, self.rate, self.best, self.fallen = (state[k] for k in ("epoch", "rate", "best", "fallen"))


def _dropped(vectors: Tensor, share: float, draws: torch.Generator) -> Tensor:
    """Vectors with a share of their numbers set to 0, the others larger for it."""
    kept = torch.rand(vectors.shape, generator=draws, device=vectors.device) >= share
    return vectors * kept / (1 - share)


def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()

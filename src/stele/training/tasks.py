"""From stores to losses: the groups of every optimiser step, main objective and MLM side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from stele.registry import load_named
from stele.training.device import Place
from stele.training.flops import Shape
from stele.training.masking import Vocabulary
from stele.training.recipe import OBJECTIVES, PretrainingRecipe
from stele.training.sampling import Sampler, generator, kind_of
from stele.training.store import Flat, Store

MLM = "mlm"
COUNTED = ("duplicates", "vectors")  # what a batch says of itself, added up over the run


class Objective(Protocol):
    """What a task asks of an objective: a module of training.objectives has it, and more."""

    def examples(self, recipe: Any) -> int: ...

    def batch(self, flat: Flat, words: Vocabulary, recipe: Any, language: str, rng: Any) -> dict[str, Any]: ...

    def flops(self, batch: Mapping[str, Any], recipe: Any, shape: Shape) -> float: ...


class Task:
    """One objective with its stores: makes the n-th group of its kind."""

    def __init__(
        self,
        name: str,
        objective: Objective | ModuleType,
        recipe: PretrainingRecipe,
        stores: Mapping[str, Store],
        words: Vocabulary,
        seed: int,
    ) -> None:
        self.name, self.objective, self.recipe = name, objective, recipe
        self.stores, self.words, self.seed = stores, words, seed
        self.sampler = Sampler(
            {language: len(store) for language, store in stores.items()},
            objective.examples(recipe),
            recipe.steps * recipe.groups,
            recipe.sampling_alpha,
            seed,
            self.name,
        )

    def batch(self, n: int) -> dict[str, Any]:
        """The arrays of the n-th group: a function of (seed, n)."""
        language, indices = self.sampler.group(n)
        flat = self.stores[language].take(np.sort(indices))  # sorted: read the file forwards; order is no information
        rng = generator(self.seed, self.name, "noise", n)
        return self.objective.batch(flat, self.words, self.recipe, language, rng)


class Pretraining(nn.Module):
    """The model and what every task adds to it."""

    def __init__(self, model: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.model, self.heads = model, nn.ModuleDict(heads)

    def forward(self, task: str, batch: Mapping[str, Any]) -> Tensor:
        """The mean loss of one group."""
        return self.heads[task](self.model, batch)


def objectives(recipe: PretrainingRecipe) -> dict[str, ModuleType]:
    """The objectives a recipe trains with: its own, and MLM beside it."""
    names = [recipe.objective]
    if recipe.objective != MLM and recipe.mlm_share > 0:
        names.append(MLM)
    return {name: load_named(OBJECTIVES, name, "objective") for name in names}


def stores_read(recipe: PretrainingRecipe) -> set[str]:
    """The mining methods whose examples a recipe reads, those of a recipe that it is to equal in compute among them."""
    other = recipe.to_equal()
    found = [*objectives(recipe).values(), *(objectives(other).values() if other else ())]
    return {objective.STORE for objective in found}


def new_tasks(
    recipe: PretrainingRecipe, stores: Mapping[str, Mapping[str, Store]], words: Vocabulary, seed: int
) -> dict[str, Task]:
    """The tasks of a recipe by the names of their objectives."""
    return {name: Task(name, o, recipe, stores[o.STORE], words, seed) for name, o in objectives(recipe).items()}


def losses(
    tasks: Mapping[str, Task], module: Pretraining, recipe: PretrainingRecipe, place: Place, shape: Shape
) -> Callable[[int], Iterator[dict[str, Any]]]:
    """`loss_at` for the training loop: the groups of a step that are this process's.

    Each group counts as its mean loss, so the step's loss is their mean: the sum of equation 3 of MSM with the two
    terms in the ratio of their batches, as the released code has it (criterions/masked_lm_msm.py scales a contrastive
    batch to weigh as much as an MLM batch). Group j is an MLM batch where `kind_of` says so. Groups, their vectors and
    duplicates, and the operations of all are counted.
    """
    own = next((name for name in tasks if name != MLM), MLM)

    def loss_at(step: int) -> Iterator[dict[str, Any]]:
        for i in range(place.rank, recipe.groups, place.world):
            j = step * recipe.groups + i
            second, n = kind_of(j, recipe.mlm_share) if len(tasks) > 1 else (False, j)
            task = tasks[MLM if second else own]
            made = task.batch(n)
            counts = {f"{name}_{task.name}": made.pop(name) for name in COUNTED if name in made}
            counts |= {f"groups_{task.name}": 1, "flops": round(task.objective.flops(made, recipe, shape))}
            yield {task.name: (module(task.name, to_device(made, place.device)), 1 / recipe.groups), **counts}

    return loss_at


def to_device(batch: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    """Arrays become tensors on the device; everything else stays as it is."""
    return {
        name: torch.from_numpy(value).to(device, non_blocking=True) if isinstance(value, np.ndarray) else value
        for name, value in batch.items()
    }

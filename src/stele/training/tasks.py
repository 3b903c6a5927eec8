"""From stores to losses: the groups of every optimiser step, an objective's tasks in turn and MLM beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from stele.recipes.flops import Shape
from stele.recipes.pretraining import MLM, PretrainingRecipe
from stele.training.curve import Figure
from stele.training.loop import MicroBatches, Named
from stele.training.masking import Vocabulary
from stele.training.objectives import Objective
from stele.training.objectives.mlm import MaskedLanguageModelling
from stele.training.processes import ProcessContext, to_device
from stele.training.sampling import (
    Batch,
    Group,
    MixedSampler,
    RoundSampler,
    Sampler,
    Sampling,
    derive,
    generator,
    kind_of,
)
from stele.training.sharding import divide
from stele.training.store import Store

COUNTED = ("duplicates", "hard_negatives", "vectors")  # what a batch says of itself, added up over the run
SAMPLERS = {"one_language": Sampler, "all_languages": MixedSampler, "rounds": RoundSampler}


class Task:
    """One task of a recipe with the stores of its parts: makes the n-th group of its kind."""

    def __init__(
        self, name: str, objective: Objective, stores: Mapping[str, Store], vocabulary: Vocabulary, seed: int
    ) -> None:
        self.name, self.objective = name, objective
        self.stores, self.vocabulary, self.seed = stores, vocabulary, seed
        recipe = objective.recipe
        sampling = Sampling(
            sizes={part: len(store) for part, store in stores.items()},
            group=recipe.examples(name),
            groups=recipe.steps * recipe.groups,
            alpha=recipe.sampling_alpha,
            seed=seed,
            name=name,
            in_all={part: store.in_all for part, store in stores.items()},
        )
        self.sampler = SAMPLERS[recipe.mixing](sampling)

    def batch(self, n: int) -> Batch:
        """The arrays of the n-th group: a function of (seed, n)."""
        # sorted: read the files forwards; order is no information
        group = Group(n, [(part, np.sort(indices)) for part, indices in self.sampler.draw(n)])
        rng = generator(self.seed, self.name, "noise", n)
        examples = self.objective.take(self.stores, group, rng)
        return self.objective.batch(examples, self.vocabulary, group, rng)


class Pretraining(nn.Module):
    """The model before the first step, and the heads of every task; their weights are a function of the seed."""

    def __init__(self, model: nn.Module, objectives: Mapping[str, Objective], seed: int) -> None:
        super().__init__()
        self.model, self.objectives = model, objectives
        heads = {}
        with torch.random.fork_rng(devices=[]):
            for task, objective in objectives.items():
                torch.manual_seed(derive(seed, "initial weights", task))
                heads[task] = objective.heads(model)
        self.heads = nn.ModuleDict(heads)

    def forward(self, task: str, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """The mean loss of one group, which several processes may share."""
        return self.objectives[task].loss(self.heads[task], self.model, batch, processes)

    def figures(self, task: str) -> dict[str, Tensor]:
        """The task's figures of its last group, as the curve names them."""
        return {f"{task}_{name}": value for name, value in self.objectives[task].figures.items()}

    def after_step(self, process: ProcessContext) -> None:
        """Updates the tasks' heads between two steps."""
        for task, objective in self.objectives.items():
            objective.after_step(self.heads[task], self.model, process)

    def kept_weights(self) -> dict[str, Mapping[str, Tensor]]:
        """task -> the weights that it keeps beside the encoder."""
        return {task: objective.kept_weights(self.heads[task]) for task, objective in self.objectives.items()}


def new_objectives(recipe: PretrainingRecipe) -> dict[str, Objective]:
    """task -> its objective: the recipe's own tasks, and MLM beside them."""
    objectives = {task: recipe.new_objective(task) for task in recipe.own_tasks()}
    if recipe.mlm_beside:
        objectives[MLM] = MaskedLanguageModelling(recipe)
    return objectives


def new_tasks(
    recipe: PretrainingRecipe, stores: Mapping[str, Mapping[str, Store]], vocabulary: Vocabulary, seed: int
) -> dict[str, Task]:
    """The tasks of a recipe by their names."""
    tasks = {}
    for name, objective in new_objectives(recipe).items():
        tasks[name] = Task(name, objective, stores[recipe.store_of(name)], vocabulary, seed)
    return tasks


def scheduled(j: int, recipe: PretrainingRecipe, in_a_row: int = 1) -> tuple[str, int]:
    """The task of group j of the run, and how many groups of that task came before.

    `kind_of` makes group j an MLM batch or not. The objective's tasks take turns over the other groups, `in_a_row`
    groups each, so that a step of whole turns has equally many groups of each task.
    """
    tasks = recipe.own_tasks()
    is_mlm, n = kind_of(j, recipe.mlm_share) if recipe.mlm_beside else (False, j)
    if is_mlm:
        return MLM, n
    turn, place = divmod(n, in_a_row)
    return tasks[turn % len(tasks)], turn // len(tasks) * in_a_row + place


def losses(
    tasks: Mapping[str, Task], module: Pretraining, recipe: PretrainingRecipe, process: ProcessContext, shape: Shape
) -> MicroBatches:
    """The groups of a step that are this process's, or its shares of all.

    Each group counts as its mean loss, so the step's loss is their mean: the sum of equation 3 of MSM with the two
    terms in the ratio of their batches, as the released code has it (criterions/masked_lm_msm.py scales a contrastive
    batch to weigh as much as an MLM batch). KEPT's sum over its tasks is that mean but for the factor 1 / groups, which
    Adam's steps do not depend on. Groups, their vectors and duplicates, and the operations of all are counted.
    """
    part = divide(recipe.groups, process)
    in_a_row = tasks[recipe.own_tasks()[0]].sampler.in_a_row

    def loss_at(step: int) -> Iterator[Named]:
        for i in part.numbers:
            name, n = scheduled(step * recipe.groups + i, recipe, in_a_row)
            task = tasks[name]
            made = task.batch(n)
            counts = {f"{name}_{task.name}": made.pop(name) for name in COUNTED if name in made}
            counts |= {f"groups_{task.name}": 1, "flops": round(task.objective.flops(made, shape))}
            loss = module(task.name, to_device(made, process.device), part.processes)
            figures = {name: Figure(value, part.weight) for name, value in module.figures(task.name).items()}
            yield {task.name: (loss, part.weight)} | figures | (counts if part.counted else {})

    return MicroBatches(loss_at, part.numbers)

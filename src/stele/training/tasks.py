"""Turns stores into losses: an objective's tasks, with MLM beside them, alternate over the groups of each step."""

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

COUNTED = ("duplicates", "hard_negatives", "vectors")  # counts of a batch that are summed over the run
SAMPLERS = {"one_language": Sampler, "all_languages": MixedSampler, "rounds": RoundSampler}


class Task:
    """One task of a recipe with the stores of its parts; `batch(n)` prepares the task's n-th group."""

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
        """Prepares the arrays of the task's n-th group, which depend on (seed, n) only."""
        # sorted, to read the files forwards; the order of examples in a group has no meaning
        group = Group(n, [(part, np.sort(indices)) for part, indices in self.sampler.draw(n)])
        rng = generator(self.seed, self.name, "noise", n)
        examples = self.objective.take(self.stores, group, rng)
        return self.objective.batch(examples, self.vocabulary, group, rng)


class Pretraining(nn.Module):
    """The model with the heads of every task; the seed determines the heads' initial weights."""

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
        """Computes the mean loss of one group, float32 []; several processes may share the group."""
        return self.objectives[task].loss(self.heads[task], self.model, batch, processes)

    def figures(self, task: str) -> dict[str, Tensor]:
        """Figures of the task's last group, by their names in the curve (`{task}_{name}`)."""
        return {f"{task}_{name}": value for name, value in self.objectives[task].figures.items()}

    def after_step(self, process: ProcessContext) -> None:
        """Lets every task update its heads between two steps."""
        for task, objective in self.objectives.items():
            objective.after_step(self.heads[task], self.model, process)

    def kept_weights(self) -> dict[str, Mapping[str, Tensor]]:
        """Head weights that each task keeps beside the encoder: task -> name -> weight."""
        return {task: objective.kept_weights(self.heads[task]) for task, objective in self.objectives.items()}


def new_tasks(
    recipe: PretrainingRecipe, stores: Mapping[str, Mapping[str, Store]], vocabulary: Vocabulary, seed: int
) -> dict[str, Task]:
    """Creates the tasks of a recipe, MLM beside them included, by their names; `stores`: store -> part -> store."""
    tasks = {}
    for name in recipe.all_tasks():
        objective = MaskedLanguageModelling(recipe) if name == MLM else recipe.new_objective(name)
        tasks[name] = Task(name, objective, stores[recipe.store_of(name)], vocabulary, seed)
    return tasks


def scheduled(j: int, recipe: PretrainingRecipe, in_a_row: int = 1) -> tuple[str, int]:
    """Task of group j of the run, and the number of earlier groups of that task.

    `kind_of` decides whether group j is an MLM batch. The objective's tasks take turns over the other groups, with
    `in_a_row` consecutive groups each, so that a step of whole turns has as many groups of each task.
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
    """Micro-batches of this process: its own groups of each step, or its shares of all groups.

    A step's loss is the mean of its groups' mean losses: the sum of equation 3 of MSM with the two terms in the ratio
    of their batches, as in the released code (criterions/masked_lm_msm.py). KEPT's sum over its tasks differs from it
    by the factor 1 / groups only, on which Adam's steps do not depend.
    """
    part = divide(recipe.groups, process)
    in_a_row = tasks[recipe.own_tasks()[0]].sampler.in_a_row

    def loss_at(step: int) -> Iterator[Named]:
        for i in part.numbers:
            name, n = scheduled(step * recipe.groups + i, recipe, in_a_row)
            task = tasks[name]
            batch = task.batch(n)
            counts = {f"{name}_{task.name}": batch.pop(name) for name in COUNTED if name in batch}
            counts |= {f"groups_{task.name}": 1, "flops": round(task.objective.flops(batch, shape))}
            loss = module(task.name, to_device(batch, process.device), part.processes)
            figures = {name: Figure(value, part.weight) for name, value in module.figures(task.name).items()}
            yield {task.name: (loss, part.weight)} | figures | (counts if part.counted else {})

    return MicroBatches(loss_at, part.numbers)

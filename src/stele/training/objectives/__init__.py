"""Pretraining objectives, one a file, chosen by the file's name.

A file has the `Recipe` of its objective, whose `new_objective(task)` builds an `Objective`. All recipes are read while
a run is planned, so nothing here imports torch before a job trains: methods that need it import it themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import Vocabulary
from stele.training.sampling import Batch, Group
from stele.training.store import joined

if TYPE_CHECKING:
    from torch import Tensor, nn

    from stele.training.processes import ProcessContext


class Objective(ABC):
    """One task of a pretraining: what an example is, what its group costs, its heads and its loss.

    POOLING       how its vectors come from token states; None: it makes none
    MAY_DIVERGE   whether a run that learns nothing is a result (`diverged`): it ends before a step that is not finite,
                  which elsewhere is an error
    figures       what the curve shows of the last group beside its loss
    """

    POOLING: ClassVar[str | None] = None
    MAY_DIVERGE: ClassVar[bool] = False

    def __init__(self, recipe: PretrainingRecipe) -> None:
        self.recipe: Any = recipe
        self.figures: Mapping[str, Tensor] = {}

    # --- examples -----------------------------------------------------------------------------------------------------
    def take(self, stores: Mapping[str, Any], group: Group, rng: np.random.Generator) -> Any:
        """The examples of a group, whole as they were mined (store.Flat); `stores`: part -> store."""
        return joined([stores[part].take(indices) for part, indices in group.drawn])

    @abstractmethod
    def batch(self, examples: Any, vocabulary: Vocabulary, group: Group, rng: np.random.Generator) -> Batch:
        """The arrays of a group, a pure function of the arguments; `examples` are what `take` returns.

        Its numbers `vectors`, `duplicates` and `hard_negatives` are added up over the run.
        """

    # --- arithmetic ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def sizes(self, batch: Batch) -> Sequence[float]:
        """The sizes of a batch by which the recipe's `flops` counts its operations."""

    def flops(self, batch: Batch, shape: Shape) -> float:
        """Operations of a group, forward and backward."""
        return self.recipe.flops(shape, *self.sizes(batch))

    def vectors(self) -> int | None:
        """Vectors that share a group's negatives, at most; None where nothing is contrasted."""
        return None

    def negatives(self, vectors: float) -> float:
        """Negatives of a query in a group of `vectors` vectors: all but its own."""
        return vectors - 1

    def choices(self, vocabulary: int) -> int:
        """Where nothing is contrasted: how many a prediction chooses among."""
        return vocabulary

    # --- heads and loss -----------------------------------------------------------------------------------------------
    def heads(self, model: nn.Module) -> nn.Module:
        """The layers that are trained beside the model and dropped in the end; none by default."""
        from torch import nn

        return nn.Module()

    @abstractmethod
    def loss(self, heads: nn.Module, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """The mean loss of a group, float32 []; several `processes` may share the group (training/sharding.py)."""

    def after_step(self, heads: nn.Module, model: nn.Module, process: ProcessContext) -> None:  # noqa: B027
        """Called after every optimiser step, in all processes together; what it changes in `heads` is saved."""

    def kept_weights(self, heads: nn.Module) -> Mapping[str, Tensor]:
        """Weights that are saved beside the encoder, as {task}_head.safetensors."""
        return {}

    def diverged(self, rows: Sequence[Mapping[str, float]]) -> str | None:
        """Why the run of this log learnt nothing; None where it did."""
        return None


class PairObjective(Objective):
    """An objective on pairs of texts: each query's negatives are the passages of the group's other pairs."""

    def vectors(self) -> int:
        return self.recipe.pairs

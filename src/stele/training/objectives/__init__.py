"""Pretraining objectives, one per file and named after it.

Planning a run loads all recipes, so the methods that need torch import it themselves, when a job trains.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import Vocabulary, computed_length
from stele.training.sampling import Batch, Group
from stele.training.store import joined

if TYPE_CHECKING:
    from torch import Tensor, nn

    from stele.training.processes import ProcessContext


LAST = 0.1  # share of the last steps, by which a run is judged
ALIKE = 0.99  # mean cosine of different texts: 8 degrees apart
SHRUNK = 0.1  # after a collapse, at most this share of the initial variance of unit vectors (1 - mean cosine) is left
PADDING = 64  # tokens that are computed as fast as another call of a small encoder
LUCK = 1.5  # an accuracy of this many times a random guess's shows learning; a lower one may be chance


class Objective(ABC):
    """A pretraining task: it defines an example, the cost of a group, the heads and the loss.

    POOLING       default pooling of token states, if neither recipe nor base sets it; None: the task makes no vectors
    MAY_DIVERGE   True: a loss that is not finite counts as a result, and the run ends before that step; False: such a
                  loss is an error
    figures       figures of the last group for the curve: `accuracy` (how often the right text scores best), `guess`
                  (how often a random guess would be right), `cosine` (mean cosine of different texts), and `chance`
                  (loss of random scores), if this differs from the logarithm of the number of candidates
    """

    POOLING: ClassVar[str | None] = None
    MAY_DIVERGE: ClassVar[bool] = False

    def __init__(self, recipe: PretrainingRecipe) -> None:
        self.recipe: Any = recipe
        self.figures: Mapping[str, Tensor] = {}

    @property
    def pooling(self) -> str | None:
        """Pooling of token states to vectors: set by the recipe (or the base of the run), else POOLING."""
        return self.POOLING and (self.recipe.pooling or self.POOLING)

    # --- examples -----------------------------------------------------------------------------------------------------
    def take(self, stores: Mapping[str, Any], group: Group, rng: np.random.Generator) -> Any:
        """Reads the examples of a group as they were mined (store.Flat); `stores`: part -> store."""
        return joined([stores[part].take(indices) for part, indices in group.drawn])

    @abstractmethod
    def batch(self, examples: Any, vocabulary: Vocabulary, group: Group, rng: np.random.Generator) -> Batch:
        """Makes the arrays of a group from the examples that `take` returned; a pure function of its arguments.

        The batch's counts `vectors`, `duplicates` and `hard_negatives` are summed over the run.
        """

    # --- arithmetic ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def sizes(self, batch: Batch) -> Sequence[float]:
        """Sizes of a batch, as arguments of the recipe's `flops` after the shape."""

    def flops(self, batch: Batch, shape: Shape) -> float:
        """FLOPs of a group, forward and backward."""
        return self.recipe.flops(shape, *self.sizes(batch))

    def vectors(self) -> int | None:
        """Largest number of vectors in a contrastive group; None if the loss is not contrastive."""
        return None

    def negatives(self, vectors: float) -> float:
        """Number of a query's negatives in a group of `vectors` vectors: all but its positive."""
        return vectors - 1

    def choices(self, vocabulary: int) -> int:
        """Number of classes of a prediction, for a loss that is not contrastive."""
        return vocabulary

    def computed_length(self, batch: Batch, side: str = "") -> float:
        """Mean number of tokens that the encoder computes per text of a batch, or of a `side`."""
        mask = batch.get(f"{side}mask")
        if mask is None:
            return batch[f"{side}ids"].shape[1]
        return computed_length(mask.sum(1), self.recipe.encode_chunk)

    # --- heads and loss -----------------------------------------------------------------------------------------------
    def heads(self, model: nn.Module) -> nn.Module:
        """Creates the layers that are trained with the model and dropped in the end; none by default."""
        from torch import nn

        return nn.Module()

    @abstractmethod
    def loss(self, heads: nn.Module, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """Mean loss of a group, float32 []; several `processes` may share the group (training/sharding.py)."""

    def after_step(self, heads: nn.Module, model: nn.Module, process: ProcessContext) -> None:  # noqa: B027
        """Runs after every optimiser step, in all processes together; its changes to `heads` are saved."""

    def kept_weights(self, heads: nn.Module) -> Mapping[str, Tensor]:
        """Head weights that are saved beside the encoder, as {task}_head.safetensors."""
        return {}

    def sentence_states(
        self, model: nn.Module, ids: Tensor, mask: Tensor | None, processes: ProcessContext | None = None
    ) -> Tensor:
        """Encodes texts, ids int64 [n, t] with mask bool [n, t] or None, to vectors [n, width] by `pooling`."""
        from stele.training.hidden_states import pooled_states

        return pooled_states(self.pooling, model.base_model, ids, mask, self.recipe.encode_chunk, processes)

    def both_states(
        self, model: nn.Module, batch: Batch, sides: tuple[str, str], processes: ProcessContext | None = None
    ) -> Sequence[Tensor]:
        """Encodes the texts of two sides, [n, width] each, in one forward pass if this adds little padding.

        With more texts than `encode_chunk`, or several processes, each side has its own passes, as FLOPs assume.
        """
        texts = [(batch[f"{side}_ids"], batch[f"{side}_mask"]) for side in sides]
        ids = [ids for ids, _ in texts]
        padding = sum(len(side) * (max(ids[0].shape[1], ids[1].shape[1]) - side.shape[1]) for side in ids)
        texts_at_once = self.recipe.encode_chunk or math.inf
        if processes is None and sum(map(len, ids)) <= texts_at_once and padding <= PADDING:
            from stele.training.hidden_states import stacked

            vectors = self.sentence_states(model, *stacked(texts, model.config.pad_token_id))
            return vectors.split(list(map(len, ids)))
        return [self.sentence_states(model, *text, processes) for text in texts]

    def pair_loss(
        self, queries: Tensor, passages: Tensor, batch: Batch, texts: Tensor, normalize: bool = False
    ) -> Tensor:
        """In-batch loss, float32 [], of the pairs queries [n, d] and passages [n, d], by inner products or cosines.

        texts [n, width] are the passages' vectors before any head, for the figures.
        """
        import torch
        from torch.nn import functional

        from stele.training.contrastive_loss import duplicate_mask, in_batch_scores

        positives = torch.arange(len(queries), device=queries.device)
        mask = duplicate_mask(batch["duplicate_keys"], positives) if self.recipe.mask_duplicates else None
        with torch.autocast(queries.device.type, enabled=False):
            sides = queries.float(), passages.float()
            if normalize:
                sides = [functional.normalize(side, dim=-1) for side in sides]
            scores = in_batch_scores(*sides, positives, mask, self.recipe.temperature)
        return self.search_loss(scores, positives, texts)

    def search_loss(self, scores: Tensor, positives: Tensor, texts: Tensor) -> Tensor:
        """Cross-entropy of scores [n, m] at positives int64 [n]; sets `figures`, with texts [k, width] as vectors."""
        from torch.nn import functional

        from stele.training.contrastive_loss import search_figures

        self.figures = search_figures(scores, positives, texts)
        return functional.cross_entropy(scores, positives)

    def has_collapsed(self, before: float, after: float) -> bool:
        """Whether embeddings have collapsed, by the mean cosine of different texts in the first and the last steps.

        A checkpoint that starts above .99 (as XLM-R does) may still separate texts, so the mean must also have risen.
        """
        return after > ALIKE and 1 - after < SHRUNK * (1 - before)

    def diverged(self, rows: Sequence[Mapping[str, float]], task: str, chance: float) -> str | None:
        """Says why a task has learnt nothing by the last tenth of the log's steps; None if it has learnt.

        `chance` is the loss of random predictions, used where the log has none. The loss alone is no proof, since at a
        low temperature it can exceed chance although vectors find the right text reliably.
        """
        number = max(1, round(len(rows) * LAST))
        first, logged = ([row for row in part if task in row] for part in (rows[:number], rows[-number:]))
        if not logged:
            return None

        def mean(name: str, default: float = math.nan) -> float:
            return _mean(logged, f"{task}{name}", default)

        loss, chance, cosine = mean(""), mean("_chance", chance), mean("_cosine")
        accuracy, guess = mean("_accuracy"), mean("_guess", 1 / self.choices(1))
        if accuracy >= LUCK * guess:
            return None
        collapsed = self.has_collapsed(_mean(first, f"{task}_cosine", math.nan), cosine)
        signs = [f"vectors of different sentences have cosine {cosine:.3f}"] if collapsed else []
        signs += [f"the loss is {loss:.3f}, above chance ({chance:.3f}),"] if loss > chance else []
        if not signs:
            return None
        accuracy_note = f", and accuracy within a group is {accuracy:.3f} (random guessing: {guess:.3f})"
        return f"{' and '.join(signs)} over the last tenth of the steps{'' if math.isnan(accuracy) else accuracy_note}"


def _mean(rows: Sequence[Mapping[str, float]], name: str, default: float) -> float:
    return sum(row.get(name, default) for row in rows) / len(rows) if rows else math.nan


class PairObjective(Objective):
    """Objective on pairs of texts, whose negatives are the passages of the group's other pairs."""

    def vectors(self) -> int:
        return self.recipe.pairs

    def sizes(self, batch):
        return len(batch["query_ids"]), *(self.computed_length(batch, side) for side in ("query_", "passage_"))

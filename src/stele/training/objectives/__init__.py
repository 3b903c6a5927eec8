"""Pretraining objectives, one a file, chosen by the file's name.

A file has the `Recipe` of its objective, whose `new_objective(task)` builds an `Objective`. All recipes are read while
a run is planned, so nothing here imports torch before a job trains: methods that need it import it themselves.
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


LAST = 0.1  # of the steps, by which a run is judged
ALIKE = 0.99  # mean cosine of different texts: 8 degrees apart
SHRUNK = 0.1  # of the variance of unit vectors (1 - mean cosine) at a run's start: what is left after a collapse
PADDING = 64  # tokens that are computed as fast as another call of a small encoder
LUCK = 1.5  # times a guess; fewer right ones are taken for luck, more have learnt something


class Objective(ABC):
    """One task of a pretraining: what an example is, what its group costs, its heads and its loss.

    POOLING       how its vectors come from token states, where neither recipe nor base says; None: it makes none
    MAY_DIVERGE   whether a loss that is not a finite number is a result: the run ends before that step; elsewhere it
                  is an error
    figures       what the curve shows of the last group beside its loss: `accuracy` (how often the right text scores
                  best), `guess` (how often a guess would be right), `cosine` (the mean of different texts)
    """

    POOLING: ClassVar[str | None] = None
    MAY_DIVERGE: ClassVar[bool] = False

    def __init__(self, recipe: PretrainingRecipe) -> None:
        self.recipe: Any = recipe
        self.figures: Mapping[str, Tensor] = {}

    @property
    def pooling(self) -> str | None:
        """How its vectors come from token states: as the recipe says (or the base of the run), else POOLING."""
        return self.POOLING and (self.recipe.pooling or self.POOLING)

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

    def computed_length(self, batch: Batch, side: str = "") -> float:
        """Tokens that the encoder computes a text of a batch (or of its `side`), padding included."""
        mask = batch.get(f"{side}mask")
        if mask is None:
            return batch[f"{side}ids"].shape[1]
        return computed_length(mask.sum(1), self.recipe.encode_chunk)

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

    def sentence_states(
        self, model: nn.Module, ids: Tensor, mask: Tensor | None, processes: ProcessContext | None = None
    ) -> Tensor:
        """The vectors [n, width] of texts, by `pooling`: ids int64 [n, t], mask bool [n, t] or None."""
        from stele.training.hidden_states import pooled_states

        return pooled_states(self.pooling, model.base_model, ids, mask, self.recipe.encode_chunk, processes)

    def both_states(
        self, model: nn.Module, batch: Batch, sides: tuple[str, str], processes: ProcessContext | None = None
    ) -> Sequence[Tensor]:
        """The vectors of two sides' texts, [n, width] each, in one forward pass where little is padded for it.

        Chunks of fewer texts, and what several processes share, are of one side, as the recipe counts operations.
        """
        texts = [(batch[f"{side}_ids"], batch[f"{side}_mask"]) for side in sides]
        ids = [ids for ids, _ in texts]
        padding = sum(len(side) * (max(ids[0].shape[1], ids[1].shape[1]) - side.shape[1]) for side in ids)
        texts_at_once = self.recipe.encode_chunk or math.inf
        if processes is None and sum(map(len, ids)) <= texts_at_once and padding <= PADDING:
            from stele.training.hidden_states import stacked

            vectors = self.sentence_states(model, *stacked(texts, model.config.pad_token_id))
            return vectors.split([len(side) for side in ids])
        return [self.sentence_states(model, *text, processes) for text in texts]

    def pair_loss(
        self, queries: Tensor, passages: Tensor, batch: Batch, texts: Tensor, normalize: bool = False
    ) -> Tensor:
        """The in-batch loss of the pairs queries [n, d] and passages [n, d]; equal passages are no negatives.

        Inner products over the temperature, or cosines. texts [n, width]: the passages' vectors before any head.
        """
        from stele.training.contrastive_loss import pair_scores

        return self.search_loss(*pair_scores(queries, passages, batch, self.recipe, normalize), texts)

    def search_loss(self, scores: Tensor, positives: Tensor, texts: Tensor) -> Tensor:
        """The cross entropy of scores [n, m] at positives int64 [n], and its figures; texts: vectors [k, width]."""
        from torch.nn import functional

        from stele.training.contrastive_loss import search_figures

        self.figures = search_figures(scores, positives, texts)
        return functional.cross_entropy(scores, positives)

    def has_collapsed(self, before: float, after: float) -> bool:
        """Whether embeddings have collapsed, by the mean cosine of different texts in a run's first and last steps.

        A checkpoint that starts above .99 (as XLM-R does) may still separate texts, so the mean must also have risen.
        """
        return after > ALIKE and 1 - after < SHRUNK * (1 - before)

    def diverged(self, rows: Sequence[Mapping[str, float]], task: str, chance: float) -> str | None:
        """Why a task learnt nothing by the last tenth of the log's steps; None where it learnt.

        `chance` is its loss by chance, where the log says none. The loss alone does not tell: it depends on the
        temperature, so that the same vectors, which find the right text by far, are below chance at a high one and
        above it at a low one. Only a task without accuracy, the likelihood of tokens, is judged by its loss alone.
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
        found = f", and the right one of a group is found {accuracy:.3f} of the times, by a guess {guess:.3f}"
        return f"{' and '.join(signs)} over the last tenth of the steps{'' if math.isnan(accuracy) else found}"


def _mean(rows: Sequence[Mapping[str, float]], name: str, default: float) -> float:
    return sum(row.get(name, default) for row in rows) / len(rows) if rows else math.nan


class PairObjective(Objective):
    """An objective on pairs of texts: each query's negatives are the passages of the group's other pairs."""

    def vectors(self) -> int:
        return self.recipe.pairs

    def sizes(self, batch):
        return len(batch["query_ids"]), *(self.computed_length(batch, side) for side in ("query_", "passage_"))

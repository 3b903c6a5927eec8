"""Masked language modelling: predict hidden tokens from their surroundings (BERT, section 3.1; XLM-R, section 3)."""

from __future__ import annotations

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import attention, mask_tokens, pad
from stele.training.objectives import Objective


class Recipe(PretrainingRecipe):
    """MLM alone: every group is an MLM batch, so `mlm_share` is not used."""

    def new_objective(self, task: str) -> MaskedLanguageModelling:
        return MaskedLanguageModelling(self)

    def flops(self, shape: Shape, sequences: int, length: int, places: float) -> float:
        return self.mlm_flops(shape, sequences, length, places)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, float]:
        return self.mlm_sizes()

    def longest_group(self) -> tuple[int, int]:
        return self.mlm_sequences, self.mlm_length


class MaskedLanguageModelling(Objective):
    """Objective of any recipe's MLM batches, with the checkpoint's own vocabulary head, tied to its embeddings."""

    def batch(self, examples, vocabulary, group, rng):
        """Batch: masked ids int64 [n, t], mask bool [n, t] or None; hidden tokens' places (flat), targets int64 [m]."""
        recipe = self.recipe
        if (examples.counts != 1).any():
            raise SteleError("MLM: these examples were mined by another method; want examples of one stretch of text")
        ids, lengths = pad(examples.tokens, examples.lengths, vocabulary, recipe.mlm_length)
        hidden, places, targets = mask_tokens(ids, vocabulary, rng, recipe.mask_probability)
        return {"ids": hidden, "mask": attention(lengths, ids.shape[1]), "places": places, "targets": targets}

    def sizes(self, batch):
        return *batch["ids"].shape, len(batch["places"])

    def flops(self, batch, shape):
        return self.recipe.mlm_flops(shape, *self.sizes(batch))

    def loss(self, heads, model, batch, processes=None):
        from stele.training.heads import masked_loss

        return masked_loss(model, batch, self.recipe.encode_chunk, processes)

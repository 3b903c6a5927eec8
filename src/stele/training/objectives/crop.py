"""CROP: two sentences from one window of a document are a positive pair (Wu et al. 2022; MSM section 5.3).

Negatives come from the other pairs of the group, as in Wu et al.; heads, similarity and temperature are MSM's. MSM's
released code has another group (--enable-sent2sent): MSM's own 16 documents x 32 sentences, where a neighbour is the
query of each sentence, with the document's 31 other sentences among its negatives and with the dynamic bias.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.errors import SteleError
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import attention, duplicate_counts, pad
from stele.training.objectives import PairObjective


class Recipe(PretrainingRecipe):
    objective: Literal["crop"] = "crop"
    pairs: int = Field(ge=2, description="pairs in a contrastive group")
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    temperature: float = Field(gt=0, description="divisor of scores before the softmax")
    projector: Literal["none", "shared", "asymmetric"] = Field(
        description="heads that project both sides before the loss: none, one shared by both sides, or one for each "
        "side (asymmetric)"
    )
    mask_duplicates: bool = Field(True, description="excludes sentences equal to the positive from the negatives")

    def new_objective(self, task: str) -> Crop:
        return Crop(self)

    def flops(self, shape: Shape, sentences: int, length: float) -> float:
        encoder = encode(sentences, length, shape, first_only=self.pooling != "mean")
        heads = 0 if self.projector == "none" else 4 * shape.width**2 * sentences
        return passes(sentences, self.encode_chunk) * encoder + 3 * (heads + shape.width * sentences**2 / 2)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int]:
        return 2 * self.pairs, round(self.sentence_length * tokens)


class Crop(PairObjective):
    POOLING = "cls"

    def batch(self, examples, vocabulary, group, rng):
        """Batch of n pairs: ids int64 [2 n, t], sentence and neighbour alternating, their mask, `duplicate_counts`."""
        if (examples.counts != 2).any():
            raise SteleError("CROP: these examples were mined by another method; want examples of two sentences")
        ids, lengths = pad(examples.tokens, examples.lengths, vocabulary, self.recipe.sentence_length)
        return {"ids": ids, "mask": attention(lengths, ids.shape[1]), **duplicate_counts(ids[0::2])}

    def sizes(self, batch):
        return len(batch["ids"]), self.computed_length(batch)

    def heads(self, model):
        from stele.training.heads import Projector

        return Projector(self.recipe.projector, model.config.hidden_size, model.config.initializer_range)

    def loss(self, heads, model, batch, processes=None):
        """In-batch loss in which the neighbour is the query and the sentence its positive."""
        vectors = self.sentence_states(model, batch["ids"], batch["mask"], processes)
        keys, queries = heads(vectors[0::2], vectors[1::2])
        return self.pair_loss(queries, keys, batch, vectors[0::2], normalize=True)

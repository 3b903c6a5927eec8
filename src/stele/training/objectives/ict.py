"""ICT, the inverse cloze task: a sentence is the query for the block it comes from (Lee et al. 2019, section 4).

Both sides share one encoder and one dense layer of `width` with LayerNorm and dropout, as in google-research/language
(orqa, ict_model: one module, dense 128). That code projects BERT's pooled output; Stele projects the first token's last
state, since the poolers of some checkpoints are untrained and no objective trains them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.errors import SteleError
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import duplicate_counts
from stele.training.objectives import PairObjective
from stele.training.text_pairs import pair_batch, segments


class Recipe(PretrainingRecipe):
    """The original's group of 4,096 needs `encode_chunk`."""

    objective: Literal["ict"] = "ict"
    pairs: int = Field(ge=2, description="pairs in a contrastive group")
    query_length: int = Field(ge=3, description="most tokens of a query, special ones included")
    block_length: int = Field(ge=3, description="most tokens of a block, special ones included")
    width: int = Field(ge=1, description="dimensions of a projected vector")
    temperature: float = Field(1.0, gt=0, description="divisor of scores before the softmax")
    mask_duplicates: bool = Field(True, description="excludes blocks equal to the positive from the negatives")

    def new_objective(self, task: str) -> InverseCloze:
        return InverseCloze(self)

    def flops(self, shape: Shape, pairs: int, query_length: float, block_length: float) -> float:
        encoder = sum(encode(pairs, length, shape, self.pooling != "mean") for length in (query_length, block_length))
        heads = 4 * shape.width * self.width * pairs
        return passes(pairs, self.encode_chunk) * encoder + 3 * (heads + 2 * self.width * pairs**2)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return self.pairs, round(self.query_length * tokens), self.block_length

    def longest_group(self) -> tuple[int, int]:
        return self.pairs + self.pairs * self.query_length // self.block_length, self.block_length


class InverseCloze(PairObjective):
    POOLING = "cls"

    def batch(self, examples, vocabulary, group, rng):
        """Batch of n pairs: query_ids int64 [n, t], passage_ids int64 [n, u] (blocks), masks, `duplicate_counts`."""
        if (examples.counts != 2).any():
            raise SteleError("ICT: these examples were mined by another method; want examples of a query and its block")
        longest = self.recipe.query_length, self.recipe.block_length
        arrays = pair_batch(segments(examples), vocabulary, longest)
        return {**arrays, **duplicate_counts(arrays["passage_ids"])}

    def heads(self, model):
        from torch import nn

        from stele.training.heads import initialise

        width = self.recipe.width
        projection = nn.Sequential(
            nn.Linear(model.config.hidden_size, width), nn.LayerNorm(width), nn.Dropout(self.recipe.dropout)
        )
        initialise(projection, model.config.initializer_range)
        return projection

    def loss(self, heads, model, batch, processes=None):
        queries, blocks = self.both_states(model, batch, ("query", "passage"), processes)
        return self.pair_loss(heads(queries), heads(blocks), batch, blocks)

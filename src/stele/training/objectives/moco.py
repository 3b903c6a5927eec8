"""MoCo as in mContriever: a crop must find another crop of its stretch among the keys of earlier steps.

Izacard et al. 2022, section 3; contriever's src/moco.py. Keys come from a second encoder without gradient, which
follows the trained one and has dropout, too. Nothing is normalised except the random vectors that fill the queue at
first. A query's negatives are the queue alone, so a step's pairs may be encoded in groups of any size. The released
code updates the key encoder before it encodes; updating after the step before is the same.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import MLM, CropRatio, PretrainingRecipe
from stele.training.objectives import PairObjective
from stele.training.text_pairs import both_sides, pair_batch


class Recipe(PretrainingRecipe):
    """Queries are independent of each other; only a step's `groups` x `pairs` pairs matter."""

    objective: Literal["moco"] = "moco"
    pairs: int = Field(ge=1, description="pairs of crops that are encoded together")
    length: int = Field(ge=3, description="most tokens of a crop, special ones included")
    temperature: float = Field(gt=0, description="divisor of scores before the softmax")
    queue: int = Field(ge=1, description="number of keys of earlier steps that serve as negatives")
    momentum: float = Field(
        ge=0,
        le=1,
        description="share of its own weights that the key encoder keeps in a step; the rest comes from the trained "
        "encoder",
    )
    crop_ratio: CropRatio

    @model_validator(mode="after")
    def _sizes_fit(self) -> Recipe:
        if self.queue < self.groups * self.pairs:
            raise ValueError(f"queue: found {self.queue}, want at least a step's {self.groups * self.pairs} keys")
        if self.mlm_share:
            raise ValueError("mlm_share: MLM batches would replace pairs, but each step needs all its keys; want 0")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        return MLM  # crops are cut from its stretches of text

    def new_objective(self, task: str) -> MomentumContrast:
        return MomentumContrast(self)

    def flops(self, shape: Shape, pairs: int, query_length: float, passage_length: float) -> float:
        """FLOPs of a group: queries forward and backward, keys forward, scores twice (no queue gradient)."""
        queries, keys = (
            encode(pairs, length, shape, self.pooling == "cls") for length in (query_length, passage_length)
        )
        return passes(pairs, self.encode_chunk) * queries + keys + 2 * 2 * shape.width * pairs * self.queue

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return self.pairs, self.length, self.length


class MomentumContrast(PairObjective):
    POOLING = "mean"

    def negatives(self, vectors):
        return self.recipe.queue

    def batch(self, examples, vocabulary, group, rng):
        """Batch of n pairs: query_ids int64 [n, t], passage_ids int64 [n, u], encoded to keys, masks; vectors (n)."""
        sides = both_sides(examples, self.recipe.crop_ratio, rng)
        arrays = pair_batch(sides, vocabulary, (self.recipe.length, self.recipe.length))
        return {**arrays, "vectors": len(arrays["query_ids"])}

    def heads(self, model):
        from stele.training.heads import MomentumQueue

        return MomentumQueue(self.recipe.queue, model)

    def loss(self, heads, model, batch, processes=None):
        """Mean of -log softmax of each query's own key against the queue (Izacard et al. 2022, equation 1)."""
        import torch

        queries = self.sentence_states(model, batch["query_ids"], batch["query_mask"], processes)
        with torch.no_grad():
            keys = self.sentence_states(heads.key_encoder, batch["passage_ids"], batch["passage_mask"], processes)
        heads.waiting.append(keys)
        with torch.autocast(queries.device.type, enabled=False):
            positive_scores = (queries * keys).sum(1, keepdim=True)
            logits = torch.cat([positive_scores, queries @ heads.queue.T], dim=1) / self.recipe.temperature
            positives = torch.zeros(len(logits), dtype=torch.long, device=logits.device)
            return self.search_loss(logits, positives, queries)

    def after_step(self, heads, model, process):
        heads.push(self.recipe.groups, self.recipe.pairs, process)
        heads.follow(model, self.recipe.momentum)

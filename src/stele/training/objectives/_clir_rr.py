"""Relevance ranking: a query's document before a negative (Yu et al. 2021, section 4.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.recipes.objectives.clir import Recipe
from stele.training.heads import ObjectiveHeads, initialise
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary
from stele.training.objectives._clir_draws import Sections, draw_negatives, draw_pairs
from stele.training.packed_pairs import most_global, pack
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat, joined

POOLING = "cls"
CHOICES = 2  # the document and one negative, or two classes


class Texts(NamedTuple):
    """n queries; their n documents and then n negatives; how many of these are of the documents' own pages"""

    queries: Flat
    documents: Flat
    hard: int


def vectors(recipe: Recipe) -> None:
    """No group shares negatives: each query has its own."""
    return None


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.ranking_flops(shape, *batch["ids"].shape, most_global(batch["types"]))


def take(stores: Mapping[str, Sections], group: Group, recipe: Recipe, rng: np.random.Generator) -> Texts:
    """Queries, their documents and a negative for each."""
    ((part, indices),) = group.drawn
    store = stores[part]
    drawn = draw_pairs(store, indices, rng)
    negatives, hard = draw_negatives(store, drawn, rng)
    numbers = np.concatenate([drawn.documents, negatives])
    return Texts(drawn.queries, store.documents(numbers, recipe.length), int(hard.sum()))


def batch(texts: Texts, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """ids, types int64 [2 n, t], mask bool [2 n, t] or None: n queries with their documents, then with the negatives;
    hard_negatives: how many of these are other sections of the documents' pages"""
    packed = pack(joined([texts.queries, texts.queries]), texts.documents, vocabulary, recipe.length)
    return {**packed._asdict(), "hard_negatives": texts.hard}


def pairwise_loss(scores: Tensor) -> Tensor:
    """Cross entropy of the first of scores [n, 2] against the second: the mean of log(1 + exp(S- - S+))."""
    return functional.cross_entropy(scores, scores.new_zeros(len(scores), dtype=torch.long))


def pointwise_loss(logits: Tensor) -> Tensor:
    """Two-class cross entropy of logits [2 n, 2]: the first n are of class 1, the others of 0 (the released code)."""
    return functional.cross_entropy(logits, (torch.arange(len(logits), device=logits.device) < len(logits) // 2).long())


class Heads(ObjectiveHeads):
    """What makes a score of a pair, kept beside the encoder: one vector w (section 4.2.2), or two classes."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        if getattr(config, "type_vocab_size", 0) < 2:
            raise SteleError(f"RR: want a model with two token types, as BERT has; found {config.model_type}")
        self.recipe, self.pointwise = recipe, recipe.ranking == "pointwise"
        self.dropout = nn.Dropout(recipe.dropout)
        self.score = nn.Linear(config.hidden_size, 2 if self.pointwise else 1, bias=self.pointwise)
        initialise(self, config.initializer_range)

    def begin(self, model: nn.Module) -> None:
        if self.pointwise and getattr(model.base_model, "pooler", None) is None:
            raise SteleError("RR: `ranking: pointwise` scores by the pooler, and the checkpoint has none; use pairwise")

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        texts = batch["ids"], batch["mask"], self.recipe.encode_chunk, processes, batch["types"]
        states = first_states(model.base_model, *texts)
        if self.pointwise:
            states = self.dropout(model.base_model.pooler(states[:, None]))
        with torch.autocast(states.device.type, enabled=False):
            logits = self.score(states.float())
            scores = logits[:, -1].view(2, -1).T  # of class 1, as the released code ranks by
            self.figures = {"accuracy": (scores[:, 0] > scores[:, 1]).float().mean().detach()}
            return pointwise_loss(logits) if self.pointwise else pairwise_loss(scores)

    def kept(self) -> dict[str, Tensor]:
        """weight [1, width]; of `pointwise` weight [2, width] and bias [2], on the pooler's output, class 1 scores."""
        return self.score.state_dict()

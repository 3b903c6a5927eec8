"""MSM: predict the vector of a masked sentence from the other sentences of its document (Zhang et al., section 3).

The sentence encoder makes one vector a sentence (last hidden state of the first token), the document encoder predicts
each sentence from the others, two heads project both, the hierarchical contrastive loss compares them. The contrastive
group is `documents` documents of one language: with 16 documents of 32 sentences each query has 511 negatives, 31 of
its own document. After pretraining everything but the sentence encoder is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stele.recipes.flops import Shape
from stele.recipes.objectives.msm import Recipe
from stele.training.document_encoder import DocumentEncoder
from stele.training.heads import ObjectiveHeads, Projector
from stele.training.hidden_states import first_states
from stele.training.hierarchical_loss import hierarchical_loss
from stele.training.masking import Vocabulary, attention, pad
from stele.training.objectives._contrastive import duplicate_counts
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat

POOLING = "cls"
ENGLISH = "en"


def negatives(recipe: Recipe, vectors: float) -> float:
    """Of documents that are alike long."""
    return vectors - (1 if recipe.intra_negatives else vectors / recipe.documents)


def vectors(recipe: Recipe) -> int:
    """Vectors of a group of full documents."""
    return recipe.documents * recipe.sentences


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["ids"].shape, max(batch["counts"]))


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """ids int64 [m, t] of all sentences in order, mask bool [m, t] or None, counts (sentences of each document),
    english bool, of the sentences what `duplicate_counts` has"""
    ids, lengths = pad(flat.tokens, flat.lengths, vocabulary, recipe.sentence_length)
    return {
        "ids": ids,
        "mask": attention(lengths, ids.shape[1]),
        "counts": tuple(flat.counts.tolist()),
        "english": group.language == ENGLISH,
        **duplicate_counts(ids),
    }


class Heads(ObjectiveHeads):
    """Document encoder and projection heads, once for all languages or once more for English."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe

        def document_encoder() -> DocumentEncoder:
            return DocumentEncoder(
                layers=recipe.layers,
                width=config.hidden_size,
                heads=config.num_attention_heads,
                inner=config.intermediate_size,
                positions=recipe.sentences,
                dropout=recipe.dropout,
                eps=config.layer_norm_eps,
                std=config.initializer_range,
            )

        copies = {"shared": 1, "separate_english": 2}
        self.encoders = nn.ModuleList(document_encoder() for _ in range(copies[recipe.document_encoder]))
        self.projectors = nn.ModuleList(
            Projector(recipe.projector, config.hidden_size, config.initializer_range)
            for _ in range(copies[recipe.heads])
        )

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """The group's mean hierarchical contrastive loss."""
        recipe = self.recipe
        vectors = first_states(model.base_model, batch["ids"], batch["mask"], recipe.encode_chunk, processes)
        which = -1 if batch["english"] else 0  # the last one is English's own where there are two
        predictions = self.encoders[which](vectors, batch["counts"])
        keys, queries = self.projectors[which](vectors, predictions)
        same = batch["duplicate_keys"]
        with torch.autocast(vectors.device.type, enabled=False):
            return hierarchical_loss(
                queries,
                keys,
                batch["counts"],
                mu=recipe.mu,
                temperature=recipe.temperature,
                intra_negatives=recipe.intra_negatives,
                duplicates=same[:, None] == same[None, :] if recipe.mask_duplicates else None,
            )

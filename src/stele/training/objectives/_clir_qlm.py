"""Query language modelling: predict hidden tokens of a query from it and a document that answers it (section 4.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.recipes.flops import Shape
from stele.recipes.objectives.clir import Recipe
from stele.training.heads import ObjectiveHeads
from stele.training.masking import Vocabulary, mask_tokens
from stele.training.objectives._clir_draws import Sections, draw_pairs
from stele.training.objectives.mlm import masked_loss
from stele.training.packed_pairs import Packed, most_global, pack
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat

POOLING = None


def vectors(recipe: Recipe) -> None:
    return None


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.modelling_flops(shape, *batch["ids"].shape, most_global(batch["types"]), len(batch["places"]))


def take(stores: Mapping[str, Sections], group: Group, recipe: Recipe, rng: np.random.Generator) -> tuple[Flat, Flat]:
    """Queries and their documents."""
    ((part, indices),) = group.drawn
    drawn = draw_pairs(stores[part], indices, rng)
    return drawn.queries, stores[part].documents(drawn.documents, recipe.length)


def batch(
    texts: tuple[Flat, Flat], vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator
) -> Batch:
    """ids int64 [n, t] with tokens hidden; types, mask as `Packed`; places int64 [m] (flat), targets int64 [m]"""
    packed = pack(*texts, vocabulary, recipe.length)
    hidden, places, targets = mask_tokens(
        packed.ids, vocabulary, rng, recipe.mask_probability, _maskable(packed, recipe.mask)
    )
    return {"ids": hidden, "types": packed.types, "mask": packed.mask, "places": places, "targets": targets}


def _maskable(packed: Packed, of: str) -> np.ndarray | None:
    """bool [n, t]: tokens that may be hidden; None: all."""
    return None if of == "both" else packed.types == (1 if of == "document" else 0)


class Heads(ObjectiveHeads):
    """Adds nothing: the vocabulary head is the checkpoint's own, tied to its embeddings."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        return masked_loss(model, batch, self.recipe.encode_chunk, processes)

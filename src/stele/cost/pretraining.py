"""Operations of a pretraining before there are any batches: the arithmetic of training/flops.py at assumed lengths.

What an objective's own `flops` counts in a batch is counted here from the recipe; a test holds the two together. (Those
modules need torch, and whoever plans has no time to start it.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stele.catalogue.schema.costs import Fill
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.flops import Shape, encode, passes

QUERY = 40  # tokens of a query that is a sentence of a Wikipedia, special ones included (assumed)


def _mlm(recipe: Any, shape: Shape, fill: Fill) -> float:
    length = round(recipe.mlm_length * fill.tokens)
    hidden = recipe.mask_probability * recipe.mlm_sequences * (length - 2)
    head = hidden * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
    whole = encode(recipe.mlm_sequences, length, shape, first_only=False) + head
    return passes(recipe.mlm_sequences, recipe.encode_chunk) * whole


def _msm(recipe: Any, shape: Shape, fill: Fill) -> float:
    sentences = round(recipe.documents * recipe.sentences * fill.sentences)
    encoder = encode(sentences, round(recipe.sentence_length * fill.tokens), shape, first_only=True)
    document = encode(sentences, recipe.sentences, shape._replace(layers=recipe.layers), first_only=True)
    heads = 0 if recipe.projector == "none" else 8 * shape.width**2 * sentences
    scores = 2 * shape.width * sentences**2
    return passes(sentences, recipe.encode_chunk) * encoder + 3 * (document + heads + scores)


def _crop(recipe: Any, shape: Shape, fill: Fill) -> float:
    sentences = 2 * recipe.pairs
    encoder = encode(sentences, round(recipe.sentence_length * fill.tokens), shape, first_only=True)
    heads = 0 if recipe.projector == "none" else 4 * shape.width**2 * sentences
    return passes(sentences, recipe.encode_chunk) * encoder + 3 * (heads + shape.width * sentences**2 / 2)


def _ict(recipe: Any, shape: Shape, fill: Fill) -> float:
    lengths = (round(most * fill.tokens) for most in (recipe.query_length, recipe.block_length))
    encoder = sum(encode(recipe.pairs, length, shape, first_only=True) for length in lengths)
    heads = 4 * shape.width * recipe.width * recipe.pairs
    return passes(recipe.pairs, recipe.encode_chunk) * encoder + 3 * (heads + 2 * recipe.width * recipe.pairs**2)


def _ccp(recipe: Any, shape: Shape, fill: Fill) -> float:
    sentences = 2 * recipe.pairs
    encoder = encode(sentences, round(recipe.sentence_length * fill.tokens), shape, first_only=True)
    heads, scores = 4 * shape.width**2 * sentences, 2 * shape.width * sentences**2
    banked = 2 * shape.width * sentences * recipe.bank
    return passes(sentences, recipe.encode_chunk) * encoder + 3 * (heads + scores) + 2 * banked


def _kept(recipe: Any, shape: Shape, fill: Fill) -> float:
    encoder = 2 * encode(recipe.pairs, round(recipe.length * fill.tokens), shape, first_only=False)
    return passes(recipe.pairs, recipe.encode_chunk) * encoder + 3 * 2 * shape.width * recipe.pairs**2


def _moco(recipe: Any, shape: Shape, fill: Fill) -> float:
    one = encode(recipe.pairs, round(recipe.length * fill.tokens), shape, first_only=False)
    scores = 2 * 2 * shape.width * recipe.pairs * recipe.queue
    return (passes(recipe.pairs, recipe.encode_chunk) + 1) * one + scores


def _clir(recipe: Any, shape: Shape, fill: Fill) -> float:
    length = round(recipe.length * fill.tokens)
    ranked = encode(2 * recipe.pairs, length, shape, first_only=True, global_tokens=QUERY)
    hidden = (recipe.mask_probability or 0.0) * recipe.pairs * (length if recipe.mask != "query" else QUERY)
    head = hidden * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
    modelled = encode(recipe.pairs, length, shape, first_only=False, global_tokens=QUERY) + head
    of_task = {
        "rr": passes(2 * recipe.pairs, recipe.encode_chunk) * ranked,
        "qlm": passes(recipe.pairs, recipe.encode_chunk) * modelled,
    }
    return sum(of_task[task] for task in recipe.tasks) / len(recipe.tasks)


GROUP: dict[str, Callable[[Any, Shape, Fill], float]] = {
    "mlm": _mlm,
    "msm": _msm,
    "crop": _crop,
    "ict": _ict,
    "ccp": _ccp,
    "kept": _kept,
    "moco": _moco,
    "clir": _clir,
}


def per_step(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> float:
    """Operations of an average optimiser step."""
    operations = GROUP[recipe.objective](recipe, shape, fill)
    beside = GROUP["mlm"](recipe, shape, fill) if recipe.mlm_share else 0.0
    return recipe.groups * ((1 - recipe.mlm_share) * operations + recipe.mlm_share * beside)


def steps(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> int:
    """Optimiser steps: the recipe's, or as many as cost what another one does."""
    other = recipe.to_equal()
    if other is None:
        return recipe.steps
    return max(1, round(per_step(other, shape, fill) * other.steps / per_step(recipe, shape, fill)))


def operations(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> tuple[float, int]:
    """(operations, steps) of a whole pretraining."""
    number = steps(recipe, shape, fill)
    return per_step(recipe, shape, fill) * number, number

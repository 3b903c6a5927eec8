"""Operations of a fine-tuning, its dev set among them, from the recipe and the number of examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stele.training.flops import Shape, encode, passes

AVERAGE_RANK = "average_rank_from_epoch_"
DEV_NEGATIVES, DEV_LIMIT = 60, 15_000  # the recipe's own defaults


class Texts(NamedTuple):
    """Tokens of texts: their mean, and the longest of a training group."""

    mean: float
    longest: float

    def within(self, limit: int) -> Texts:
        return Texts(min(self.mean, limit), min(self.longest, limit))

    def padded(self, number: float, chunk: int | None) -> float:
        """Mean length of `number` texts that are padded together, or by length in chunks."""
        chunks = max(1, -(-number // chunk)) if chunk else 1
        return self.mean + (self.longest - self.mean) / chunks


def steps(recipe: Mapping[str, Any], examples: int) -> int:
    """Optimiser steps of a fine-tuning; an epoch is the whole groups of the examples."""
    return recipe.get("steps") or max(1, int(recipe["epochs"] * _an_epoch(recipe, examples)))


def _an_epoch(recipe: Mapping[str, Any], examples: int) -> int:
    return max(1, examples // recipe["batch"] // recipe.get("accumulation", 1))


def per_step(recipe: Mapping[str, Any], shape: Shape, query: Texts, passage: Texts) -> float:
    """Operations of an optimiser step: both towers forward and backward, and the scores."""
    chunk, first = recipe.get("encode_chunk"), recipe["pooling"] != "mean"
    queries = recipe["batch"]
    passages = queries * (1 + recipe["hard_negatives"] * recipe.get("hard_negative_ratio", 1.0))
    sides = ((queries, query.within(recipe["query_length"])), (passages, passage.within(recipe["passage_length"])))
    encoder = sum(
        passes(number, chunk) * encode(number, texts.padded(number, chunk), shape, first) for number, texts in sides
    )
    return recipe.get("accumulation", 1) * (encoder + 3 * 2 * shape.width * queries * passages)


def dev(recipe: Mapping[str, Any], shape: Shape, query: Texts, passage: Texts, examples: int, questions: int) -> float:
    """Operations of choosing a checkpoint: what is encoded at each evaluation."""
    if recipe.get("selection", "last") == "last" and not recipe.get("evaluate_every"):
        return 0.0
    an_epoch, every = _an_epoch(recipe, examples), recipe.get("evaluate_every")
    number = steps(recipe, examples) // (every or an_epoch)
    ranked = 0
    if str(recipe["selection"]).startswith(AVERAGE_RANK):
        first = int(recipe["selection"].removeprefix(AVERAGE_RANK)) * an_epoch // (every or an_epoch)
        ranked = max(0, number - first)
    questions = min(questions, recipe.get("dev_limit") or DEV_LIMIT)
    of_a_question = ranked * (1 + recipe.get("dev_negatives", DEV_NEGATIVES)) + (number - ranked) * (
        1 + min(1, recipe["hard_negatives"])
    )
    first_only = recipe["pooling"] != "mean"
    queries = number * questions * encode(1, query.within(recipe["query_length"]).mean, shape, first_only)
    passages = of_a_question * questions * encode(1, passage.within(recipe["passage_length"]).mean, shape, first_only)
    return queries + passages


def operations(
    recipe: Mapping[str, Any], shape: Shape, query: Texts, passage: Texts, examples: int, questions: int
) -> tuple[float, int]:
    """(operations, steps) of a whole fine-tuning."""
    number = steps(recipe, examples)
    training = number * per_step(recipe, shape, query, passage)
    return training + dev(recipe, shape, query, passage, examples, questions), number

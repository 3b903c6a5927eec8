"""Operations of a fine-tuning, its dev set among them, from the recipe and the number of examples."""

from __future__ import annotations

from typing import NamedTuple

from stele.recipes.finetuning import FinetuningRecipe
from stele.recipes.flops import Shape, encode, passes


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


def per_step(recipe: FinetuningRecipe, shape: Shape, query: Texts, passage: Texts) -> float:
    """Operations of an optimiser step: both towers forward and backward, and the scores."""
    chunk, first = recipe.encode_chunk, recipe.pooling != "mean"
    queries = recipe.batch
    passages = queries * (1 + recipe.hard_negatives * recipe.hard_negative_ratio)
    sides = ((queries, query.within(recipe.query_length)), (passages, passage.within(recipe.passage_length)))
    encoder = sum(
        passes(number, chunk) * encode(number, texts.padded(number, chunk), shape, first) for number, texts in sides
    )
    return recipe.accumulation * (encoder + 3 * 2 * shape.width * queries * passages)


def dev(recipe: FinetuningRecipe, shape: Shape, query: Texts, passage: Texts, examples: int, questions: int) -> float:
    """Operations of choosing a checkpoint: what is encoded at each evaluation."""
    if not recipe.needs_dev:
        return 0.0
    an_epoch = recipe.steps_per_epoch(examples)
    every = recipe.evaluate_every or an_epoch
    number, ranked = recipe.total_steps(examples) // every, 0
    if recipe.rank_from_epoch is not None:
        ranked = max(0, number - recipe.rank_from_epoch * an_epoch // every)
    questions = questions if recipe.dev_limit is None else min(questions, recipe.dev_limit)
    by_rank, by_nll = 1 + recipe.dev_negatives, 1 + min(1, recipe.hard_negatives)  # passages of a question
    first = recipe.pooling != "mean"
    queries = number * questions * encode(1, query.within(recipe.query_length).mean, shape, first)
    passage_work = encode(1, passage.within(recipe.passage_length).mean, shape, first)
    return queries + (ranked * by_rank + (number - ranked) * by_nll) * questions * passage_work


def operations(
    recipe: FinetuningRecipe, shape: Shape, query: Texts, passage: Texts, examples: int, questions: int
) -> tuple[float, int]:
    """(operations, steps) of a whole fine-tuning, of one step at least."""
    examples = max(examples, recipe.batch * recipe.accumulation)
    steps = recipe.total_steps(examples)
    training = steps * per_step(recipe, shape, query, passage)
    return training + dev(recipe, shape, query, passage, examples, questions), steps

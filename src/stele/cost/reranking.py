"""What re-ranking the judged documents of a pair of languages costs, by what scores them."""

from __future__ import annotations

from typing import Any

from stele.artifacts.results import RunKey
from stele.catalogue.schema.costs import JudgedSize
from stele.cost import counts, cpu_rules
from stele.cost.counts import costs
from stele.cost.finetuning import Texts
from stele.cost.shapes import saved_bytes, shape_of
from stele.cost.work import Work
from stele.evaluation.folds import FOLDS
from stele.plan.plan import Plan
from stele.plan.rows.reranked import Reranked
from stele.recipes.flops import encode
from stele.recipes.reranking import CrossEncoder, RerankingRecipe, Trained


def rerank(plan: Plan, w: Any) -> Work:
    """A job of rule `rerank`."""
    kind: Reranked = plan.rows.kinds.get("reranked")
    row, size = RunKey(w.benchmark, w.model, w.setting), counts.judged_size(w.benchmark)
    recipe = kind.recipe(row)
    if isinstance(recipe, CrossEncoder):
        return _of_transformer(plan, w.model, recipe, size)
    read = sum(cpu_rules.dataset_bytes(plan, *key.split(":")) for key in kind.vectors(row, w.part))
    return _of_words(recipe, size, read, 2 * counts.judged_collection(w.benchmark))


def _of_transformer(plan: Plan, model: str, recipe: CrossEncoder, size: JudgedSize) -> Work:
    """Five folds: three of them train the last layers, one is scored after each epoch that counts, one in the end."""
    shape, text = shape_of(plan, model).shape, costs().texts[size.pair]
    mean, longest = Texts(text.mean, text.longest).within(recipe.length)
    pairs, judged = _pairs(recipe, size), size.topics * (size.relevant + size.negative)
    backward = 2 * (recipe.tuned_layers or shape.layers) / shape.layers  # in passes forward: what is frozen has none
    training = 2 * pairs * (1 + backward) * encode(1, longest, shape, first_only=False)
    scored = (1 + recipe.epochs - recipe.dev_from_epoch + 1) * judged  # all folds together: each is a fifth
    characters = judged * costs().passage_characters
    return Work(
        {"training": training, "encoding": scored * encode(1, mean, shape, first_only=False)},
        steps=round(pairs / recipe.batch),
        cpu_seconds=characters / costs().rates.mined_bytes,
        kept=judged * costs().run_bytes,
        temporary=2 * saved_bytes(shape),
    )


def _of_words(recipe: RerankingRecipe, size: JudgedSize, vector_bytes: float, characters: float) -> Work:
    """The collection is read, and vectors; words are compared, and a small network takes its steps."""
    rates, judged = costs().rates, size.topics * (size.relevant + size.negative)
    seconds = characters / rates.read_bytes + vector_bytes / rates.vector_bytes + judged / rates.matched_documents
    if isinstance(recipe, Trained):
        seconds += costs().small_step_seconds * _pairs(recipe, size) / recipe.batch
    return Work(cpu_seconds=seconds, kept=judged * costs().run_bytes)


def _pairs(recipe: Trained, size: JudgedSize) -> float:
    """Pairs of documents in training, all folds and epochs together."""
    return recipe.epochs * FOLDS * 3 / 5 * size.topics * size.relevant

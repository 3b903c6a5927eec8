"""How a generator of queries is fine-tuned (Shi et al., section 4.2): from translated pairs of query and passage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from stele.files.strict import validate
from stele.recipes.finetuning import TrainingSet
from stele.recipes.optimisation import Optimisation


class GeneratorRecipe(Optimisation):
    """The passage is the input, the query what is learnt; cross-entropy of its tokens, label-smoothed."""

    training_set: TrainingSet
    pairs: int = Field(ge=1, description="drawn of the training set")
    language_code: str | None = Field(
        None, description="mBART's name of the language (hi_IN), with which both texts are marked; None: unmarked"
    )
    source_length: int = Field(512, ge=3, description="tokens of a passage, special ones included")
    query_length: int = Field(64, ge=2)
    batch: int = Field(ge=1, description="pairs a step")
    label_smoothing: float = Field(0.0, ge=0, lt=1)


def parse_recipe(values: Mapping[str, Any], where: str = "--recipe") -> GeneratorRecipe:
    """Validates a recipe; what is wrong is said with the key and what is valid.

    >>> sizes = {"pairs": 2000, "batch": 20, "steps": 1000, "learning_rate": 3e-5}
    >>> parse_recipe({"training_set": "jsonl", **sizes}).source_length
    512
    """
    return validate(GeneratorRecipe, values, where)

"""What a way of making a stand-in is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stele.recipes.standin import Recipe, parse_recipe
from stele.registry import load_named

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from stele.training.loop import Named, Outcome

KINDS = "stele_world.standins"

Losses = Callable[[int], "Iterator[Named]"]


@dataclass(frozen=True)
class Given:
    """What a stand-in is made from.

    `train(module, loss_at)` runs the training loop and returns its outcome; a third argument is its `after_step`.
    """

    mirror: Path
    languages: Sequence[str]
    bases: Sequence[Path]
    seed: int
    train: Callable[..., Outcome]


@dataclass(frozen=True)
class Folder:
    """How a sentence-transformers folder is its original's: the prompts that it names (None: it has no file of them),

    and how it holds its weights.
    """

    prompts: Mapping[str, str] | None
    weights: str = "float32"
    sharded: bool = False


@dataclass(frozen=True)
class Made:
    """A finished stand-in. `spec` (an EncodingSpec's values) and `heads` make it a sentence-transformers folder."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    outcome: Outcome
    spec: Mapping[str, Any] | None = None
    heads: Sequence[Any] = ()
    folder: Folder | None = None


def parse(values: Any, where: str = "--recipe") -> tuple[ModuleType, Recipe]:
    """The module of a recipe's kind and the recipe, checked by that kind's model."""
    recipe = parse_recipe(values, where)
    return load_named(KINDS, recipe.kind, "kind of stand-in"), recipe

"""What the recipe of a stand-in may say, and what a way of making one is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from stele.errors import SteleError, unknown
from stele.files.strict import STRICT
from stele.registry import load_named

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

KINDS = "stele.world.standins"


class Part(BaseModel):
    """Keys that are not known are refused."""

    model_config = STRICT


class Tokenizer(Part):
    """A tokenizer of its own: XLM-R's (one vocabulary of pieces), BERT's WordPiece, RoBERTa's byte-level BPE."""

    kind: Literal["sentencepiece", "wordpiece", "byte"]
    size: int = Field(ge=16, description="tokens, special ones included")
    lowercase: bool = False


class Architecture(Part):
    """The sizes of a new encoder, in the words of papers; `positions` counts tokens that fit."""

    model_type: Literal["xlm-roberta", "roberta", "bert", "ernie", "distilbert"]
    layers: int = Field(2, ge=1)
    width: int = Field(64, ge=1)
    heads: int = Field(4, ge=1)
    inner: int = Field(256, ge=1)
    positions: int = Field(512, ge=8)


class Recipe(Part):
    """The keys of every stand-in: where it is published, and one training run of masked language modelling or more."""

    kind: str
    repo: str | None = Field(None, description="its id on the hub; None: released elsewhere, as a folder")
    bases: list[str] = Field([], description="the stand-ins it continues from")
    publish: Literal["safetensors", "pytorch_model.bin"] = "safetensors"
    english: bool = Field(False, description="reads English only")

    steps: int = Field(ge=1)
    batch: int = Field(24, ge=2, description="windows of text a step")
    length: int = Field(32, ge=3, description="tokens of a window, special ones included")
    mask_probability: float = Field(0.3, gt=0, lt=1)
    sampling_alpha: float = Field(0.3, ge=0, le=1)
    dropout: float = Field(0.0, ge=0, lt=1, description="in this training; config.json keeps 0.1, its original's")
    learning_rate: float = Field(3e-3, gt=0)
    warmup: float = Field(0.05, ge=0, le=1, description="share of the steps")
    threads: int = Field(1, ge=1)

    def of(self, languages: Iterable[str]) -> list[str]:
        """The languages it reads, of those there are."""
        return ["en"] if self.english else list(languages)


class PairsRecipe(Recipe):
    """The further keys of those that also learn from pairs of texts."""

    pairs: int = Field(32, ge=2, description="pairs a step; each one's negatives are the others of its batch")
    pair_length: int = Field(32, ge=3, description="tokens of a side, special ones included")
    temperature: float = Field(0.05, gt=0)


Losses = Callable[[int], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True)
class Given:
    """What a stand-in is made from.

    `train(module, loss_at)` runs the training loop and returns its outcome; a third argument is its `after_step`.
    """

    mirror: Path
    languages: Sequence[str]
    bases: Sequence[Path]
    seed: int
    train: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Made:
    """A finished stand-in. `spec` (an EncodingSpec's values) and `heads` make it a sentence-transformers folder."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    outcome: Mapping[str, Any]
    spec: Mapping[str, Any] | None = None
    heads: Sequence[Any] = ()


def parse(values: Any, where: str = "--recipe") -> tuple[ModuleType, Recipe]:
    """The module of a recipe's kind and the recipe, checked by that module's model."""
    if not isinstance(values, Mapping) or "kind" not in values:
        raise SteleError(f"{where}: want a JSON object with `kind`, the name of a file in world/standins")
    module = load_named(KINDS, str(values["kind"]), "kind of stand-in")
    extra = sorted(set(values) - set(module.Recipe.model_fields))
    if extra:
        raise unknown("key", extra[0], module.Recipe.model_fields, where)
    try:
        recipe = module.Recipe(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "values"
        raise SteleError(f"{where}: {key}: {first['msg']} (found {first['input']!r})") from None
    if len(recipe.bases) != module.BASES:
        raise SteleError(f"{where}: kind {recipe.kind} continues from {module.BASES}, found bases: {recipe.bases}")
    return module, recipe

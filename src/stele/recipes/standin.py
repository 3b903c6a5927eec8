"""What the recipe of a stand-in may say: the keys of all; a kind's own stand in recipes/standins/{kind}.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Strict, validate
from stele.registry import load_named

RECIPES = "stele.recipes.standins"


class Tokenizer(Strict):
    """A tokenizer of its own: XLM-R's (one vocabulary of pieces), mBART's two, BERT's WordPiece, RoBERTa's bytes.

    `ending`: bytes, with one token at the end of a text and padding on the left, as decoders have it.
    """

    kind: Literal["sentencepiece", "wordpiece", "byte", "mbart", "mbart50", "ending"]
    size: int = Field(ge=16, description="tokens, special ones included")
    lowercase: bool = False


class Architecture(Strict):
    """The sizes of a new model, in the words of papers; `positions` counts tokens that fit.

    A model with a decoder has as many layers there.
    """

    model_type: Literal["xlm-roberta", "roberta", "bert", "ernie", "distilbert", "mbart", "gte", "qwen3", "gemma3_text"]
    layers: int = Field(2, ge=1)
    width: int = Field(64, ge=1)
    heads: int = Field(4, ge=1)
    inner: int = Field(256, ge=1)
    positions: int = Field(512, ge=8)
    bidirectional: bool = Field(False, description="a decoder that looks both ways")


class Recipe(Strict):
    """The keys of every stand-in: where it is published, and one training run of masked language modelling or more."""

    BASES: ClassVar[int] = 1  # how many stand-ins its kind continues from

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

    @model_validator(mode="after")
    def _bases_are_as_many(self) -> Recipe:
        if len(self.bases) != self.BASES:
            raise ValueError(f"bases: kind {self.kind} continues from {self.BASES} (found {self.bases})")
        return self

    @property
    def own_layers(self) -> int | None:
        """How many layers it has; None: as many as the first stand-in that it continues from."""
        return None

    def of(self, languages: Iterable[str]) -> list[str]:
        """The languages it reads, of those there are."""
        return ["en"] if self.english else list(languages)


class PairsRecipe(Recipe):
    """The further keys of those that also learn from pairs of texts."""

    pairs: int = Field(32, ge=2, description="pairs a step; each one's negatives are the others of its batch")
    pair_length: int = Field(32, ge=3, description="tokens of a side, special ones included")
    temperature: float = Field(0.05, gt=0)


def recipe_model(kind: str) -> type[Recipe]:
    """The recipe of a kind of stand-in, a file of recipes/standins; torch is not needed for it."""
    return load_named(RECIPES, kind, "kind of stand-in").Recipe


def parse_recipe(values: Any, where: str = "--recipe") -> Recipe:
    """Validates a recipe with the model of its kind; what is wrong is said with the key and what is valid."""
    if not isinstance(values, Mapping) or not isinstance(values.get("kind"), str):
        raise SteleError(f"{where}: want an object with `kind`, the name of a file in recipes/standins")
    return validate(recipe_model(values["kind"]), values, where)

"""Recipes of stand-ins for public checkpoints: one class per kind, named like the kind.

Apart from the code that makes stand-ins (`stele_world.standins`): planning does not need torch.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stele.errors import SteleError, check_known
from stele.files.strict import Strict, validate
from stele.recipes.pretraining import CropRatio, PretrainingRecipe, recipe_model


class Tokenizer(Strict):
    """A stand-in's own tokenizer: XLM-R's (SentencePiece), mBART's two, BERT's WordPiece, RoBERTa's byte-level BPE.

    `ending`: byte-level, with one special token at the end of a text and padding on the left, as for decoders.
    """

    kind: Literal["sentencepiece", "wordpiece", "byte", "mbart", "mbart50", "ending"]
    size: int = Field(ge=16, description="number of tokens, special ones included")
    lowercase: bool = Field(False, description="whether texts are lower-cased")


class Architecture(Strict):
    """Sizes of a new model, by the names that papers use; `positions` is the most tokens of an input.

    A model with a decoder has the same number of layers there.
    """

    model_type: Literal["xlm-roberta", "roberta", "bert", "ernie", "distilbert", "mbart", "gte", "qwen3", "gemma3_text"]
    layers: int = Field(2, ge=1)
    width: int = Field(64, ge=1)
    heads: int = Field(4, ge=1)
    inner: int = Field(256, ge=1)
    positions: int = Field(512, ge=8)
    bidirectional: bool = Field(False, description="a decoder's layers attend in both directions")


class Recipe(Strict):
    """Keys of every stand-in: the form in which it is published, and its training by masked language modelling."""

    BASES: ClassVar[int] = 1  # number of stand-ins from which this kind continues

    kind: str
    repo: str | None = Field(
        None, description="hub id under which the stand-in is published; null: released elsewhere, as a folder"
    )
    bases: list[str] = Field([], description="stand-ins from which it continues, by key")
    publish: Literal["safetensors", "pytorch_model.bin"] = Field(
        "safetensors", description="format in which the weights are published"
    )
    english: bool = Field(False, description="true: it learns from English text only")

    steps: int = Field(ge=1, description="number of optimiser steps")
    batch: int = Field(24, ge=2, description="windows of text in a step")
    length: int = Field(32, ge=3, description="most tokens of a window, special ones included")
    mask_probability: float = Field(0.3, gt=0, lt=1, description="share of the tokens to predict")
    sampling_alpha: float = Field(
        0.3,
        ge=0,
        le=1,
        description="exponent of a language's size in its probability: 1 follows the sizes, 0 is uniform",
    )
    dropout: float = Field(
        0.0, ge=0, lt=1, description="dropout probability in this training; config.json keeps 0.1, as in the original"
    )
    learning_rate: float = Field(3e-3, gt=0, description="highest learning rate")
    warmup: float = Field(0.05, ge=0, le=1, description="share of the steps that are warm-up")
    threads: int = Field(1, ge=1, description="CPU threads; another number changes the last bits of the result")

    @model_validator(mode="after")
    def _bases_are_as_many(self) -> Self:
        if len(self.bases) != self.BASES:
            raise ValueError(f"bases: found {self.bases}, but kind {self.kind} continues from {self.BASES} stand-in(s)")
        return self

    @property
    def own_layers(self) -> int | None:
        """Number of layers; None: as in the first base."""
        sizes = getattr(self, "architecture", None) or self
        return getattr(sizes, "layers", None)

    def of(self, languages: Iterable[str]) -> list[str]:
        """Languages that the stand-in reads: only English, or all `languages`."""
        return ["en"] if self.english else list(languages)


class PairsRecipe(Recipe):
    """Further keys of stand-ins that also learn from pairs of texts."""

    pairs: int = Field(32, ge=2, description="pairs in a step; the negatives of a pair are the others in its batch")
    pair_length: int = Field(32, ge=3, description="most tokens of each side of a pair, special ones included")
    temperature: float = Field(0.05, gt=0, description="divisor of scores before the softmax")


class Trained(Recipe):
    """A stand-in trained from new weights."""

    BASES = 0

    tokenizer: Tokenizer
    architecture: Architecture


class Denoising(Trained):
    """A stand-in that learns to restore texts with hidden spans; `mask_probability` is the share of hidden tokens."""

    span: float = Field(3.5, gt=0, description="mean length of a hidden span, in tokens")


class Stacked(Recipe):
    """A stand-in with more layers than its base."""

    layers: int = Field(ge=1, description="number of layers")


class Lengthened(Recipe):
    """A stand-in that reads longer texts than its base."""

    positions: int = Field(ge=8, description="most tokens of an input")


class Retokenised(Recipe):
    """A stand-in with the layers of its base and a tokenizer of its own."""

    tokenizer: Tokenizer


class Spans(Recipe):
    """A stand-in that learns to predict spans of words."""


class Translation(PairsRecipe):
    """A stand-in that learns from translations, beside masked language modelling."""


class Windows(PairsRecipe):
    """A stand-in that learns from neighbouring sentences."""

    window: int = Field(2, ge=1, description="largest distance, in sentences, between a sentence and its partner")


class Moco(PairsRecipe):
    """A stand-in that learns from crops of the same text, by MoCo."""

    queue: int = Field(ge=1, description="number of keys of earlier steps that serve as negatives")
    momentum: float = Field(ge=0, le=1, description="share of its own weights that the key encoder keeps in a step")
    crop_ratio: CropRatio = (0.1, 0.5)

    @model_validator(mode="after")
    def _queue_holds_a_step(self) -> Self:
        if self.queue < self.pairs:
            raise ValueError(f"queue: found {self.queue}, want at least a step's {self.pairs} keys")
        return self

    def objective(self) -> PretrainingRecipe:
        """Recipe with the keys that the MoCo objective reads; the optimisation is the stand-in's own."""
        shared = self.model_dump(include={"pairs", "temperature", "queue", "momentum", "crop_ratio"})
        return recipe_model("moco").model_construct(**shared, length=self.pair_length, groups=1, encode_chunk=None)


class Ranking(PairsRecipe):
    """A stand-in that learns to rank translations."""

    margin: float = Field(0.3, ge=0, description="margin of the ranking loss")
    max_length: int = Field(256, ge=8, description="most tokens of a text, which its folder states")


class Distilled(PairsRecipe):
    """A stand-in that starts from the layers of its first base and learns to imitate its second, the teacher."""

    BASES = 2

    layers: int = Field(ge=1, description="number of layers")
    max_length: int = Field(128, ge=8, description="most tokens of a text, which its folder states")


class Contrastive(PairsRecipe):
    """A stand-in encoder trained for retrieval on translations, with English as the query."""

    architecture: Architecture | None = Field(
        None,
        description="sizes of a new model with the tokenizer of its base; null: training continues with the base "
        "itself",
    )
    pooling: Literal["cls", "mean", "last"] = Field(description="which hidden states give a text's vector")
    query_prompt: str = Field("", description="text before every query in training")
    passage_prompt: str = Field("", description="text before every passage in training")
    prompts: dict[str, str] | None = Field(
        None, description="prompts that its folder names; null: the folder has no file of prompts"
    )
    dense: list[int] = Field([], description="widths of the linear maps after pooling, which have no bias")
    weights: Literal["float32", "bfloat16"] = Field("float32", description="number format of the weights in its folder")
    sharded: bool = Field(
        False, description="true: weights are in several files with an index, as those of a large model"
    )
    max_length: int = Field(256, ge=8, description="most tokens of a text, which its folder states")


class Causal(Contrastive):
    """A stand-in encoder with a decoder's architecture and a tokenizer of its own."""

    BASES = 0

    tokenizer: Tokenizer
    architecture: Architecture


def kinds() -> dict[str, type[Recipe]]:
    """Recipe class of each kind of stand-in, by the kind's name."""
    return {
        value.__name__.lower(): value
        for value in globals().values()
        if isinstance(value, type) and issubclass(value, Recipe) and value not in (Recipe, PairsRecipe)
    }


def parse_recipe(values: Any, where: str = "--recipe") -> Recipe:
    """Validates a recipe with the class of its kind; raises SteleError for wrong keys."""
    if not isinstance(values, Mapping) or not isinstance(values.get("kind"), str):
        raise SteleError(f"{where}: want an object with `kind`, one of {', '.join(kinds())}")
    check_known("kind of stand-in", values["kind"], kinds(), where)
    return validate(kinds()[values["kind"]], values, where)

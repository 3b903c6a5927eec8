"""How stand-ins for public checkpoints are made: a recipe class a kind, whose name in small letters is the kind's.

They stand here and not beside the code that makes stand-ins (`stele_world.standins`), so that the catalogue is checked
and jobs are planned without torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError, unknown
from stele.files.strict import Strict, validate
from stele.recipes.pretraining import CropRatio, PretrainingRecipe, recipe_model


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


class Trained(Recipe):
    """Trained from the start."""

    BASES = 0

    tokenizer: Tokenizer
    architecture: Architecture

    @property
    def own_layers(self) -> int:
        return self.architecture.layers


class Denoising(Trained):
    """Learns to restore texts; `mask_probability` is the share of a text's tokens that are hidden, span by span."""

    span: float = Field(3.5, gt=0, description="mean length of a hidden span, in tokens")


class Stacked(Recipe):
    """More layers than its base."""

    layers: int = Field(ge=1)

    @property
    def own_layers(self) -> int:
        return self.layers


class Lengthened(Recipe):
    """Longer texts than its base's."""

    positions: int = Field(ge=8, description="tokens that fit")


class Retokenised(Recipe):
    """The layers of its base, and a tokenizer of its own."""

    tokenizer: Tokenizer


class Spans(Recipe):
    """Predicts spans of words."""


class Translation(PairsRecipe):
    """Learns from translations, beside masked language modelling."""


class Windows(PairsRecipe):
    """Learns from neighbouring sentences."""

    window: int = Field(2, ge=1, description="how many sentences away a partner may be")


class Moco(PairsRecipe):
    """Learns from crops of one text."""

    queue: int = Field(ge=1, description="keys of earlier steps")
    momentum: float = Field(ge=0, le=1, description="what the encoder of the keys keeps of itself in a step")
    crop_ratio: CropRatio = (0.1, 0.5)

    @model_validator(mode="after")
    def _queue_holds_a_step(self) -> Moco:
        if self.queue < self.pairs:
            raise ValueError(f"queue: want room for the {self.pairs} keys of a step")
        return self

    def objective(self) -> PretrainingRecipe:
        """The keys that the objective reads; how it is optimised is the stand-in's own matter."""
        shared = self.model_dump(include={"pairs", "temperature", "queue", "momentum", "crop_ratio"})
        return recipe_model("moco").model_construct(**shared, length=self.pair_length, groups=1, encode_chunk=None)


class Ranking(PairsRecipe):
    """Ranks translations."""

    margin: float = Field(0.3, ge=0)
    max_length: int = Field(256, ge=8, description="tokens after which its folder says to cut")


class Distilled(PairsRecipe):
    """Imitates a teacher, its second base; it starts from the layers of the first."""

    BASES = 2

    layers: int = Field(ge=1)
    max_length: int = Field(128, ge=8, description="tokens after which its folder says to cut")

    @property
    def own_layers(self) -> int:
        return self.layers


class Contrastive(PairsRecipe):
    """An encoder that is trained for retrieval. It learns from translations, English as the question."""

    architecture: Architecture | None = Field(
        None, description="of a new model with its base's tokenizer; None: its base itself is trained on"
    )
    pooling: Literal["cls", "mean", "last"]
    query_prompt: str = Field("", description="what questions begin with in training")
    passage_prompt: str = Field("", description="what passages begin with in training")
    prompts: dict[str, str] | None = Field(
        None, description="those that its folder names; None: it has no file of them"
    )
    dense: list[int] = Field([], description="widths of the linear maps after pooling, without bias")
    weights: Literal["float32", "bfloat16"] = Field("float32", description="as its folder holds them")
    sharded: bool = Field(False, description="weights in several files with an index, as a large model's")
    max_length: int = Field(256, ge=8, description="tokens after which its folder says to cut")


class Causal(Contrastive):
    """An encoder that is a decoder, with a tokenizer of its own."""

    BASES = 0

    tokenizer: Tokenizer
    architecture: Architecture


def kinds() -> dict[str, type[Recipe]]:
    """Kind -> its recipe: the classes of this module that a stand-in may have."""
    classes = [value for value in globals().values() if isinstance(value, type) and issubclass(value, Recipe)]
    return {value.__name__.lower(): value for value in classes if value not in (Recipe, PairsRecipe)}


def parse_recipe(values: Any, where: str = "--recipe") -> Recipe:
    """Validates a recipe with the class of its kind. Raises SteleError with the key and what is valid."""
    if not isinstance(values, Mapping) or not isinstance(values.get("kind"), str):
        raise SteleError(f"{where}: want an object with `kind`, one of {', '.join(kinds())}")
    if values["kind"] not in kinds():
        raise unknown("kind of stand-in", values["kind"], kinds())
    return validate(kinds()[values["kind"]], values, where)

"""adaptation.yaml: how the sizes of an adaptation follow from an encoder and a budget."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from stele.files.strict import Strict


class EncoderSizes(Strict):
    """How encoders up to a size are trained; `weights` in millions, None: all larger ones.

    encode_chunk: as in a recipe of pretraining; None: each recipe's own.
    """

    weights: float | None = Field(gt=0)
    learning_rate: float = Field(gt=0)
    groups: int = Field(ge=1)
    encode_chunk: int | None = Field(None, ge=1)


class HeldOut(Strict):
    """How many documents of a language no training reads, and among how many a sentence's neighbour is looked for."""

    share: float = Field(gt=0, lt=1)
    documents: int = Field(ge=1)
    candidates: int = Field(ge=2)


class AdaptationRules(Strict):
    """The file."""

    FILE: ClassVar = "adaptation"

    encoders: list[EncoderSizes] = Field(min_length=1)
    mlm_share: float = Field(ge=0, lt=1, description="share of a method's groups that are MLM batches")
    warmup: float = Field(ge=0, le=1)
    steps: int = Field(ge=1)
    fewest_steps: int = Field(ge=1)
    measured_steps: int = Field(ge=1)
    methods: list[str] = Field(min_length=1)
    control: str
    bar: float = Field(gt=0)
    held_out: HeldOut

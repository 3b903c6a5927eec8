"""Schema of adaptation.yaml: how an encoder and a budget determine the sizes of an adaptation."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from stele.files.strict import Strict


class EncoderSizes(Strict):
    """Training sizes for encoders of up to `weights` million weights (None: for all larger encoders).

    encode_chunk: as in a pretraining recipe; None: the value of each recipe.
    """

    weights: float | None = Field(gt=0)
    learning_rate: float = Field(gt=0)
    groups: int = Field(ge=1)
    encode_chunk: int | None = Field(None, ge=1)


class HeldOut(Strict):
    """Documents of a language that are held out from training, and candidates to search for a sentence's neighbour."""

    share: float = Field(gt=0, lt=1)
    documents: int = Field(ge=1)
    candidates: int = Field(ge=2)


class AdaptationRules(Strict):
    """All values of adaptation.yaml."""

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

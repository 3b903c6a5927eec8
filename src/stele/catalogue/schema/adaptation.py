"""Schema of adaptation.yaml: how an encoder and a budget determine the sizes of an adaptation."""

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

    share: float = Field(gt=0, lt=1, description="share of a language's documents that are held out")
    documents: int = Field(ge=1, description="most documents of a language that are held out")
    candidates: int = Field(ge=2, description="sentences among which a sentence's neighbour is searched")


class AdaptationRules(Strict):
    FILE: ClassVar = "adaptation"

    encoders: list[EncoderSizes] = Field(min_length=1)
    mlm_share: float = Field(ge=0, lt=1, description="share of a method's groups that are MLM batches")
    warmup: float = Field(ge=0, le=1, description="share of the steps that are warm-up")
    steps: int = Field(ge=1, description="training steps without --steps and --hours")
    fewest_steps: int = Field(ge=1, description="fewest training steps; --hours that allow fewer are refused")
    measured_steps: int = Field(ge=1, description="steps that are timed to compute how many fit into --hours")
    methods: list[str] = Field(min_length=1, description="pretraining recipes that can be chosen with --methods")
    control: str = Field(description="pretraining recipe of the control")
    bar: float = Field(gt=0, description="smallest difference of interest, for metrics from 0 to 1")
    held_out: HeldOut

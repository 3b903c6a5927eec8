"""devices.yaml, checkpoint_sizes.yaml, cc100_sizes.yaml and dump_sizes.yaml: plain figures."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from stele.files.strict import Strict

Bytes = Annotated[int, Field(gt=0, strict=True)]
Whole = Annotated[int, Field(ge=1)]


class Device(Strict):
    """A GPU, by SLURM's name of it."""

    FILE: ClassVar = "devices"

    half: float = Field(gt=0, description="peak in TFLOPS of dense 16-bit matrix products")
    single: float = Field(gt=0, description="peak in TFLOPS of float32 without TF32")
    memory: float = Field(gt=0, description="GB")


class Checkpoint(Strict):
    """The sizes of a public checkpoint."""

    FILE: ClassVar = "checkpoint_sizes"

    layers: Whole
    width: Whole
    inner: Whole = Field(description="width inside a layer's two linear maps")
    vocabulary: Whole
    bytes: Bytes = Field(description="of its weights on the hub, about")

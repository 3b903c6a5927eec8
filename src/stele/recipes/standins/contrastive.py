"""The recipe of a stand-in for an encoder that is trained for retrieval (world/standins/contrastive.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.PairsRecipe):
    """Its own keys. It learns from translations, English as the question."""

    architecture: standin.Architecture | None = Field(
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

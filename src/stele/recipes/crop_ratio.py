"""The key of recipes that crop stretches of text."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def _shares(ratio: tuple[float, float]) -> tuple[float, float]:
    if not 0 < ratio[0] <= ratio[1] <= 1:
        raise ValueError("want two shares of a stretch, the smaller first, above 0 and up to 1")
    return ratio


CropRatio = Annotated[
    tuple[float, float],
    Field(strict=False),  # YAML and JSON have lists
    AfterValidator(_shares),
    Field(description="shortest and longest crop, as shares of the stretch that it is taken from"),
]

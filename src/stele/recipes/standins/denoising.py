"""The recipe of a stand-in that learns to restore texts (world/standins/denoising.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes.standins import trained


class Recipe(trained.Recipe):
    """Its own keys; `mask_probability` is the share of a text's tokens that are hidden, span by span."""

    span: float = Field(3.5, gt=0, description="mean length of a hidden span, in tokens")

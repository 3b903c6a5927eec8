"""The recipe of a stand-in for longer texts (world/standins/lengthened.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.Recipe):
    """Its own keys."""

    positions: int = Field(ge=8, description="tokens that fit")

"""The mining recipe of section pairs (Yu et al., section 4.1; pairs/methods/section.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.mining import MiningRecipe

NLTK = {"de": "GERMAN", "en": "EN_PLUS", "es": "SPANISH", "fr": "FRENCH"}  # what bm25s calls NLTK's lists


class Recipe(MiningRecipe):
    """The keys of section pairs."""

    method: Literal["section"] = "section"
    threshold: float = Field(0.3, ge=-1, lt=1, description="the cosine of two headings is above it")
    least_sentences: int = Field(5, ge=1, description="of both sections of a pair")
    stop_words: dict[str, str] = Field(
        NLTK, description="language -> a list of bm25s, by the end of its name there; others have none"
    )
    max_pairs: int | None = Field(None, ge=1, description="most pairs of a part; null: all there are")

"""How a document is cut into units: the keys that MSM and CROP share (pairs/segments.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.recipes.mining import MiningRecipe


class UnitRecipe(MiningRecipe):
    """How documents become pieces of units. Lengths in tokens count the two special ones that training adds."""

    unit: Literal["sentences", "blocks"] = "sentences"
    sentence_words: int | None = Field(64, ge=1, description="unit sentences: most words of one; null: any number")
    sentence_tokens: int = Field(64, ge=3, description="unit sentences: most tokens of one")
    block_tokens: int = Field(64, ge=3, description="unit blocks: most tokens of one")
    sentences: int = Field(32, ge=2, description="most units of a piece")
    sentences_min: int | None = Field(
        None,
        ge=2,
        description="a piece with fewer units is dropped; null: 2 sentences, or as many blocks as a piece has",
    )

    @model_validator(mode="after")
    def _least_fits(self) -> UnitRecipe:
        if self.least > self.sentences:
            raise ValueError(f"sentences_min {self.least} is more than the {self.sentences} sentences of a piece")
        return self

    @property
    def least(self) -> int:
        return self.sentences_min or (2 if self.unit == "sentences" else self.sentences)

    def text(self, sentence: str) -> str:
        """The sentence's first `sentence_words` words; the same object where nothing is cut."""
        most = self.sentence_words
        if self.unit != "sentences" or most is None or len(sentence) < 2 * most:
            return sentence  # so many words, with spaces between them, would need more characters
        words = sentence.split(None, most)
        return sentence if len(words) <= most else " ".join(words[:most])

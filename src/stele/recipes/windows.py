"""How documents that are longer than an encoder reads are cut into windows, and scored by them."""

from __future__ import annotations

from pydantic import Field, model_validator

from stele.files.strict import Strict


class Windows(Strict):
    """Shi et al., section 5: "a sliding window of 5 sentences and a stride of 1 sentence", 100 hits, the mean of 3.

    A document's score is the mean of the scores of its `best` best windows among the `hits` that were retrieved for the
    query: of fewer where fewer were. With `best` 1 it is that of its best passage (max-passage).
    """

    sentences: int = Field(ge=1, description="a window")
    stride: int = Field(ge=1, description="sentences from one window's beginning to the next one's")
    hits: int = Field(ge=1, description="windows that are retrieved for a query")
    best: int = Field(ge=1, description="of a document's retrieved windows, whose mean score is the document's")

    @model_validator(mode="after")
    def _no_gap(self) -> Windows:
        if self.stride > self.sentences:
            raise ValueError(f"stride {self.stride} leaves out sentences between windows of {self.sentences}")
        return self


class TokenWindows(Strict):
    """Windows as long as the encoder reads, each with the document's title; of one that fits, the whole.

    With `best` 1 a document's score is that of its best window (max-passage: Dai and Callan, SIGIR 2019, section 3).
    """

    overlap: float = Field(ge=0, lt=1, description="share of a window that the next one has, too")
    hits: int = Field(ge=1, description="windows that are retrieved for a query")
    best: int = Field(1, ge=1, description="of a document's retrieved windows, whose mean score is the document's")

"""Recipes of searches: BM25 and its expansion, fusion of two rankings, windows, calibration of vectors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from stele.files.strict import Strict
from stele.recipes import Recipe

TopicField = Literal["title", "description", "narrative"]  # of a topic (TREC, CLEF, FIRE): which is the query
K1 = Annotated[float, Field(ge=0)]
B = Annotated[float, Field(ge=0, le=1)]


class Rm3(Strict):
    """Pseudo-relevance feedback by RM3 (Abdul-Jaleel et al. 2004) as Anserini has it, with its default values."""

    documents: int = Field(10, ge=1, description="best ones of BM25 that terms are taken from")
    terms: int = Field(10, ge=1, description="that are kept of each of them, and of all together")
    original_weight: float = Field(0.5, ge=0, le=1, description="of the query as it was")
    filter: Literal["ascii", "none"] = Field(
        "ascii", description="ascii: only terms of a-z and 0-9 are added, as Anserini did until 2021"
    )


class Bm25(Strict):
    """BM25 with fixed parameters."""

    k1: K1
    b: B
    lengths: Literal["exact", "lucene"] = Field("exact", description="lucene: rounded down as its one byte keeps them")
    field: TopicField | None = Field(None, description="of a topic, that is the query; None: the collection's own")


class Tuning(Strict):
    """BM25 with the k1 and b that give the best results on the questions of a split."""

    split: Literal["train", "dev"]
    k1: list[K1] = Field(min_length=1)
    b: list[B] = Field(min_length=1)


class Search(Bm25):
    """Recipe of a BM25 search job, with the model's query expansion if it has one; one with a `split` is a tuning."""

    rm3: Rm3 | None = None


class Fusion(Strict):
    """Fusion of rankings, with weight w for term matching and 1 - w for dense retrieval (Shi et al., section 3)."""

    scores: Literal["raw", "min_max"] = Field(
        "raw", description="min_max: each list's scores are scaled to 0..1, query by query; the paper states nothing"
    )


# --- documents longer than an encoder's input -------------------------------------------------------------------------
class Windows(Strict):
    """Windows of sentences; Shi et al., section 5: 5 sentences, a stride of 1 sentence, 100 hits, the mean of 3.

    A document's score is the mean score of its `best` highest windows among the `hits` windows retrieved for the query,
    or of all of them if it has fewer. With `best` 1 it is the score of its best passage (max-passage).
    """

    sentences: int = Field(ge=1, description="a window")
    stride: int = Field(ge=1, description="sentences from one window's beginning to the next one's")
    hits: int = Field(ge=1, description="windows that are retrieved for a query")
    best: int = Field(ge=1, description="of a document's retrieved windows, whose mean score is the document's")

    @model_validator(mode="after")
    def _no_gap(self) -> Windows:
        if self.stride > self.sentences:
            raise ValueError(f"stride: {self.stride} leaves out sentences, since a window has only {self.sentences}")
        return self


class TokenWindows(Strict):
    """Windows as long as the encoder's input, each with the document's title; a document that fits is one window.

    With `best` 1 a document's score is that of its best window (max-passage: Dai and Callan, SIGIR 2019, section 3).
    """

    overlap: float = Field(ge=0, lt=1, description="share of a window that the next one has, too")
    hits: int = Field(ge=1, description="windows that are retrieved for a query")
    best: int = Field(1, ge=1, description="of a document's retrieved windows, whose mean score is the document's")


# --- calibration (CCP, section 3.2) -----------------------------------------------------------------------------------
class RotationRecipe(Strict):
    """Recipe for learning the orthogonal map W between two languages without translations (Conneau et al. 2018).

    CCP refers to that paper and gives no values. The defaults are those of facebookresearch/MUSE 0ca12a0
    `unsupervised.py`, except `dis_most_frequent` (the most frequent words), which has no meaning for sentences.
    """

    start: Literal["adversarial", "identity"] = "adversarial"
    epochs: int = Field(5, ge=1, description="of the adversarial start; W is judged after each")
    epoch_vectors: int = Field(1_000_000, ge=1, description="of each language that W is trained on in an epoch")
    batch: int = Field(32, ge=1, description="vectors of each language")
    discriminator_steps: int = Field(5, ge=1, description="of the discriminator for one of W")
    discriminator_layers: int = Field(2, ge=0, description="hidden ones")
    discriminator_width: int = Field(2048, ge=1)
    input_dropout: float = Field(0.1, ge=0, lt=1)
    smoothing: float = Field(0.1, ge=0, lt=0.5, description="labels are this far from 0 and 1")
    learning_rate: float = Field(0.1, gt=0, description="of both, by SGD; W's falls")
    decay: float = Field(0.98, gt=0, le=1, description="of W's learning rate, after each epoch")
    shrink: float = Field(
        0.5, gt=0, le=1, description="besides, where the criterion falls for the second time or later"
    )
    beta: float = Field(0.001, ge=0, description="W goes towards an orthogonal matrix by so much a step")
    refinements: int = Field(5, ge=0, description="Procrustes solutions over mutual nearest neighbours by CSLS")
    neighbours: int = Field(10, ge=1, description="the k of CSLS")
    refinement_vectors: int = Field(15_000, ge=1, description="of each language, among which neighbours are sought")
    criterion_vectors: int = Field(10_000, ge=1, description="of each language, on which a W is judged")


class CalibrationRecipe(Recipe):
    """Recipe of a calibration: mean and deviation of each language's vectors, and the rotation W of each pair."""

    sentences: int = Field(200_000, ge=2, description="of CommonCrawl for each language; the paper states no number")
    scale_by: Literal["standard_deviation", "variance"] = Field(
        "standard_deviation", description="what shifted vectors are divided by; `variance` is the paper's word"
    )
    rotation: RotationRecipe = RotationRecipe()
    threads: int = Field(1, ge=1, description="of a CPU: they change the last bits")

    @model_validator(mode="after")
    def _sentences_suffice(self) -> CalibrationRecipe:
        for key in ("refinement_vectors", "criterion_vectors"):
            if (looked := getattr(self.rotation, key)) > self.sentences:
                raise ValueError(f"rotation.{key}: {looked} exceeds the {self.sentences} `sentences` a language has")
        return self

"""Recipes of searches: BM25 and its expansion, fusion of two rankings, windows, calibration of vectors."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from stele.files.strict import Strict
from stele.recipes import Recipe

TopicField = Literal["title", "description", "narrative"]  # of a topic (TREC, CLEF, FIRE): which is the query
K1 = Annotated[float, Field(ge=0)]
B = Annotated[float, Field(ge=0, le=1)]


class Rm3(Strict):
    """Pseudo-relevance feedback by RM3 (Abdul-Jaleel et al. 2004) as Anserini has it, with its default values."""

    documents: int = Field(10, ge=1, description="number of BM25's best documents from which terms are taken")
    terms: int = Field(
        10, ge=1, description="number of terms that are kept of each of these documents, and of all of them together"
    )
    original_weight: float = Field(
        0.5, ge=0, le=1, description="weight of the original query in the expanded one; the added terms have the rest"
    )
    filter: Literal["ascii", "none"] = Field(
        "ascii",
        description="ascii: only terms of a-z and 0-9 are added, as in Anserini until 2021; none: terms of any "
        "characters",
    )


class Bm25(Strict):
    """BM25 with fixed parameters."""

    k1: K1 = Field(description="BM25's parameter k1")
    b: B = Field(description="BM25's parameter b")
    lengths: Literal["exact", "lucene"] = Field(
        "exact",
        description="lengths of documents in the formula: exact, or rounded down as Lucene stores them in one byte",
    )
    field: TopicField | None = Field(
        None, description="field of a topic that is the query; null: the collection's default"
    )


class Tuning(Strict):
    """BM25 with the k1 and b that give the best results on the questions of a split."""

    split: Literal["train", "dev"] = Field(description="split whose questions choose k1 and b")
    k1: list[K1] = Field(min_length=1, description="values of k1 to try")
    b: list[B] = Field(min_length=1, description="values of b to try")


class Search(Bm25):
    """Recipe of a BM25 search job, with the model's query expansion if it has one; one with a `split` is a tuning."""

    rm3: Rm3 | None = Field(None, description="expansion of the queries by RM3; null: none")


class Fusion(Strict):
    """Fusion of rankings, with weight w for term matching and 1 - w for dense retrieval (Shi et al., section 3)."""

    scores: Literal["raw", "min_max"] = Field(
        "raw",
        description="raw: scores as they are; min_max: scores of each list scaled to 0..1, query by query; the "
        "paper does not say which",
    )


# --- documents longer than an encoder's input -------------------------------------------------------------------------
class Windows(Strict):
    """Windows of sentences; Shi et al., section 5: 5 sentences, a stride of 1 sentence, 100 hits, the mean of 3."""

    sentences: int = Field(ge=1, description="number of sentences in a window")
    stride: int = Field(ge=1, description="sentences from the beginning of one window to the beginning of the next")
    hits: int = Field(ge=1, description="number of windows that are retrieved for a query")
    best: int = Field(
        ge=1, description="number of a document's best retrieved windows whose mean score is the document's score"
    )

    @model_validator(mode="after")
    def _no_gap(self) -> Self:
        if self.stride > self.sentences:
            raise ValueError(f"stride: {self.stride} leaves out sentences, since a window has only {self.sentences}")
        return self


class TokenWindows(Strict):
    """Windows as long as the encoder's input, each with the document's title; a document that fits is one window.

    With `best` 1 a document's score is that of its best window (max-passage: Dai and Callan, SIGIR 2019, section 3).
    """

    overlap: float = Field(ge=0, lt=1, description="share of a window that the next one repeats")
    hits: int = Field(ge=1, description="number of windows that are retrieved for a query")
    best: int = Field(
        1, ge=1, description="number of a document's best retrieved windows whose mean score is the document's score"
    )


# --- calibration (CCP, section 3.2) -----------------------------------------------------------------------------------
class RotationRecipe(Strict):
    """Recipe for learning the orthogonal map W between two languages without translations (Conneau et al. 2018).

    CCP gives no values, so the defaults follow `unsupervised.py` of facebookresearch/MUSE 0ca12a0.
    """

    start: Literal["adversarial", "identity"] = Field(
        "adversarial",
        description="what comes before the refinements: an adversarial search for W, or nothing (identity)",
    )
    epochs: int = Field(5, ge=1, description="epochs of the adversarial search; W is judged after each")
    epoch_vectors: int = Field(
        1_000_000, ge=1, description="vectors of each language on which W is trained in an epoch"
    )
    batch: int = Field(32, ge=1, description="vectors of each language in a step")
    discriminator_steps: int = Field(5, ge=1, description="steps of the discriminator for each step of W")
    discriminator_layers: int = Field(2, ge=0, description="hidden layers of the discriminator")
    discriminator_width: int = Field(2048, ge=1, description="units in each hidden layer of the discriminator")
    input_dropout: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="dropout probability of the discriminator's input while the discriminator is trained",
    )
    smoothing: float = Field(
        0.1, ge=0, lt=0.5, description="label smoothing of the discriminator: how far its labels are from 0 and 1"
    )
    learning_rate: float = Field(
        0.1, gt=0, description="learning rate of SGD, for the discriminator and for W; only W's falls"
    )
    decay: float = Field(0.98, gt=0, le=1, description="factor of W's learning rate after each epoch")
    shrink: float = Field(
        0.5,
        gt=0,
        le=1,
        description="further factor of W's learning rate after each epoch whose W is not the best so far, except "
        "the first such epoch",
    )
    beta: float = Field(
        0.001, ge=0, description="strength with which W is moved towards an orthogonal matrix after each step"
    )
    refinements: int = Field(
        5,
        ge=0,
        description="number of Procrustes solutions after the start, each over mutual nearest neighbours by CSLS",
    )
    neighbours: int = Field(10, ge=1, description="number of nearest neighbours in CSLS (its k)")
    refinement_vectors: int = Field(
        15_000, ge=1, description="first vectors of each language, among which mutual neighbours are searched"
    )
    criterion_vectors: int = Field(
        10_000, ge=1, description="first vectors of each language, on which each W is judged"
    )


class CalibrationRecipe(Recipe):
    sentences: int = Field(
        200_000, ge=2, description="sentences of CommonCrawl for each language; the paper states no number"
    )
    scale_by: Literal["standard_deviation", "variance"] = Field(
        "standard_deviation",
        description="statistic by which each coordinate of the shifted vectors is divided; `variance` is the "
        "paper's word",
    )
    rotation: RotationRecipe = Field(RotationRecipe(), description="how the rotation of a language pair is learnt")
    threads: int = Field(1, ge=1, description="CPU threads; another number changes the last bits of the result")

    @model_validator(mode="after")
    def _sentences_suffice(self) -> Self:
        for key in ("refinement_vectors", "criterion_vectors"):
            if (looked := getattr(self.rotation, key)) > self.sentences:
                raise ValueError(f"rotation.{key}: {looked} exceeds the {self.sentences} `sentences` a language has")
        return self

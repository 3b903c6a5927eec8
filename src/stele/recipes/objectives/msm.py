"""The recipe of MSM (Zhang et al., section 3; training/objectives/msm.py)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """MSM's own keys.

    Ablations: document_encoder and heads (Table 4), intra_negatives and mu (Table 5; mu 0 is "w/o bias"), documents
    (Table 6: negatives = documents x sentences), projector (Table 7), layers (Table 8).
    """

    group_key: ClassVar[str] = "documents"
    objective: Literal["msm"] = "msm"
    documents: int = Field(ge=2, description="documents of one contrastive group")
    sentences: int = Field(ge=2, description="most sentences of a document")
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    layers: int = Field(ge=1, description="layers of the document encoder")
    mu: float = Field(ge=0, le=1, description="weight of the dynamic bias")
    temperature: float = Field(gt=0)
    intra_negatives: bool = Field(True, description="other sentences of the same document are negatives")
    projector: Literal["none", "shared", "asymmetric"]
    document_encoder: Literal["shared", "separate_english"] = "shared"
    heads: Literal["shared", "separate_english"] = "shared"
    mask_duplicates: bool = Field(False, description="equal sentences are not negatives; MSM keeps them")

    @model_validator(mode="after")
    def _english_has_groups_of_its_own(self) -> Recipe:
        if self.mixing != "one_language" and "separate_english" in (self.document_encoder, self.heads):
            raise ValueError("separate_english needs groups of one language: mixing: one_language")
        return self

    def flops(self, shape: Shape, sentences: int, length: int, of_a_document: int) -> float:
        """Sentence encoder, document encoder (its last layer asks once a sequence), heads, scores."""
        encoder = encode(sentences, length, shape, first_only=True)
        document = encode(sentences, of_a_document, shape._replace(layers=self.layers), first_only=True)
        heads = 0 if self.projector == "none" else 8 * shape.width**2 * sentences
        scores = 2 * shape.width * sentences**2
        return passes(sentences, self.encode_chunk) * encoder + 3 * (document + heads + scores)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        number = round(self.documents * self.sentences * sentences)
        return number, round(self.sentence_length * tokens), self.sentences

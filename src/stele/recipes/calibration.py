"""Calibration recipes (CCP, section 3.2): the number of sentences, the scaling, the search for W."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.files.strict import Strict, Values, validate
from stele.recipes import Recipe


class RotationRecipe(Strict):
    """How the orthogonal W of two languages is learnt without translations (Conneau et al. 2018).

    CCP refers to that paper and gives no values: the defaults are those of facebookresearch/MUSE 0ca12a0
    `unsupervised.py`, whose `dis_most_frequent` (the most frequent words) has no meaning for sentences.
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
    """Mean and deviation of each language's vectors, and the rotation W of each pair of languages."""

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
                raise ValueError(f"rotation.{key}: {looked} of a language, which has {self.sentences} `sentences`")
        return self


def parse_recipe(values: Values, where: str = "--recipe") -> CalibrationRecipe:
    """Validates a recipe; raises SteleError with the key, what is wrong with it and what is valid.

    >>> parse_recipe({}).rotation.start, parse_recipe({"scale_by": "variance"}).sentences
    ('adversarial', 200000)
    """
    return validate(CalibrationRecipe, values, where)

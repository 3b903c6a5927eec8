"""What a recipe of question answering may say: how paragraphs are read, and how finding answers is learnt.

The papers' recipes stand in catalogue/recipes.yaml.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.files.strict import Values, validate
from stele.recipes.finetuning import TrainingSet
from stele.recipes.optimisation import OptimiserKeys


class AnsweringRecipe(OptimiserKeys):
    """One fine-tuning on questions about paragraphs; for each query set the epoch with the best dev F1 is taken."""

    training_set: TrainingSet
    length: int = Field(512, ge=8, description="tokens of a window: the question, a piece of the paragraph, the marks")
    question_length: int = Field(128, ge=1, description="the first tokens of a question, of which alone it reads")
    stride: int = Field(128, ge=1, description="tokens between the starts of two windows; more than fit leave gaps")
    epochs: int = Field(10, ge=1, description="at most: that with the best F1 on dev questions is taken")
    dev_from_epoch: int = Field(1, ge=1, description="the first epoch whose F1 counts")
    batch: int = Field(ge=1, description="windows an optimiser step")
    warmup_steps: int = Field(0, ge=0)
    schedule: Literal["linear", "constant", "polynomial"] = "constant"
    dropout: float | None = Field(None, ge=0, lt=1, description="None: what the checkpoint's config says")

    @model_validator(mode="after")
    def _consistent(self) -> AnsweringRecipe:
        if self.dev_from_epoch > self.epochs:
            raise ValueError(f"dev_from_epoch {self.dev_from_epoch} is past the last of {self.epochs} epochs")
        if self.question_length > self.length - 5:
            raise ValueError(f"question_length {self.question_length} leaves no room for a paragraph in {self.length}")
        return self


def parse_recipe(values: Values, where: str = "--recipe") -> AnsweringRecipe:
    """Validates a recipe; what is wrong is said with the key and what is valid.

    >>> parse_recipe({"training_set": "squad2", "batch": 16, "learning_rate": 1e-5}).stride
    128
    """
    return validate(AnsweringRecipe, values, where)

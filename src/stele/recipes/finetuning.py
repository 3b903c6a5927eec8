"""What a fine-tuning recipe may say; the papers' recipes stand in catalogue/recipes.yaml."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Strict, Values, validate
from stele.recipes.encoding import EncodingSpec
from stele.recipes.optimisation import OptimiserKeys

AVERAGE_RANK = re.compile(r"average_rank_from_epoch_([0-9]{1,6})")


class TrainingSet(Strict):
    """Examples: the module of stele/benchmarks that reads them, and which of the given datasets it reads (None: all).

    A plain name is the module's.
    """

    module: str
    data: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _name(cls, value: Any) -> Any:
        return {"module": value} if isinstance(value, str) else value

    @property
    def name(self) -> str:
        return self.module if self.data is None else "+".join(self.data)


class FinetuningRecipe(OptimiserKeys):
    """One fine-tuning run.

    A *group* is `batch` queries with their passages, who share negatives: a query's candidates are the positives and
    hard negatives of all queries of its group. One optimiser step takes `accumulation` groups and their mean loss.
    Neither depends on the number of devices.
    """

    training_set: TrainingSet
    dev_set: TrainingSet | None = Field(None, description="for choosing a checkpoint: its split dev")

    towers: Literal["shared", "separate"]
    pooling: Literal["cls", "mean", "pooler"]
    normalize: bool = False
    query_length: int = Field(ge=3)
    passage_length: int = Field(ge=3)
    passage_format: Literal["title_text_pair", "title_text", "text"] = "title_text_pair"
    segments: bool = Field(False, description="token types 0 and 1 for pairs; False: all 0, as in DPR's and MSM's code")
    strip_question_mark: bool = Field(False, description="training queries lose a final '?' (DPR's normalize_question)")
    dropout: float | None = Field(None, ge=0, lt=1, description="None: what the checkpoint's config says")

    batch: int = Field(ge=1, description="queries a group, over all devices")
    accumulation: int = Field(1, ge=1, description="groups an optimiser step")
    hard_negatives: int = Field(ge=0, description="a query, drawn anew every epoch from those of the training set")
    negatives: Literal["given", "mined"] = Field("given", description="the training set's own, or those of --negatives")
    hard_negative_ratio: float = Field(
        1.0, gt=0, le=1, description="how probable it is that a query brings each of them"
    )
    temperature: float = Field(1.0, gt=0)
    scale: float | None = Field(
        None, gt=0, description="initial value of a learned factor on the scores; None: no factor"
    )
    encode_chunk: int | None = Field(
        None, ge=1, description="texts encoded at a time; a device with several such parts encodes them twice"
    )

    epochs: float | None = Field(None, gt=0)
    steps: int | None = Field(None, ge=1, description="optimiser steps; instead of epochs")
    warmup_steps: int = Field(ge=0)

    selection: str = Field("last", description="last, dev_nll, or average_rank_from_epoch_N (dev_nll before epoch N)")
    evaluate_every: int | None = Field(None, ge=1, description="steps between evaluations; None: once an epoch")
    dev_batch: int = Field(512, ge=2, description="queries a group of the dev set's NLL; mDPR: 64 a GPU, 8 GPUs")
    dev_negatives: int = Field(60, ge=0, description="a query, in the pool of the average rank; DPR: 30 of two kinds")
    dev_limit: int | None = Field(15_000, ge=2, description="dev questions used; DPR: val_av_rank_max_qs")

    @model_validator(mode="after")
    def _consistent(self) -> FinetuningRecipe:
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("give either `epochs` or `steps`, one of the two")
        if self.selection not in ("last", "dev_nll") and not AVERAGE_RANK.fullmatch(self.selection):
            raise ValueError(f"selection: want last, dev_nll or average_rank_from_epoch_N, found {self.selection!r}")
        if self.needs_dev and self.dev_set is None:
            raise ValueError(f"selection {self.selection} needs `dev_set`")
        if self.batch * (1 + self.hard_negatives) < 2:
            raise ValueError("batch 1 without hard negatives: a query would have no candidate but its positive")
        if self.batch < 2 and self.hard_negative_ratio < 1:
            raise ValueError("batch 1 with a hard_negative_ratio: a query may have no candidate but its positive")
        if self.hard_negatives == 0 and (self.negatives == "mined" or self.hard_negative_ratio < 1):
            raise ValueError("hard_negatives 0: leave out `negatives` and `hard_negative_ratio`, which are of them")
        return self

    @property
    def needs_dev(self) -> bool:
        return self.selection != "last" or self.evaluate_every is not None

    @property
    def rank_from_epoch(self) -> int | None:
        """The epoch (from 0) from which the average rank selects; None: never."""
        found = AVERAGE_RANK.fullmatch(self.selection)
        return int(found[1]) if found else None

    def spec(self) -> EncodingSpec:
        """How the fine-tuned encoder reads texts; the vectors of its searches are float32."""
        names = ("towers", "pooling", "normalize", "query_length", "passage_length", "passage_format", "segments")
        return EncodingSpec(**{name: getattr(self, name) for name in names})

    def total_steps(self, examples: int) -> int:
        """Optimiser steps of the run; an epoch is the whole groups of `examples`, the rest is left for the next one."""
        return self.steps or max(1, int(self.epochs * self.steps_per_epoch(examples)))

    def steps_per_epoch(self, examples: int) -> int:
        steps = examples // self.batch // self.accumulation
        if steps < 1:
            raise SteleError(
                f"the training set has {examples} usable examples, one optimiser step takes {self.batch} x "
                f"{self.accumulation} (batch x accumulation); give more examples or a smaller batch"
            )
        return steps


def parse_recipe(values: Values, where: str = "--recipe") -> FinetuningRecipe:
    """Validates a recipe; what is wrong is said with the key and what is valid.

    >>> sizes = {"query_length": 32, "passage_length": 128, "batch": 64, "hard_negatives": 1, "epochs": 3}
    >>> optimisation = {"learning_rate": 2e-5, "warmup_steps": 100}
    >>> parse_recipe({"training_set": "nq", "towers": "shared", "pooling": "mean", **sizes, **optimisation}).selection
    'last'
    """
    return validate(FinetuningRecipe, values, where)

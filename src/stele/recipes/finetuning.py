"""Fine-tuning recipes: for an encoder, for a reader that answers questions, for a generator of queries."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Strict, Values, validate
from stele.recipes import plan_key
from stele.recipes.encoding import EncodingSpec
from stele.recipes.optimisation import Optimisation, OptimiserKeys

AVERAGE_RANK = re.compile(r"average_rank_from_epoch_([0-9]{1,6})")


class TrainingSet(Strict):
    """A training set: the module of stele/benchmarks that reads it, and the datasets it reads (None: all given).

    A plain name is the module's; in recipes.yaml it is an `entry` of training_sets.yaml, which the plan looks up.
    """

    module: str
    data: list[str] | None = None
    entry: str | None = plan_key()

    @model_validator(mode="before")
    @classmethod
    def _name(cls, value: Any) -> Any:
        return {"module": value} if isinstance(value, str) else value

    @property
    def name(self) -> str:
        return self.module if self.data is None else "+".join(self.data)


class FinetuningRecipe(OptimiserKeys):
    """Recipe of a dual encoder's fine-tuning.

    A *group* has `batch` queries that share negatives: a query's candidates are the positives and hard negatives of
    all queries in its group. One optimiser step takes the mean loss of `accumulation` groups. Neither number depends on
    the number of devices.
    """

    CATALOGUE_KEYS: ClassVar = ("start",)
    start: str | None = plan_key(description="the fine-tuning that it goes on from; null: the model itself")
    miner: str | None = plan_key(description="the fine-tuning whose model mines hard negatives")

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
    hard_negatives: int = Field(ge=0, description="for each query, drawn anew every epoch from the training set's")
    negatives: Literal["given", "mined"] = Field(
        "given", description="given: of the training set; mined: of --negatives"
    )
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
            raise ValueError("epochs, steps: want exactly one of the two keys")
        if self.selection not in ("last", "dev_nll") and not AVERAGE_RANK.fullmatch(self.selection):
            raise ValueError(f"selection: want last, dev_nll or average_rank_from_epoch_N, found {self.selection!r}")
        if self.needs_dev and self.dev_set is None:
            raise ValueError(f"dev_set: missing, but selection {self.selection} or evaluate_every needs `dev_set`")
        if self.batch * (1 + self.hard_negatives) < 2:
            raise ValueError("batch: a lone query has no candidate but its positive; want 2, or hard negatives")
        if self.batch < 2 and self.hard_negative_ratio < 1:
            raise ValueError("batch: with hard_negative_ratio a lone query may have no candidate; want 2 or more")
        if self.hard_negatives == 0 and (self.negatives == "mined" or self.hard_negative_ratio < 1):
            raise ValueError("hard_negatives: found 0; leave out `negatives` and `hard_negative_ratio`, too")
        return self

    @property
    def needs_dev(self) -> bool:
        return self.selection != "last" or self.evaluate_every is not None

    @property
    def rank_from_epoch(self) -> int | None:
        """First epoch, from 0, in which the average rank selects the checkpoint; None: no epoch."""
        match = AVERAGE_RANK.fullmatch(self.selection)
        return int(match[1]) if match else None

    def spec(self) -> EncodingSpec:
        """Encoding of the fine-tuned encoder; its vectors in searches are float32."""
        names = ("towers", "pooling", "normalize", "query_length", "passage_length", "passage_format", "segments")
        return EncodingSpec(**{name: getattr(self, name) for name in names})

    def total_steps(self, examples: int) -> int:
        """Number of optimiser steps of the run; an epoch leaves out the examples that do not fill a whole step."""
        return self.steps or max(1, int(Fraction(str(self.epochs)) * self.steps_per_epoch(examples)))

    def steps_per_epoch(self, examples: int) -> int:
        steps = examples // self.batch // self.accumulation
        if steps < 1:
            raise SteleError(
                f"the training set has only {examples} usable examples, but one optimiser step takes {self.batch} x "
                f"{self.accumulation} (batch x accumulation); give more examples or a smaller batch"
            )
        return steps


def parse_finetuning(values: Values, where: str = "--recipe") -> FinetuningRecipe:
    """Validates a recipe; raises SteleError with the key, what is wrong with it and what is valid.

    >>> sizes = {"query_length": 32, "passage_length": 128, "batch": 64, "hard_negatives": 1, "epochs": 3}
    >>> optimisation = {"learning_rate": 2e-5, "warmup_steps": 100}
    >>> encoder = {"training_set": "nq", "towers": "shared", "pooling": "mean"}
    >>> parse_finetuning({**encoder, **sizes, **optimisation}).selection
    'last'
    """
    return validate(FinetuningRecipe, values, where)


# --- question answering -----------------------------------------------------------------------------------------------
class AnsweringRecipe(OptimiserKeys):
    """Recipe of a reader's fine-tuning; each query set is answered with the epoch of its best dev F1."""

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
            raise ValueError(f"dev_from_epoch: {self.dev_from_epoch} is after the last of the {self.epochs} epochs")
        if self.question_length > self.length - 5:
            raise ValueError(f"question_length: {self.question_length} leaves no room for a paragraph; raise `length`")
        return self


# --- generators of queries --------------------------------------------------------------------------------------------
class GeneratorOfLanguage(Strict):
    """Sources of the query generator of one language."""

    model: str = Field(description="a name of models.yaml: what is fine-tuned")
    code: str = Field(description="how that model calls the language")
    training_set: str = Field(description="a name of training_sets.yaml: queries and passages in the language")


class GeneratorRecipe(Optimisation):
    """Recipe of a query generator's fine-tuning: passage in, query out, label-smoothed cross-entropy of its tokens."""

    CATALOGUE_KEYS: ClassVar = ("by_language",)
    by_language: dict[str, GeneratorOfLanguage] = plan_key({}, description="language -> what it is made of")

    training_set: TrainingSet | None = Field(None, description="in recipes.yaml that of each language")
    pairs: int = Field(ge=1, description="drawn of the training set")
    language_code: str | None = Field(
        None, description="mBART's name of the language (hi_IN), with which both texts are marked; None: unmarked"
    )
    source_length: int = Field(512, ge=3, description="tokens of a passage, special ones included")
    query_length: int = Field(64, ge=2)
    batch: int = Field(ge=1, description="pairs a step")
    label_smoothing: float = Field(0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def _learns_from_something(self) -> GeneratorRecipe:
        if self.training_set is None and not self.by_language:
            raise ValueError("training_set: Field required")
        return self

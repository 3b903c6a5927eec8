"""Fine-tuning recipes: for an encoder, for a reader that answers questions, for a generator of queries."""

import re
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Strict, Values, validate
from stele.recipes import plan_key
from stele.recipes.encoding import EncodingSpec
from stele.recipes.optimisation import Dropout, EncodeChunk, Optimisation, OptimiserKeys

AVERAGE_RANK = re.compile(r"average_rank_from_epoch_([0-9]{1,6})")
KEPT = ("pooling", "normalize", "segments", "passage_format")  # keys that an encoder keeps when it is trained further


class TrainingSet(Strict):
    """A training set: the module of stele/benchmarks that reads it, and the datasets it reads (None: all given).

    A plain name is the module's; in recipes.yaml it is an `entry` of training_sets.yaml, which the plan looks up.
    """

    module: str = Field(description="module of stele/benchmarks that reads the training set")
    data: list[str] | None = Field(None, description="datasets that it reads; null: all datasets of the job")
    entry: str | None = plan_key(description="key of the training set in training_sets.yaml")

    @model_validator(mode="before")
    @classmethod
    def _name(cls, value: Any) -> Any:
        return {"module": value} if isinstance(value, str) else value

    @property
    def name(self) -> str:
        return self.module if self.data is None else "+".join(self.data)


class FinetuningRecipe(OptimiserKeys):
    """Recipe of a dual encoder's fine-tuning.

    The `batch` queries of a *group* share negatives: a query's candidates are the positives and hard negatives of all.
    A step takes the mean loss of `accumulation` groups. Neither number depends on the number of devices.
    """

    CATALOGUE_KEYS: ClassVar = ("start",)
    start: str | None = plan_key(
        description="fine-tuning recipe from whose model this one starts; null: the pretrained model itself; "
        "required in recipes.yaml"
    )
    miner: str | None = plan_key(
        description="fine-tuning recipe whose model mines the hard negatives; null: none are mined"
    )

    training_set: TrainingSet = Field(description="training examples; in recipes.yaml a key of training_sets.yaml")
    dev_set: TrainingSet | None = Field(
        None,
        description="examples for choosing a checkpoint, from the split dev; in recipes.yaml a key of "
        "training_sets.yaml",
    )

    towers: Literal["shared", "separate"] = Field(
        description="one encoder for queries and passages (shared), or one for each (separate)"
    )
    pooling: Literal["cls", "mean", "pooler"] = Field(
        description="what gives a text's vector: the first token's hidden state, the mean of all, or the model's pooler"
    )
    normalize: bool = Field(False, description="scales vectors to length 1, so that scores are cosines")
    query_length: int = Field(ge=3, description="most tokens of a query, special ones included; longer queries are cut")
    passage_length: int = Field(
        ge=3, description="most tokens of a passage, special ones included; longer passages are cut"
    )
    passage_format: Literal["title_text_pair", "title_text", "text"] = Field(
        "title_text_pair",
        description="how the model reads title and text: as the tokenizer's pair, joined by a space, or the text alone",
    )
    segments: bool = Field(
        False,
        description="true: the second text of a pair has token type 1; false: all token types are 0, as in DPR's "
        "and MSM's code",
    )
    strip_question_mark: bool = Field(
        False, description="removes a final '?' from the queries of training and dev set (DPR's normalize_question)"
    )
    dropout: Dropout = None

    batch: int = Field(ge=1, description="queries in a group, over all devices")
    accumulation: int = Field(1, ge=1, description="number of groups in an optimiser step")
    hard_negatives: int = Field(
        ge=0, description="most hard negatives of a query in its group, drawn anew in every epoch"
    )
    negatives: Literal["given", "mined"] = Field(
        "given", description="source of hard negatives: the training set (given), or the record of --negatives (mined)"
    )
    hard_negative_ratio: float = Field(
        1.0, gt=0, le=1, description="probability with which each of a query's hard negatives is used"
    )
    temperature: float = Field(1.0, gt=0, description="divisor of scores before the softmax")
    scale: float | None = Field(
        None, gt=0, description="initial value of a learned factor that multiplies the scores; null: no such factor"
    )
    encode_chunk: EncodeChunk = None

    epochs: float | None = Field(
        None, gt=0, description="passes over the training set, also a fraction; give either epochs or steps"
    )
    steps: int | None = Field(None, ge=1, description="number of optimiser steps; give either epochs or steps")
    warmup_steps: int = Field(ge=0, description="optimiser steps of linear warm-up")

    selection: str = Field(
        "last",
        description="which checkpoint is kept: last; dev_nll, the one with the lowest loss on the dev set; or "
        "average_rank_from_epoch_N, the one with the lowest average rank among those from epoch N "
        "(counted from 0) on, by dev_nll if there is none",
    )
    evaluate_every: int | None = Field(
        None,
        ge=1,
        description="steps between two evaluations on the dev set; null: once an epoch, if `selection` needs them",
    )
    dev_batch: int = Field(
        512, ge=2, description="queries in a group for the loss on the dev set; mDPR: 64 per GPU, 8 GPUs"
    )
    dev_negatives: int = Field(
        60,
        ge=0,
        description="most hard negatives of a dev query in the pool of the average rank; DPR: 30 of each of two kinds",
    )
    dev_limit: int | None = Field(
        15_000,
        ge=2,
        description="most dev queries that are used, drawn among all of them; null: all; DPR: val_av_rank_max_qs",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("epochs, steps: want exactly one of the two keys")
        if self.selection not in ("last", "dev_nll") and not AVERAGE_RANK.fullmatch(self.selection):
            raise ValueError(f"selection: want last, dev_nll or average_rank_from_epoch_N, found {self.selection!r}")
        if self.needs_dev and self.dev_set is None:
            raise ValueError(f"dev_set: missing, but selection {self.selection} or evaluate_every needs `dev_set`")
        if self.batch * (1 + self.hard_negatives) < 2:
            raise ValueError("batch: one query alone has no negative; want 2 or more, or hard_negatives")
        if self.batch < 2 and self.hard_negative_ratio < 1:
            raise ValueError("batch: with hard_negative_ratio one query may have no negative; want 2 or more")
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

    def contradiction(self, earlier: EncodingSpec) -> str | None:
        """What this recipe cannot go on from, of a fine-tuning with other pooling, texts or towers; else None."""
        spec = self.spec()
        for name in KEPT:
            before, now = getattr(earlier, name), getattr(spec, name)
            if before != now:
                return f"{name}: {before!r}, but the recipe says {now!r}"
        if (earlier.towers, spec.towers) == ("separate", "shared"):
            return "separate towers, but the recipe says shared"
        return None

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

    training_set: TrainingSet = Field(description="training questions; in recipes.yaml a key of training_sets.yaml")
    length: int = Field(
        512, ge=8, description="most tokens of a window: question, piece of the paragraph and special tokens"
    )
    question_length: int = Field(128, ge=1, description="most tokens of a question; longer questions are cut")
    stride: int = Field(
        128,
        ge=1,
        description="tokens between the starts of two windows of a paragraph; a stride larger than a window's piece "
        "leaves gaps",
    )
    epochs: int = Field(
        10,
        ge=1,
        description="training epochs; each query set is answered with the weights of the epoch with its best F1 on "
        "dev questions",
    )
    dev_from_epoch: int = Field(1, ge=1, description="first epoch, counted from 1, that can be chosen by its F1")
    batch: int = Field(ge=1, description="windows in an optimiser step")
    warmup_steps: int = Field(0, ge=0, description="optimiser steps of linear warm-up")
    schedule: Literal["linear", "constant", "polynomial"] = Field(
        "constant", description="learning rate after warm-up: linear or polynomial decay to 0, or constant"
    )
    dropout: Dropout = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.dev_from_epoch > self.epochs:
            raise ValueError(f"dev_from_epoch: {self.dev_from_epoch} is after the last of the {self.epochs} epochs")
        if self.question_length > self.length - 5:
            raise ValueError(f"question_length: {self.question_length} leaves no room for a paragraph; raise `length`")
        return self


# --- generators of queries --------------------------------------------------------------------------------------------
class GeneratorOfLanguage(Strict):
    """Sources of the query generator of one language."""

    model: str = Field(description="key in models.yaml of the model that is fine-tuned")
    code: str = Field(description="code of the language in that model's tokenizer, e.g. hi_IN")
    training_set: str = Field(description="key in training_sets.yaml of queries and passages in the language")


class GeneratorRecipe(Optimisation):
    """Recipe of a query generator's fine-tuning: passage in, query out."""

    CATALOGUE_KEYS: ClassVar = ("by_language",)
    by_language: dict[str, GeneratorOfLanguage] = plan_key(
        {}, description="language -> model, language code and training set of its generator; required in recipes.yaml"
    )

    training_set: TrainingSet | None = Field(
        None, description="queries and passages to train on; recipes.yaml gives them in by_language"
    )
    pairs: int = Field(ge=1, description="most pairs of a query and a passage that are drawn from the training set")
    language_code: str | None = Field(
        None,
        description="code of the language in mBART's tokenizer (hi_IN), which marks both texts; null: texts have no "
        "mark; recipes.yaml gives it in by_language",
    )
    source_length: int = Field(
        512, ge=3, description="most tokens of a passage, special ones included; longer passages are cut"
    )
    query_length: int = Field(
        64, ge=2, description="most tokens of a query, special ones included; longer queries are cut"
    )
    batch: int = Field(ge=1, description="pairs in an optimiser step")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="label smoothing of the cross-entropy; 0: none")

    @model_validator(mode="after")
    def _learns_from_something(self) -> Self:
        if self.training_set is None and not self.by_language:
            raise ValueError("training_set: Field required")
        return self

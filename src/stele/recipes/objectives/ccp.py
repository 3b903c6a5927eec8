"""The recipe of CCP (Wu et al. 2022, section 3.1; training/objectives/ccp.py)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Literal

from pydantic import Field, model_validator

from stele.files.strict import Values
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """CCP's own keys; docs/ccp.md gives the reasons for the values where the paper is silent.

    Ablations: bank, l2, batch_norm and temperature (Table 5), window and pairs (Table 6).
    """

    objective: Literal["ccp"] = "ccp"
    languages: list[str] = Field(min_length=1, description="train on these; bank and statistics are tagged by them")
    pairs: int = Field(ge=2, description="centres of one contrastive group, each with one sentence of its window")
    step_pairs: int | None = Field(
        None, ge=2, description="pairs of a step, were all its groups contrastive: so many make `groups`"
    )
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    window: int = Field(ge=1, description="of the sentences around a centre that may be its partner")
    window_counts: Literal["sentences", "radius"] = Field(
        "sentences", description="sentences: the centre among them, 2 is the next one (Table 6); radius: to each side"
    )
    temperature: float = Field(gt=0)
    l2: bool = Field(description="cosines; false: inner products")
    candidates: Literal["other_side", "both_sides"] = Field(
        "other_side", description="of a group: the partners for a centre and the reverse, or all other sentences"
    )
    batch_norm: Literal["asymmetric", "plain", "none"] = Field(
        description="in the heads; asymmetric: one by its batch, one by running statistics, in turns"
    )
    statistics: Literal["all", "language"] = Field("all", description="what running statistics are of")
    output_norm: bool = Field(False, description="a second one behind each head, without a learned scale and shift")
    bank: int = Field(ge=0, description="sentences of earlier steps that are candidates")
    bank_per: Literal["all", "language"] = Field("all", description="what holds so many")
    bank_languages: Literal["own", "shared"] = Field(
        "own", description="candidates, in the bank and in the group: of a sentence's own language, or of any"
    )
    bank_sides: Literal["context", "both"] = Field("context", description="what enters: the partners, or centres, too")

    @property
    def reach(self) -> tuple[int, int]:
        """How many sentences before and behind a centre belong to its window."""
        if self.window_counts == "radius":
            return self.window, self.window
        return (self.window - 1) // 2, self.window // 2

    @property
    def banked(self) -> int:
        """Sentences of a group that enter the bank."""
        return self.pairs * (2 if self.bank_sides == "both" else 1)

    @property
    def banked_a_step(self) -> int:
        """Sentences of a step that enter the bank, at most; MLM's groups have none."""
        return self.banked * ceil(self.groups * (1 - Fraction(str(self.mlm_share))))

    @model_validator(mode="before")
    @classmethod
    def _groups_of_a_step(cls, values: Values) -> Values:
        """A step has as many pairs whatever a group has (Table 6), and an MLM batch as many sequences as a group."""
        pairs, step = values.get("pairs"), values.get("step_pairs")
        if not isinstance(step, int):
            return values
        size = max(2, pairs) if isinstance(pairs, int) else 2  # where `pairs` is wrong, that alone is said
        return {"groups": max(1, step // size), "mlm_sequences": size, **values}

    @model_validator(mode="after")
    def _groups_make_a_step(self) -> Recipe:
        if self.step_pairs is not None and self.groups * self.pairs != self.step_pairs:
            raise ValueError(
                f"step_pairs: {self.step_pairs} are not {self.groups} groups of {self.pairs}; want a multiple of "
                "`pairs`, and no `groups`"
            )
        return self

    @model_validator(mode="after")
    def _a_window_has_a_partner(self) -> Recipe:
        if sum(self.reach) == 0:
            raise ValueError("window: 1 sentence is the centre alone; want 2 (it and the next one) or more")
        return self

    @model_validator(mode="after")
    def _the_bank_holds_a_step(self) -> Recipe:
        step = self.banked_a_step
        if 0 < self.bank < step:
            raise ValueError(
                f"bank: {self.bank} is less than the {step} sentences of a step; want 0, or {step} or more"
            )
        if self.bank_per == "language" and self.bank_languages == "shared":
            raise ValueError(
                "bank_per: a bank for each language keeps apart what bank_languages: shared wants; want all"
            )
        return self

    @model_validator(mode="after")
    def _norms_fit(self) -> Recipe:
        if self.output_norm and self.batch_norm == "none":
            raise ValueError("output_norm: batch_norm: none leaves no normalisation; want false")
        if self.statistics == "language" and (self.batch_norm, self.mixing) != ("asymmetric", "one_language"):
            raise ValueError("statistics: language needs batch_norm: asymmetric and groups of one language")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """Contexts are drawn from the documents that MSM reads."""
        return "msm" if task == "ccp" else task

    def flops(self, shape: Shape, sentences: int, length: int, languages: int) -> float:
        """Encoder, heads, scores; no gradient goes to the bank, whose queues of the group's languages are read."""
        encoder = encode(sentences, length, shape, first_only=True)
        queues = languages if self.bank_per == "language" else 1
        heads, scores = 4 * shape.width**2 * sentences, 2 * shape.width * sentences**2
        banked = 2 * shape.width * sentences * self.bank * queues
        return passes(sentences, self.encode_chunk) * encoder + 3 * (heads + scores) + 2 * banked

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return 2 * self.pairs, round(self.sentence_length * tokens), 1

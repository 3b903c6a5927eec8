"""CCP: a sentence must find a sentence of its window among those of its language (Wu et al. 2022, section 3.1).

Candidates are the group's other sentences and a memory bank of earlier ones, of the same language only. With asymmetric
batch normalisation, an even group (by its number in the run) normalises its centres by their batch and its partners by
running statistics, an odd one the reverse (Algorithm 1). Vectors and statistics of a step's groups enter after it, in
the order of groups, so the number of processes has no effect.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Values
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import attention, duplicate_counts, pad
from stele.training.objectives import PairObjective
from stele.training.sampling import Group
from stele.training.store import Flat, ranges

ALIKE = 0.9  # mean cosine of different sentences


class Recipe(PretrainingRecipe):
    """docs/ccp.md gives the reasons for the values where the paper is silent; Tables 5 and 6 vary some."""

    objective: Literal["ccp"] = "ccp"
    languages: list[str] = Field(
        min_length=1, description="languages to train on; the bank and the running statistics tell them apart"
    )
    pairs: int = Field(ge=2, description="centres in a contrastive group, each with one other sentence of its window")
    step_pairs: int | None = Field(
        None,
        ge=2,
        description="pairs in an optimiser step without MLM batches; determines `groups` and `mlm_sequences`, which "
        "are then left out",
    )
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    window: int = Field(
        ge=1,
        description="size of the window around a centre from which its partner is drawn; window_counts gives the unit",
    )
    window_counts: Literal["sentences", "radius"] = Field(
        "sentences",
        description="sentences: the window's number of sentences, the centre included, so that 2 is the centre and "
        "the next one (Table 6); radius: the number of sentences on each side",
    )
    temperature: float = Field(gt=0, description="divisor of scores before the softmax")
    l2: bool = Field(description="true: scores are cosines; false: inner products")
    candidates: Literal["other_side", "both_sides"] = Field(
        "other_side",
        description="candidates of a sentence in its group: other_side: the partners for a centre, the centres for "
        "a partner; both_sides: all other sentences",
    )
    batch_norm: Literal["asymmetric", "plain", "none"] = Field(
        description="batch normalisation in the two heads; asymmetric: one head uses the batch's statistics, the "
        "other running statistics, in alternation; plain: both use the batch's"
    )
    statistics: Literal["all", "language"] = Field(
        "all", description="whether all languages share the running statistics or each language has its own"
    )
    output_norm: bool = Field(
        False, description="adds a batch normalisation to the end of each head, without a learned scale and shift"
    )
    bank: int = Field(
        ge=0, description="sentences of earlier steps that the memory bank holds as further candidates; 0: no bank"
    )
    bank_per: Literal["all", "language"] = Field(
        "all", description="whether all languages share one bank of that size or each language has its own"
    )
    bank_languages: Literal["own", "shared"] = Field(
        "own",
        description="own: candidates, in the bank and in the group, are in the sentence's language only; shared: in "
        "any language",
    )
    bank_sides: Literal["context", "both"] = Field(
        "context", description="sentences that enter the bank: only the partners (context), or the centres too (both)"
    )

    @property
    def reach(self) -> tuple[int, int]:
        """Numbers of sentences before and after a centre that belong to its window."""
        if self.window_counts == "radius":
            return self.window, self.window
        return (self.window - 1) // 2, self.window // 2

    @property
    def banked(self) -> int:
        """Number of a group's sentences that enter the bank."""
        return self.pairs * (2 if self.bank_sides == "both" else 1)

    @property
    def banked_a_step(self) -> int:
        """Largest number of a step's sentences that enter the bank; MLM's groups add none."""
        return self.banked * ceil(self.groups * (1 - Fraction(str(self.mlm_share))))

    @model_validator(mode="before")
    @classmethod
    def _groups_of_a_step(cls, values: Values) -> Values:
        """Sets `groups`, and MLM's, so that a step has `step_pairs` pairs at any group size (Table 6)."""
        pairs, step = values.get("pairs"), values.get("step_pairs")
        if not isinstance(step, int):
            return values
        size = max(2, pairs) if isinstance(pairs, int) else 2  # a wrong `pairs` is reported elsewhere
        return {"groups": max(1, step // size), "mlm_sequences": size, **values}

    @model_validator(mode="after")
    def _own_keys_fit(self) -> Recipe:
        if self.step_pairs is not None and self.groups * self.pairs != self.step_pairs:
            raise ValueError(
                f"step_pairs: {self.step_pairs} is not {self.groups} groups of {self.pairs} pairs; want a multiple of "
                "`pairs`, and no key `groups`"
            )
        if sum(self.reach) == 0:
            raise ValueError("window: 1 sentence is the centre alone; want at least 2 (the centre and the next one)")
        step = self.banked_a_step
        if 0 < self.bank < step:
            raise ValueError(
                f"bank: {self.bank} is less than the {step} sentences that a step adds; want 0, or at least {step}"
            )
        if self.bank_per == "language" and self.bank_languages == "shared":
            raise ValueError(
                "bank_per: found language, but bank_languages: shared needs one bank for all languages; want all"
            )
        if self.output_norm and self.batch_norm == "none":
            raise ValueError("output_norm: found true, but batch_norm: none allows no normalisation; want false")
        if self.statistics == "language" and (self.batch_norm, self.mixing) != ("asymmetric", "one_language"):
            raise ValueError("statistics: language needs batch_norm: asymmetric and mixing: one_language")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        return "msm" if task == "ccp" else task  # contexts are drawn from MSM's documents

    def new_objective(self, task: str) -> ContextPrediction:
        return ContextPrediction(self)

    def flops(self, shape: Shape, sentences: int, length: float, languages: int) -> float:
        """FLOPs of a group: encoder, heads, scores, and scores in the bank, which takes no gradient."""
        encoder = encode(sentences, length, shape, first_only=self.pooling != "mean")
        queues = languages if self.bank_per == "language" else 1
        heads, scores = 4 * shape.width**2 * sentences, 2 * shape.width * sentences**2
        banked = 2 * shape.width * sentences * self.bank * queues
        return passes(sentences, self.encode_chunk) * encoder + 3 * (heads + scores) + 2 * banked

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return 2 * self.pairs, round(self.sentence_length * tokens), 1


class ContextPrediction(PairObjective):
    POOLING = "cls"
    MAY_DIVERGE = True  # `fail` of CCP's Table 5 is detected, never configured

    def negatives(self, vectors):
        """Largest number of a query's negatives: that with a full bank of a single language."""
        return (vectors - 1) * (2 if self.recipe.candidates == "both_sides" else 1) + self.recipe.bank

    def batch(self, examples, vocabulary, group, rng):
        """Batch of n pairs: ids int64 [2 n, t], centre and partner alternating; mask bool [2 n, t] or None; tags int64
        [n], indices of the recipe's languages; queues, the tags without repeats; positives bool [n, n] (`same_window`);
        number of the group; vectors (n); duplicates (n minus the number of different partners)."""
        recipe = self.recipe
        contexts = draw(examples.counts, recipe.reach, rng)
        ids, lengths = pad(*sentences(examples, *contexts), vocabulary, recipe.sentence_length)
        languages = [recipe.languages.index(part) for part, _ in group.drawn]
        counts = duplicate_counts(ids[1::2])
        return {
            "ids": ids,
            "mask": attention(lengths, ids.shape[1]),
            "tags": np.repeat(languages, [len(indices) for _, indices in group.drawn]),
            "queues": tuple(languages),
            "positives": same_window(group, *contexts, recipe.reach),
            "number": group.number,
            "vectors": counts["vectors"],
            "duplicates": counts["duplicates"],
        }

    def sizes(self, batch):
        return len(batch["ids"]), self.computed_length(batch), len(batch["queues"])

    def heads(self, model):
        from stele.training.objectives._ccp_heads import Heads

        return Heads(self.recipe, model.config)

    def loss(self, heads, model, batch, processes=None):
        loss, self.figures = heads(model, batch, processes)
        return loss

    def after_step(self, heads, model, process):
        heads.after_step(process)

    def has_collapsed(self, before, after):
        """Whether projections, which start far apart, have collapsed. The loss cannot tell: stale bank vectors are easy
        negatives, so it can be far below chance although embeddings have collapsed.
        """
        return after > ALIKE


# --- contexts: a centre of each document and a sentence of its window, drawn anew at each use of the document ---------
def draw(sizes: np.ndarray, reach: tuple[int, int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws a centre, uniform among the sentences with others in their window, and one of these others, uniform.

    sizes int64 [n]: sentences of each document; reach: sentences of a window before and after its centre. Windows end
    where the document does. Returns their places in the documents: centres, partners int64 [n]. Raises SteleError if a
    document has fewer than two sentences.
    """
    if len(sizes) and sizes.min() < 2:
        raise SteleError(
            "CCP: found a document of one sentence, want at least two; mine documents by MSM's method, with "
            "`sentences_min` of 2 or more"
        )
    before, behind = reach
    centres = rng.integers(0, sizes if before else sizes - 1)  # a window that only goes forwards has no last sentence
    first, last = np.maximum(centres - before, 0), np.minimum(centres + behind, sizes - 1)
    partners = first + rng.integers(0, last - first)
    return centres, partners + (partners >= centres)


def sentences(flat: Flat, centres: np.ndarray, partners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Selects the sentences of n contexts, centre and partner alternating: tokens int64 and lengths int64 [2 n]."""
    documents = np.cumsum(flat.counts) - flat.counts
    chosen = np.stack([documents + centres, documents + partners], axis=1).ravel()
    begins = np.cumsum(flat.lengths) - flat.lengths
    return flat.tokens[ranges(begins[chosen], flat.lengths[chosen])], flat.lengths[chosen]


def same_window(group: Group, centres: np.ndarray, partners: np.ndarray, reach: tuple[int, int]) -> np.ndarray:
    """Whether partner j is a sentence of the window around centre i, bool [n, n] (m of Algorithm 1).

    Partner i always is; another partner only if the group has its document twice. No sentence is in its own window.
    """
    documents = [(part, index) for part, indices in group.drawn for index in indices.tolist()]
    numbers = {document: number for number, document in enumerate(documents)}
    number = np.array([numbers[document] for document in documents])
    distance = partners[None, :] - centres[:, None]
    inside = (distance >= -reach[0]) & (distance <= reach[1]) & (distance != 0)
    return inside & (number[:, None] == number[None, :])

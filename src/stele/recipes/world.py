"""Sizes of the generated internet: the model of a scale's `world:` block."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from stele.files.strict import Strict, Values, validate

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Length = Annotated[int, Field(ge=1)]
Questions = Literal["nq", "marco", "squad", "lareqa", "mrtydi", "xor"]  # data sets that ask them
Range = Annotated[tuple[Length, Length], Field(strict=False)]  # YAML and JSON have lists


class Pools(Strict):
    """Shares of the entities that the questions of each split may ask about; texts mention the rest, too."""

    train: Share = 0.6
    dev: Share = 0.12
    test: Share = 0.2


class QuestionCounts(Strict):
    """Most questions per language for one data set, by split."""

    train: Count = 0
    dev: Count = 0
    test: Count = 0


class Dials(Strict):
    """Probabilities that make cross-lingual transfer easier or harder on the generated texts.

    loan/loan_use: a concept has an English loan word / a text uses it. verbatim: a name stays in Latin letters. keep,
    swap, distractor: a language's article states a fact, swaps it with the next, adds a sentence without a fact.
    inverse: a fact about another entity is also stated on that entity's page. named: a sentence after the first names
    its subject in full. topic: a value comes from the entity's own topic. cognate, not a probability: factor on the
    shares of cognates in languages.yaml.
    """

    loan: Share = 0.4
    loan_use: Share = 0.5
    verbatim: Share = 0.3
    cognate: Annotated[float, Field(ge=0)] = 1.0
    keep: Share = 0.75
    swap: Share = 0.12
    distractor: Share = 0.15
    inverse: Share = 0.7
    named: Share = 0.4
    topic: Share = 0.6
    dated: Share = 0.15


class WorldSizes(Strict):
    """Sizes of the generated internet. Counts of questions, mentions and pairs are upper bounds per language."""

    entities: Annotated[int, Field(ge=20)] = 300
    types: Annotated[int, Field(ge=6, le=8)] = 6
    nouns: Annotated[int, Field(ge=4)] = 40
    verbs: Annotated[int, Field(ge=2)] = 12
    adjectives: Annotated[int, Field(ge=2)] = 12
    topics: Annotated[int, Field(ge=1)] = 12
    web_documents: Count = 600
    web_sentences: Range = (8, 16)
    newswire: Annotated[int, Field(ge=3)] = 300
    paragraph_sentences: Range = (2, 4)
    pools: Pools = Pools()
    questions: Mapping[Questions, QuestionCounts] = {
        "nq": QuestionCounts(train=2000, dev=100, test=150),
        "marco": QuestionCounts(train=2000, dev=100),
        "squad": QuestionCounts(train=800, dev=80),
        "lareqa": QuestionCounts(test=60),
        "mrtydi": QuestionCounts(train=200, dev=60, test=100),
        "xor": QuestionCounts(train=200, dev=100, test=60),
    }
    mentions: QuestionCounts = QuestionCounts(train=800, dev=60, test=100)
    parallel: Mapping[Literal["tatoeba", "training", "xnli", "uncorpus"], Count] = {
        "tatoeba": 200,
        "training": 2000,
        "xnli": 200,
        "uncorpus": 100,
    }
    dials: Dials = Dials()


def world_sizes(block: Values, where: str = "world") -> WorldSizes:
    """Validates the `world:` block of a scale. Raises SteleError that names a key unknown or out of range."""
    return validate(WorldSizes, block, where)

"""The recipe of the CLIR language model (Yu et al. 2021; training/objectives/clir.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe

STORE = "section"
QUERY = 40  # tokens of a query that is a sentence of a Wikipedia, special ones included (assumed)


class Recipe(PretrainingRecipe):
    """Its own keys. A round has a group of each language pair for one task, then for the next."""

    objective: Literal["clir"] = "clir"
    tasks: list[Literal["rr", "qlm"]] = Field(min_length=1, description="in the order that they take turns in")
    mixing: Literal["rounds"] = Field("rounds", description="a group is of one language pair; each comes once a round")
    sampling_alpha: float = Field(0.0, ge=0, le=0, description="every language pair comes as often")
    groups: int = Field(1, ge=1, description="groups an optimiser step")
    pairs: int = Field(ge=1, description="queries of a group, each with its document")
    length: int = Field(ge=8, description="most tokens of a query and a document together, special ones included")
    mask: Literal["query", "document", "both"] = Field("query", description="whose tokens QLM hides")
    ranking: Literal["pairwise", "pointwise"] = Field(
        "pairwise",
        description="RR: a softmax over the scores of a positive and a negative, from the state of [CLS]; or two "
        "classes for each document by itself, from the pooler",
    )

    @model_validator(mode="after")
    def _tasks_are_whole(self) -> Recipe:
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks: one is named twice in {', '.join(self.tasks)}")
        if "qlm" in self.tasks and self.mask_probability is None:
            raise ValueError("mask_probability: QLM needs it")
        if self.mlm_share:
            raise ValueError("mlm_share: no MLM batches stand between the rounds; leave the key out")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """Both tasks read the same pairs of sections."""
        return STORE if task in ("rr", "qlm") else task

    def trains_pooler(self) -> bool:
        return "rr" in self.tasks and self.ranking == "pointwise"

    def own_tasks(self) -> list[str]:
        return list(self.tasks)

    def ranking_flops(self, shape: Shape, sequences: int, length: int, global_tokens: int) -> float:
        """Of a group of RR: each query with its document, and with another."""
        encoder = encode(sequences, length, shape, first_only=True, global_tokens=global_tokens)
        return passes(sequences, self.encode_chunk) * encoder

    def modelling_flops(self, shape: Shape, sequences: int, length: int, global_tokens: int, places: float) -> float:
        """Of a group of QLM; `places`: tokens that it predicts."""
        head = places * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
        encoder = encode(sequences, length, shape, first_only=False, global_tokens=global_tokens)
        return passes(sequences, self.encode_chunk) * (encoder + head)

    def flops(self, shape: Shape, length: int, query: int) -> float:
        """The mean of its tasks' groups, of pairs of `length` tokens of which `query` are the query's."""
        places = (self.mask_probability or 0.0) * self.pairs * (query if self.mask == "query" else length)
        of_task = {
            "rr": lambda: self.ranking_flops(shape, 2 * self.pairs, length, query),
            "qlm": lambda: self.modelling_flops(shape, self.pairs, length, query, places),
        }
        return sum(of_task[task]() for task in self.tasks) / len(self.tasks)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int]:
        return round(self.length * tokens), QUERY

"""The CLIR language model: query language modelling and relevance ranking (Yu et al. 2021, section 4).

A group has `pairs` pairs of matched sections of one language pair, packed as `[CLS] query [SEP] document [SEP]` for one
of two tasks. A round has a group of every language pair for the first task, in random order, then for the next task.
"""

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import TasksRecipe
from stele.training.masking import mask_tokens
from stele.training.objectives import Objective
from stele.training.objectives.mlm import MaskedLanguageModelling
from stele.training.section_store import SectionStore
from stele.training.store import Flat, joined
from stele.training.text_pairs import most_global, pack

STORE = "section"
QUERY = 40  # tokens of a query that is a sentence of a Wikipedia, special ones included (assumed)


class Recipe(TasksRecipe):
    objective: Literal["clir"] = "clir"
    tasks: list[Literal["rr", "qlm"]] = Field(
        min_length=1,
        description="tasks in the order in which they take turns: rr is relevance ranking, qlm query language "
        "modelling",
    )
    mixing: Literal["rounds"] = Field(
        "rounds", description="a group is of one language pair, and each pair has one group of each task in a round"
    )
    sampling_alpha: float = Field(0.0, ge=0, le=0, description="fixed: every language pair comes equally often")
    groups: int = Field(1, ge=1, description="number of groups in an optimiser step")
    pairs: int = Field(ge=1, description="queries in a group, each with its document")
    length: int = Field(ge=8, description="most tokens of a query and a document together, special ones included")
    mask: Literal["query", "document", "both"] = Field(
        "query", description="text whose tokens are hidden in the task qlm"
    )
    ranking: Literal["pairwise", "pointwise"] = Field(
        "pairwise",
        description="loss of the task rr; pairwise: softmax over the scores of a positive and a negative, from the "
        "state of [CLS]; pointwise: two classes for each document, from the pooler's output",
    )

    @model_validator(mode="after")
    def _tasks_are_whole(self) -> Self:
        if "qlm" in self.tasks and self.mask_probability is None:
            raise ValueError("mask_probability: missing, but task qlm needs it; give a number")
        if self.mlm_share:
            raise ValueError("mlm_share: objective clir mixes in no MLM batches; leave the key out")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        return STORE if task in ("rr", "qlm") else task

    def trains_pooler(self) -> bool:
        return "rr" in self.tasks and self.ranking == "pointwise"

    def new_objective(self, task: str) -> Objective:
        return {"rr": RelevanceRanking, "qlm": QueryModelling}[task](self)

    def ranking_flops(self, shape: Shape, sequences: int, length: int, global_tokens: int) -> float:
        """FLOPs of a group of RR, whose `sequences` pack each query with its document and with a negative."""
        encoder = encode(sequences, length, shape, first_only=True, global_tokens=global_tokens)
        return passes(sequences, self.encode_chunk) * encoder

    def flops(self, shape: Shape, length: int, query: int) -> float:
        """Mean FLOPs of the tasks' groups, for pairs of `length` tokens with `query` tokens in the query."""
        places = (self.mask_probability or 0.0) * self.pairs * (query if self.mask == "query" else length)
        of_task = {
            "rr": lambda: self.ranking_flops(shape, 2 * self.pairs, length, query),
            "qlm": lambda: self.mlm_flops(shape, self.pairs, length, places, query),
        }
        return sum(of_task[task]() for task in self.tasks) / len(self.tasks)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int]:
        return self.length, QUERY

    def longest_group(self) -> tuple[int, int]:
        return 2 * self.pairs, self.length


# --- draws of a step from section pairs -------------------------------------------------------------------------------
EASY = 3 / 4  # to the power of the number of the page's other sections: probability of a negative from another page


def draw_pairs(
    store: SectionStore, indices: np.ndarray, rng: np.random.Generator
) -> tuple[Flat, np.ndarray, np.ndarray]:
    """Draws each pair's query, a sentence of a section chosen at random; the pair's other section is its document.

    Returns the queries of n pairs; their documents' section numbers int64 [n] and sides int64 [n] (0, 1).
    """
    rows, asking = np.arange(len(indices)), rng.integers(0, 2, len(indices))
    pairs = store.pairs[indices]
    sections = pairs[rows, asking]
    places = rng.integers(0, store.sentence_counts(sections))
    return store.sentences(sections, places), pairs[rows, 1 - asking], 1 - asking


def draw_negatives(
    store: SectionStore, documents: np.ndarray, sides: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draws the negative of each document: section numbers int64 [n], and whether it is hard, of its page, bool [n].

    With T other sections on the page, as the released code counts, it is hard with probability 1 - (3/4)^T (section
    4.2.2). Others are uniform over the language's other sections. Raises SteleError if a language has one section.
    """
    own_page = np.stack(store.of_page(documents), axis=1)
    language = np.array([store.of_language(0), store.of_language(1)])[sides]
    if ((language[:, 1] - language[:, 0]) < 2).any():
        raise SteleError("RR: a language with a single section has no negatives; provide more text")
    hard = rng.random(len(documents)) < 1 - EASY ** (own_page[:, 1] - own_page[:, 0] - 1)
    begin, end = np.where(hard[:, None], own_page, language).T
    chosen = rng.integers(begin, end - 1)
    return chosen + (chosen >= documents), hard


def check_token_types(task: str, config: Any) -> None:
    """Raises SteleError for a model without two token types, which tell it a query from its document."""
    if getattr(config, "type_vocab_size", 0) < 2:
        raise SteleError(f"{task}: found a {config.model_type} model without two token types; use one such as BERT")


# --- query language modelling -----------------------------------------------------------------------------------------
class QueryModelling(MaskedLanguageModelling):
    """Query language modelling: predicts hidden tokens of a query from it and a relevant document (section 4.2.1)."""

    def take(self, stores, group, rng):
        """Draws a group's queries and their documents, each Flat of n texts."""
        ((part, indices),) = group.drawn
        queries, documents, _ = draw_pairs(stores[part], indices, rng)
        return queries, stores[part].documents(documents, self.recipe.length)

    def batch(self, examples, vocabulary, group, rng):
        """Batch: masked ids int64 [n, t]; types, mask as `pack` makes them; hidden places (flat), targets int64 [m]."""
        recipe = self.recipe
        packed = pack(*examples, vocabulary, recipe.length)
        among = None if recipe.mask == "both" else packed["types"] == int(recipe.mask == "document")
        hidden, places, targets = mask_tokens(packed["ids"], vocabulary, rng, recipe.mask_probability, among)
        return {**packed, "ids": hidden, "places": places, "targets": targets}

    def sizes(self, batch):
        return *super().sizes(batch), most_global(batch["types"])

    def heads(self, model):
        check_token_types("QLM", model.config)
        return super().heads(model)


# --- relevance ranking ------------------------------------------------------------------------------------------------
class RelevanceRanking(Objective):
    """Relevance ranking: a query's document must score above the query's own negative (section 4.2.2).

    The head scores a pair by one vector w, or (`pointwise`) by two classes of the pooler's output. Its weights are
    kept: weight [1, width]; or weight [2, width] and bias [2], of which class 1 is the score.
    """

    POOLING = pooling = "cls"  # for pairs of texts, whatever the base's pooling

    def take(self, stores, group, rng):
        """Draws a group: texts of n queries; of their documents, then of n negatives; number of hard negatives."""
        ((part, indices),) = group.drawn
        store = stores[part]
        queries, documents, sides = draw_pairs(store, indices, rng)
        negatives, hard = draw_negatives(store, documents, sides, rng)
        numbers = np.concatenate([documents, negatives])
        return queries, store.documents(numbers, self.recipe.length), int(hard.sum())

    def batch(self, examples, vocabulary, group, rng):
        """Batch: ids, types int64 [2 n, t], mask bool [2 n, t] or None: n queries with their documents, then with their
        negatives; hard_negatives: number of negatives from the documents' pages."""
        queries, documents, hard = examples
        return {**pack(joined([queries, queries]), documents, vocabulary, self.recipe.length), "hard_negatives": hard}

    def sizes(self, batch):
        return *batch["ids"].shape, most_global(batch["types"])

    def flops(self, batch, shape):
        return self.recipe.ranking_flops(shape, *self.sizes(batch))

    def choices(self, vocabulary):
        """Number of classes: document or negative, relevant or not."""
        return 2

    def heads(self, model):
        from torch import nn

        from stele.training.heads import initialise

        config, pointwise = model.config, self.recipe.ranking == "pointwise"
        check_token_types("RR", config)
        if pointwise and getattr(model.base_model, "pooler", None) is None:
            raise SteleError("RR: `ranking: pointwise` needs a pooler, but the checkpoint has none; use pairwise")
        score = nn.Linear(config.hidden_size, 2 if pointwise else 1, bias=pointwise)
        initialise(score, config.initializer_range)
        return nn.ModuleDict({"dropout": nn.Dropout(self.recipe.dropout), "score": score})

    def loss(self, heads, model, batch, processes=None):
        """Pairwise: the mean of log(1 + exp(S- - S+)). Pointwise: cross-entropy of each document's two classes."""
        import torch
        from torch.nn import functional

        from stele.training.hidden_states import pooled_states

        pointwise = self.recipe.ranking == "pointwise"
        chunk = self.recipe.encode_chunk
        states = pooled_states("cls", model.base_model, batch["ids"], batch["mask"], chunk, processes, batch["types"])
        if pointwise:
            states = heads["dropout"](model.base_model.pooler(states[:, None]))
        with torch.autocast(states.device.type, enabled=False):
            logits = heads["score"](states.float())
            scores = logits[:, -1].view(2, -1).T  # [n, 2], logits of class 1, by which the released code ranks
            self.figures = {"accuracy": (scores[:, 0] > scores[:, 1]).float().mean().detach()}
            if pointwise:  # the first n documents are of class 1, the others of 0 (the released code)
                classes = torch.arange(len(logits), device=logits.device) < len(logits) // 2
                return functional.cross_entropy(logits, classes.long())
            return functional.cross_entropy(scores, scores.new_zeros(len(scores), dtype=torch.long))

    def kept_weights(self, heads):
        return heads["score"].state_dict()

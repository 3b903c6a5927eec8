"""Groups of a dual encoder's training as pure functions of (seed, epoch, index), so that resuming needs no position."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stele.finetuning.dual_encoder.examples import Examples
from stele.training.sampling import generator

if TYPE_CHECKING:
    from stele.recipes.finetuning import FinetuningRecipe


class Group(NamedTuple):
    """A group of b queries and m candidates, ordered by query: its positive, then its hard negatives."""

    queries: np.ndarray  # int64 [b], rows of Examples.queries
    passages: np.ndarray  # int64 [m], rows of Examples.passages
    positives: np.ndarray  # int64 [b], the column of each query's positive
    mask: np.ndarray  # bool [b, m], True for no candidates: copies of a query's positive, other known positives


@lru_cache(maxsize=2)
def _order(examples: int, seed: int, epoch: int) -> np.ndarray:
    return generator(seed, "order", epoch).permutation(examples)


@lru_cache(maxsize=2)
def _draws(examples: int, seed: int, epoch: int) -> np.ndarray:
    return generator(seed, "hard negatives", epoch).random(examples)


@lru_cache(maxsize=2)
def _taken(examples: int, wanted: int, ratio: float, seed: int, epoch: int) -> np.ndarray:
    chances = generator(seed, "hard negatives taken", epoch).random((examples, wanted))
    return (chances < ratio).sum(axis=1)


def hard_negatives(data: Examples, example: int, wanted: int, seed: int, epoch: int) -> np.ndarray:
    """Draws `wanted` of the example's hard negatives (all if it has no more), int64 [n], anew in every epoch (DPR)."""
    listed = data.negatives_of(example)
    if wanted == 0 or wanted >= len(listed):
        return listed[:wanted]
    if wanted == 1:
        return listed[[int(_draws(len(data), seed, epoch)[example] * len(listed))]]
    return listed[generator(seed, "hard negatives", epoch, int(example)).permutation(len(listed))[:wanted]]


def training_group(data: Examples, recipe: FinetuningRecipe, seed: int, number: int) -> Group:
    """Makes group `number` of a run: a slice of its epoch's random order, with hard negatives.

    An epoch has whole steps; the remaining examples, others in every epoch, are left out. Each of a query's hard
    negatives is present with probability `hard_negative_ratio`, drawn anew in every epoch, as in contriever's
    finetuning_data.py (sample_n_hard_negatives).
    """
    epoch, index = divmod(number, recipe.steps_per_epoch(len(data)) * recipe.accumulation)
    chosen = _order(len(data), seed, epoch)[index * recipe.batch : (index + 1) * recipe.batch]
    wanted = np.broadcast_to(recipe.hard_negatives, len(data))
    if recipe.hard_negative_ratio < 1:
        wanted = _taken(len(data), recipe.hard_negatives, recipe.hard_negative_ratio, seed, epoch)
    return make_group(data, chosen, [hard_negatives(data, i, wanted[i], seed, epoch) for i in chosen])


def first_alone(data: Examples, recipe: FinetuningRecipe, seed: int, steps: int) -> int | None:
    """Finds the first optimiser step, from 1, with a query whose only candidate is its positive; None without one.

    That takes many examples with one query's positives: if no query can have enough, no group is drawn to find out.
    """
    shared = np.bincount(data.positives[data.positive_offsets[:-1]], minlength=data.positives.max() + 1)
    of_examples = np.add.reduceat(shared[data.positives], data.positive_offsets[:-1])
    numbers: dict[bytes, int] = {}  # query -> number
    queries = [numbers.setdefault(data.query_of(i), len(numbers)) for i in range(len(data))]
    if np.bincount(queries, weights=of_examples).max() < recipe.batch:
        return None
    for number in range(steps * recipe.accumulation):
        group = training_group(data, recipe, seed, number)
        if len(contested(group).queries) < len(group.queries):
            return number // recipe.accumulation + 1
    return None


def dev_groups(data: Examples, batch: int, wanted: int) -> list[Group]:
    """Makes groups of the dev set, in order, with each query's first `wanted` hard negatives.

    Leaves out queries without a second candidate (all queries share one positive, or one query is alone).
    """
    chosen = np.array_split(np.arange(len(data)), range(batch, len(data), batch))
    whole = (make_group(data, rows, [data.negatives_of(i)[:wanted] for i in rows]) for rows in chosen)
    return [group for group in map(contested, whole) if len(group.queries)]


def contested(group: Group) -> Group:
    """Removes from a group the queries whose only candidate is their positive; all passages stay."""
    rows = (~group.mask).sum(axis=1) > 1
    return Group(group.queries[rows], group.passages, group.positives[rows], group.mask[rows])


def make_group(data: Examples, chosen: np.ndarray, negatives: list[np.ndarray]) -> Group:
    """Makes a group of the examples `chosen`, with the hard negatives of each in `negatives`.

    What answers a query in one example is no negative of the same query in another.
    """
    right, queries = [data.positives_of(i) for i in chosen], [data.query_of(i) for i in chosen]
    passages = np.concatenate([part for r, n in zip(right, negatives, strict=True) for part in (r[:1], n)])
    columns = np.cumsum([0, *(1 + len(n) for n in negatives)])[:-1]
    known: dict[bytes, np.ndarray] = {}
    for query, rows in zip(queries, right, strict=True):
        known[query] = np.concatenate([known[query], rows]) if query in known else rows
    mask = positive_mask(passages, columns, [known[query] for query in queries])
    return Group(np.asarray(chosen), passages, columns, mask)


def positive_mask(passages: np.ndarray, columns: np.ndarray, right: list[np.ndarray]) -> np.ndarray:
    """Marks the candidates that are known positives of a query but not the one in its own column: bool [b, m].

    >>> positive_mask(np.array([7, 8, 7]), np.array([0, 1]), [np.array([7]), np.array([8])]).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0]]
    """
    mask = passages[columns][:, None] == passages[None, :]
    for row, known in enumerate(right):
        if len(known) > 1:
            mask[row] = np.isin(passages, known)
    mask[np.arange(len(columns)), columns] = False
    return mask

"""The examples of a group: pure functions of (seed, epoch, index), so that a resumed run needs no position."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stele.finetuning.dual_encoder.examples import Examples
from stele.training.sampling import generator


class Group(NamedTuple):
    """b queries and their m candidates; a query's positive and hard negatives, then those of the next query.

    queries    int64 [b], rows of Examples.queries
    passages   int64 [m], rows of Examples.passages
    positives  int64 [b], the column of each query's positive
    mask       bool [b, m], True where a passage is no candidate of a query: another copy of its positive, or another
               of its known positives
    """

    queries: np.ndarray
    passages: np.ndarray
    positives: np.ndarray
    mask: np.ndarray


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


def members(examples: int, batch: int, seed: int, epoch: int, index: int) -> np.ndarray:
    """The examples of group `index` of an epoch: a stretch of the epoch's random order.

    An epoch has floor(examples / batch) groups; what is left over is left out, another part in every epoch.
    """
    return _order(examples, seed, epoch)[index * batch : (index + 1) * batch]


def hard_negatives(data: Examples, example: int, wanted: int, seed: int, epoch: int) -> np.ndarray:
    """`wanted` of the example's hard negatives (all, if it has no more), drawn anew in every epoch as DPR does."""
    listed = data.negatives_of(example)
    if wanted == 0 or wanted >= len(listed):
        return listed[:wanted]
    if wanted == 1:
        return listed[[int(_draws(len(data), seed, epoch)[example] * len(listed))]]
    return listed[generator(seed, "hard negatives", epoch, int(example)).permutation(len(listed))[:wanted]]


def training_group(
    data: Examples, batch: int, wanted: int, seed: int, epoch: int, index: int, ratio: float = 1.0
) -> Group:
    """Group `index` of an epoch with its hard negatives.

    With a ratio below 1, each of a query's `wanted` is there with that probability, drawn anew in every epoch, as in
    contriever's finetuning_data.py (sample_n_hard_negatives). Where it brings none, that code gives it a random passage
    instead; here the passages of the group's other queries are that already.
    """
    chosen = members(len(data), batch, seed, epoch, index)
    taken = None if ratio == 1.0 else _taken(len(data), wanted, ratio, seed, epoch)
    number = [wanted if taken is None else int(taken[i]) for i in chosen]
    return make_group(
        data, chosen, [hard_negatives(data, i, n, seed, epoch) for i, n in zip(chosen, number, strict=True)]
    )


def dev_groups(data: Examples, batch: int, wanted: int) -> list[Group]:
    """The dev set in order, with each query's first hard negatives; a last group of one query is left out.

    So are queries without a second candidate, which happens where all queries of a group have one positive.
    """
    chosen = np.array_split(np.arange(len(data)), range(batch, len(data), batch))
    whole = (make_group(data, rows, [data.negatives_of(i)[:wanted] for i in rows]) for rows in chosen if len(rows) > 1)
    return [group for group in map(contested, whole) if len(group.queries)]


def contested(group: Group) -> Group:
    """A group without the queries that have nothing but their positive; all its passages stay."""
    rows = (~group.mask).sum(axis=1) > 1
    return Group(group.queries[rows], group.passages, group.positives[rows], group.mask[rows])


def make_group(data: Examples, chosen: np.ndarray, negatives: list[np.ndarray]) -> Group:
    """A group of the given examples and hard negatives."""
    right = [data.positives_of(i) for i in chosen]
    passages = np.concatenate([part for r, n in zip(right, negatives, strict=True) for part in (r[:1], n)])
    columns = np.cumsum([0, *(1 + len(n) for n in negatives)])[:-1]
    return Group(np.asarray(chosen), passages, columns, positive_mask(passages, columns, right))


def positive_mask(passages: np.ndarray, columns: np.ndarray, right: list[np.ndarray]) -> np.ndarray:
    """bool [b, m]: the candidates that are a known positive of the query without being the one at its own column.

    >>> positive_mask(np.array([7, 8, 7]), np.array([0, 1]), [np.array([7]), np.array([8])]).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0]]
    """
    mask = passages[columns][:, None] == passages[None, :]
    for row, known in enumerate(right):
        if len(known) > 1:
            mask[row] = np.isin(passages, known)
    mask[np.arange(len(columns)), columns] = False
    return mask

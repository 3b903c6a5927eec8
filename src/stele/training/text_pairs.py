"""Pairs of texts for contrast: mined ones, and two crops of one stretch of text (Izacard et al. 2022, section 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.training.masking import Vocabulary, attention, pad
from stele.training.sampling import Batch
from stele.training.store import Flat, ranges


class Texts(NamedTuple):
    """Texts one after another: tokens int64 [sum of lengths], without special ones; lengths int64 [n]."""

    tokens: np.ndarray
    lengths: np.ndarray


def crop(stretches: Texts, ratio: tuple[float, float], rng: np.random.Generator) -> Texts:
    """One crop of each stretch: its share of the stretch uniform within `ratio`, its place uniform.

    As in contriever's src/data.py (randomcrop): the length is rounded down; at least one token here.
    """
    low, high = ratio
    lengths = (stretches.lengths * rng.uniform(low, high, len(stretches.lengths))).astype(np.int64).clip(1)
    begins = np.cumsum(stretches.lengths) - stretches.lengths
    starts = begins + rng.integers(0, stretches.lengths - lengths, endpoint=True)
    return Texts(stretches.tokens[ranges(starts, lengths)], lengths)


def both_sides(flat: Flat, ratio: tuple[float, float], rng: np.random.Generator) -> tuple[Texts, Texts]:
    """Queries and passages: the two segments of every example; where examples are stretches, two crops of each.

    The crops are independent of each other and drawn anew whenever a stretch comes.
    """
    if (flat.counts == 1).all():
        stretches = Texts(flat.tokens, flat.lengths)
        return crop(stretches, ratio, rng), crop(stretches, ratio, rng)
    if (flat.counts != 2).any():
        raise SteleError("want stretches of text, or pairs of texts; these examples were mined by another method")
    of_passage = np.repeat(np.arange(len(flat.lengths)) % 2 == 1, flat.lengths)
    queries = Texts(flat.tokens[~of_passage], flat.lengths[0::2])
    return queries, Texts(flat.tokens[of_passage], flat.lengths[1::2])


def pair_batch(
    flat: Flat, vocabulary: Vocabulary, longest: int, ratio: tuple[float, float], rng: np.random.Generator
) -> Batch:
    """query_ids int64 [n, t], passage_ids int64 [n, u], cut to `longest` ids, special ones included; their masks"""
    made: Batch = {}
    for name, texts in zip(("query", "passage"), both_sides(flat, ratio, rng), strict=True):
        ids, lengths = pad(*texts, vocabulary, longest)
        made |= {f"{name}_ids": ids, f"{name}_mask": attention(lengths, ids.shape[1])}
    return made

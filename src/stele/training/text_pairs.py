"""Pairs of texts, numpy only: for contrast (mined ones, or two crops of a stretch: Izacard et al. 2022), or packed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.training.masking import Vocabulary, attention, pad
from stele.training.sampling import Batch
from stele.training.store import Flat, joined, ranges


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
    """Queries and passages: the two segments of each example, or two crops of an example with one segment.

    Crops are independent and drawn anew each time. Raises SteleError for examples of any other form.
    """
    if (flat.counts == 1).all():
        stretches = Texts(flat.tokens, flat.lengths)
        return crop(stretches, ratio, rng), crop(stretches, ratio, rng)
    if (flat.counts != 2).any():
        raise SteleError("want stretches of text, or pairs of texts; these examples were mined by another method")
    return segments(flat)


def segments(flat: Flat) -> tuple[Texts, Texts]:
    """The first segment of each example, and the second, of examples with two."""
    of_passage = np.repeat(np.arange(len(flat.lengths)) % 2 == 1, flat.lengths)
    queries = Texts(flat.tokens[~of_passage], flat.lengths[0::2])
    return queries, Texts(flat.tokens[of_passage], flat.lengths[1::2])


def pair_batch(sides: tuple[Texts, Texts], vocabulary: Vocabulary, longest: tuple[int, int]) -> Batch:
    """query_ids int64 [n, t], passage_ids int64 [n, u], each side cut to its `longest` ids, special ones included;
    their masks"""
    made: Batch = {}
    for name, texts, most in zip(("query", "passage"), sides, longest, strict=True):
        ids, lengths = pad(*texts, vocabulary, most)
        made |= {f"{name}_ids": ids, f"{name}_mask": attention(lengths, ids.shape[1])}
    return made


# --- two texts in one sequence, `[CLS] query [SEP] document [SEP]`, as BERT reads pairs -------------------------------
SPECIAL = 3  # tokens of a sequence


class Packed(NamedTuple):
    """ids, types int64 [n, t]: types are 1 from the document to the end; mask bool [n, t], None: nothing is padding."""

    ids: np.ndarray
    types: np.ndarray
    mask: np.ndarray | None


def kept_lengths(first: np.ndarray, second: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of tokens kept of two texts, int64 [n] each, `most` in all: the longer text is cut first.

    As the tokenizers' "longest_first": of two that are both too long the longer one keeps the odd token.

    >>> [part.tolist() for part in kept_lengths(np.array([3, 9, 20, 2]), np.array([4, 2, 30, 50]), 11)]
    [[3, 9, 5, 2], [4, 2, 6, 9]]
    """
    shorter = np.minimum(np.minimum(first, second), most // 2)
    longer = np.minimum(np.maximum(first, second), most - shorter)
    swapped = first > second
    return np.where(swapped, longer, shorter), np.where(swapped, shorter, longer)


def most_global(types: np.ndarray) -> int:
    """Global tokens of the longest query among types [n, t], where there are windows: all but the document's."""
    return int(types.argmax(1).max()) + 1


def pack(queries: Flat, documents: Flat, vocabulary: Vocabulary, longest: int) -> Packed:
    """Query i with document i, cut to `longest` ids; both Flat of n texts, one segment each."""
    if min(queries.lengths.min(), documents.lengths.min()) < 1:
        raise SteleError("a batch holds an empty query or document; mine the pairs again, leaving out empty sentences")
    lengths = np.stack(kept_lengths(queries.lengths, documents.lengths, longest - SPECIAL), axis=1)
    query, document = lengths.T
    ends = query + document + SPECIAL
    columns = np.arange(int(ends.max()))
    ids = np.full((len(lengths), len(columns)), vocabulary.pad, np.int64)
    rows = np.arange(len(lengths))
    ids[:, 0] = vocabulary.cls
    ids[rows, query + 1] = ids[rows, ends - 1] = vocabulary.sep
    texts = joined([queries, documents])
    begins = (np.cumsum(texts.lengths) - texts.lengths).reshape(2, -1)
    for begin, length, place in ((begins[0], query, np.ones_like(query)), (begins[1], document, query + 2)):
        ids[np.repeat(rows, length), ranges(place, length)] = texts.tokens[ranges(begin, length)]
    types = (columns > query[:, None] + 1) & (columns < ends[:, None])
    return Packed(ids, types.astype(np.int64), attention(ends, len(columns)))

"""Pairs of texts as arrays: mined pairs or two crops of a stretch, apart or in one sequence."""

from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.training.masking import Vocabulary, attention, pad
from stele.training.sampling import Batch
from stele.training.store import Flat, joined, ranges


class Texts(NamedTuple):
    """Concatenated texts: tokens int64 [sum of lengths], without special tokens; lengths int64 [n]."""

    tokens: np.ndarray
    lengths: np.ndarray


def crop(stretches: Texts, ratio: tuple[float, float], rng: np.random.Generator) -> Texts:
    """Draws one crop of each stretch: the crop's share of the stretch is uniform within `ratio`, its place uniform.

    As in contriever's src/data.py (randomcrop), the length is rounded down, but here to no less than one token.
    """
    low, high = ratio
    lengths = (stretches.lengths * rng.uniform(low, high, len(stretches.lengths))).astype(np.int64).clip(1)
    begins = np.cumsum(stretches.lengths) - stretches.lengths
    starts = begins + rng.integers(0, stretches.lengths - lengths, endpoint=True)
    return Texts(stretches.tokens[ranges(starts, lengths)], lengths)


def both_sides(flat: Flat, ratio: tuple[float, float], rng: np.random.Generator) -> tuple[Texts, Texts]:
    """Makes queries and passages: the two segments of each example, or two crops of examples with one segment.

    Crops are independent and drawn anew each time. Raises SteleError if examples have another number of segments.
    """
    if (flat.counts == 1).all():
        stretches = Texts(flat.tokens, flat.lengths)
        return crop(stretches, ratio, rng), crop(stretches, ratio, rng)
    if (flat.counts != 2).any():
        raise SteleError("these examples were mined by another method; want stretches of text, or pairs of texts")
    return segments(flat)


def segments(flat: Flat) -> tuple[Texts, Texts]:
    """Splits examples of two segments each into all first segments and all second segments."""
    of_passage = np.repeat(np.arange(len(flat.lengths)) % 2 == 1, flat.lengths)
    queries = Texts(flat.tokens[~of_passage], flat.lengths[0::2])
    return queries, Texts(flat.tokens[of_passage], flat.lengths[1::2])


def pair_batch(sides: tuple[Texts, Texts], vocabulary: Vocabulary, longest: tuple[int, int]) -> Batch:
    """Pads both sides: query_ids int64 [n, t], passage_ids int64 [n, u], each cut to its `longest` ids, special tokens
    included, and their masks bool (None: no padding)."""
    batch: Batch = {}
    for name, texts, most in zip(("query", "passage"), sides, longest, strict=True):
        ids, lengths = pad(*texts, vocabulary, most)
        batch |= {f"{name}_ids": ids, f"{name}_mask": attention(lengths, ids.shape[1])}
    return batch


# --- two texts in one sequence, `[CLS] query [SEP] document [SEP]`, as BERT reads pairs -------------------------------
SPECIAL = 3  # special tokens of a sequence


def kept_lengths(first: np.ndarray, second: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of tokens kept of two texts, int64 [n] each, at most `most` in sum: the longer text is cut first.

    As with the tokenizers' "longest_first"; if both are cut, the longer text keeps the odd token.

    >>> [part.tolist() for part in kept_lengths(np.array([3, 9, 20, 2]), np.array([4, 2, 30, 50]), 11)]
    [[3, 9, 5, 2], [4, 2, 6, 9]]
    """
    shorter = np.minimum(np.minimum(first, second), most // 2)
    longer = np.minimum(np.maximum(first, second), most - shorter)
    swapped = first > second
    return np.where(swapped, longer, shorter), np.where(swapped, shorter, longer)


def most_global(types: np.ndarray) -> int:
    """Number of global tokens with the longest query among types int64 [n, t]: [CLS], query and both [SEP]."""
    return int(types.argmax(1).max()) + 1


def pack(queries: Flat, documents: Flat, vocabulary: Vocabulary, longest: int) -> Batch:
    """Packs query i with document i, cut to `longest` ids; both have n segments. Raises SteleError if one is empty.

    Returns ids, types int64 [n, t], types 1 from the document on; mask bool [n, t] or None (no padding).
    """
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
    return {"ids": ids, "types": types.astype(np.int64), "mask": attention(ends, len(columns))}

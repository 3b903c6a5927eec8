"""Padding of flat tokens into batches, and the masking of masked language modelling; in numpy, no loop over tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stele.errors import SteleError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

REPLACED, RANDOM = 0.8, 0.1  # of the chosen tokens: 80 % become the mask token, 10 % another token, 10 % stay
PIECES = 4  # of a batch, by length: on Wikipedia sentences they leave a quarter of padding, a single piece over half
WORTH = 512  # tokens of padding that one more pass through an encoder must save


@dataclass(frozen=True)
class Vocabulary:
    """Size of a vocabulary and the ids of its special tokens, as batches need them."""

    size: int
    cls: int
    sep: int
    pad: int
    mask: int
    special: tuple[int, ...]

    def __post_init__(self) -> None:
        allowed = np.ones(self.size, bool)
        allowed[[i for i in self.special if i < self.size]] = False
        object.__setattr__(self, "ordinary", np.flatnonzero(allowed))  # what a random replacement may be


def read_vocabulary(tokenizer: PreTrainedTokenizerBase, size: int) -> Vocabulary:
    """Reads special ids from a tokenizer; raises SteleError if it lacks one, or has more tokens than `size`."""
    names = {"cls": tokenizer.cls_token_id, "sep": tokenizer.sep_token_id, "pad": tokenizer.pad_token_id}
    names["mask"] = tokenizer.mask_token_id
    missing = [name for name, token in names.items() if token is None]
    if missing:
        raise SteleError(f"{tokenizer.name_or_path}: the tokenizer has no {', '.join(missing)} token; use another one")
    if len(tokenizer) > size:
        raise SteleError(
            f"{tokenizer.name_or_path}: the tokenizer has {len(tokenizer)} tokens, the model only {size}; use its own"
        )
    return Vocabulary(size=size, special=tuple(sorted(set(tokenizer.all_special_ids))), **names)


def pad(tokens: np.ndarray, lengths: np.ndarray, vocabulary: Vocabulary, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Builds sequences `cls tokens sep`, cut to `longest` ids and padded to the longest of them.

    tokens int64 [sum(lengths)], lengths int64 [n] (0: SteleError) -> ids int64 [n, t], lengths with cls, sep int64 [n]
    """
    if len(lengths) == 0 or lengths.min() == 0:
        raise SteleError("a batch holds an empty segment; mine the pairs again, leaving out empty sentences")
    shortened = np.minimum(lengths, longest - 2)
    width = int(shortened.max(initial=0)) + 2
    columns = np.arange(width)
    ids = np.full((len(lengths), width), vocabulary.pad, np.int64)
    ids[:, 0] = vocabulary.cls
    inside = (columns >= 1) & (columns <= shortened[:, None])
    if (shortened == lengths).all():
        ids[inside] = tokens  # row-major order is the order of the tokens
    else:
        begins = np.cumsum(lengths) - lengths
        ids[inside] = tokens[(begins[:, None] + columns - 1)[inside]]
    ids[np.arange(len(ids)), shortened + 1] = vocabulary.sep
    return ids, shortened + 2


def attention(lengths: np.ndarray, width: int) -> np.ndarray | None:
    """Attention mask, bool [n, width], True for tokens and False for padding; None if there is no padding."""
    return None if (lengths == width).all() else np.arange(width) < lengths[:, None]


def pieces_by_length(lengths: np.ndarray, chunk: int | None = None) -> list[np.ndarray]:
    """Divides texts by length into pieces that an encoder reads together; returns each piece's rows, int64.

    More than `chunk` texts are divided into pieces of that size; fewer into quarters if this saves enough padding, on
    any device.

    >>> [rows.tolist() for rows in pieces_by_length(np.array([9, 3, 8, 2]), 2)]
    [[3, 1], [2, 0]]
    """
    order = np.argsort(lengths, kind="stable")
    if chunk is not None and len(lengths) > chunk:
        return np.array_split(order, range(chunk, len(lengths), chunk))
    pieces = np.array_split(order, min(PIECES, len(order)))
    saved = len(lengths) * lengths.max() - _computed(lengths, pieces)
    return pieces if saved > WORTH * (len(pieces) - 1) else [np.arange(len(lengths))]


def computed_length(lengths: np.ndarray, chunk: int | None = None) -> float:
    """Mean number of tokens, padding included, that an encoder computes per text of `lengths` [n]."""
    return _computed(lengths, pieces_by_length(lengths, chunk)) / len(lengths)


def _computed(lengths: np.ndarray, pieces: Iterable[np.ndarray]) -> int:
    return sum(len(rows) * int(lengths[rows].max()) for rows in pieces)


def mask_tokens(
    ids: np.ndarray,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    probability: float,
    among: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chooses tokens to be predicted and hides them: 80 % masked, 10 % replaced, 10 % unchanged (BERT, section 3.1).

    Never chooses special tokens or tokens where `among` (bool [n, t]) is false; always chooses at least one. ids int
    [n, t] -> masked ids [n, t], flat positions of the chosen tokens [m], their original ids [m]. Raises SteleError if
    there is no token to choose.
    """
    ordinary = ~np.isin(ids, vocabulary.special)
    candidates = np.flatnonzero(ordinary if among is None else ordinary & among)
    if not len(candidates):
        raise SteleError("masking: no text of the batch has a token to hide: the tokenizer does not know them")
    chosen = candidates[rng.random(len(candidates)) < probability]
    if not len(chosen):
        chosen = rng.choice(candidates, 1)
    hidden = ids.ravel().copy()
    targets = hidden[chosen].copy()
    fate = rng.random(len(chosen))
    hidden[chosen[fate < REPLACED]] = vocabulary.mask
    other = chosen[(fate >= REPLACED) & (fate < REPLACED + RANDOM)]
    hidden[other] = rng.choice(vocabulary.ordinary, len(other))
    return hidden.reshape(ids.shape), chosen, targets


def fingerprints(ids: np.ndarray) -> np.ndarray:
    """Hashes each row of ids [n, t] to uint64 [n]: equal rows get equal numbers, others almost surely do not."""
    mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    weights = (np.arange(1, ids.shape[1] + 1, dtype=np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)) | np.uint64(1)
    return ((mixed ^ (mixed >> np.uint64(29))) * weights).sum(axis=1, dtype=np.uint64)


def duplicate_counts(ids: np.ndarray) -> dict[str, Any]:
    """Counts duplicates among texts, ids [n, t]: duplicate_keys int64 [n], equal for equal texts; vectors (n);
    duplicates (n minus the number of different texts)."""
    keys = fingerprints(ids)
    return {"duplicate_keys": keys.view(np.int64), "vectors": len(ids), "duplicates": len(ids) - len(np.unique(keys))}

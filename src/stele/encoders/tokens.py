"""Tokenised texts as flat arrays, and padded batches from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from stele.recipes.encoding import TextInput

WHOLE = 10**9  # a length in tokens that cuts no text


class Tokens(NamedTuple):
    """Token ids of n texts, special tokens included, one after the other.

    ids      int32 [total]; text i is ids[offsets[i]:offsets[i + 1]]
    offsets  int64 [n + 1]
    types    uint8 [total], the token types of pairs; None when the encoder has no segments
    cut      how many of the texts were longer than allowed
    """

    ids: np.ndarray
    offsets: np.ndarray
    types: np.ndarray | None
    cut: int = 0

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def lengths_of(self, rows: np.ndarray) -> np.ndarray:
        return self.offsets[rows + 1] - self.offsets[rows]


def tokenize(
    tokenizer, texts: Sequence[TextInput], max_length: int, segments: bool = False, special: bool = True
) -> Tokens:
    """Tokenises texts and pairs with the tokenizer's own batch code; what is longer than `max_length` is cut.

    Texts are cut on the side that the tokenizer says. Of a pair the longer text is cut first ("longest_first"), as DPR,
    XTREME-R and sentence-transformers do. Without `special` no special tokens are added.
    """
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(max_length, strategy="longest_first", direction=tokenizer.truncation_side)
    backend.no_padding()
    encoded = backend.encode_batch_fast(list(texts), add_special_tokens=special)
    lengths = np.fromiter((len(item) for item in encoded), dtype=np.int64, count=len(encoded))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total = int(offsets[-1])
    ids = np.fromiter(chain.from_iterable(item.ids for item in encoded), dtype=np.int32, count=total)
    types = None
    if segments:
        types = np.fromiter(chain.from_iterable(item.type_ids for item in encoded), dtype=np.uint8, count=total)
    cut = sum(len(item) >= max_length and bool(item.overflowing) for item in encoded)
    return Tokens(ids, offsets, types, cut)


def collate(tokens: Tokens, rows: np.ndarray, pad_id: int) -> dict:
    """The texts `rows` as tensors [len(rows), longest]; the mask is left out where nothing is padded."""
    import torch

    starts, lengths = tokens.offsets[rows], tokens.lengths_of(rows)
    width = max(1, int(lengths.max()))  # of a text without tokens there is only padding
    columns = np.arange(width)
    mask = columns < lengths[:, None]
    source = (starts[:, None] + columns)[mask]
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    ids[mask] = tokens.ids[source]
    batch = {"input_ids": torch.from_numpy(ids)}
    if not mask.all():
        batch["attention_mask"] = torch.from_numpy(mask.astype(np.int64))
    if tokens.types is not None:
        types = np.zeros(mask.shape, dtype=np.int64)
        types[mask] = tokens.types[source]
        batch["token_type_ids"] = torch.from_numpy(types)
    return batch


def length_buckets(lengths: np.ndarray, batch_tokens: int) -> list[np.ndarray]:
    """Row numbers in batches of similar length, longest first, padded to at most `batch_tokens` each.

    Ties keep their order, so the batches are a function of the lengths alone. A text longer than the budget is a batch
    of its own.

    >>> [list(map(int, b)) for b in length_buckets(np.array([2, 9, 3, 3]), 9)]
    [[1], [2, 3, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        count = max(1, int(batch_tokens // max(1, lengths[order[start]])))
        batches.append(order[start : start + count])
        start += count
    return batches

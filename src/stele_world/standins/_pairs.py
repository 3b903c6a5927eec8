"""Pairs of texts (translations, sentences near each other) and the loss that tells each one's partner from others'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from stele.errors import SteleError
from stele.training.contrastive_loss import check_candidates, duplicate_mask
from stele.training.masking import Vocabulary, attention, fingerprints, pad
from stele.training.sampling import Batch
from stele_world.standins import _texts
from stele_world.standins._corpus import tokenize


@dataclass(frozen=True)
class Side:
    """One side of pairs of texts, as tokens without special ones, in order."""

    tokens: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, tokenizer: Any, texts: Sequence[str]) -> Side:
        tokens, lengths = tokenize(tokenizer, texts)
        return cls(tokens, np.cumsum(lengths))

    def take(self, chosen: np.ndarray) -> list[np.ndarray]:
        begins = np.concatenate([[0], self.ends[:-1]])
        return [self.tokens[begins[i] : self.ends[i]] for i in chosen]


Pairs = Mapping[str, tuple[Side, Side]]  # language -> both sides


def translation_pairs(mirror: Path, languages: Sequence[str], tokenizer: Any) -> Pairs:
    """The English sentences and their translations, for each language but English."""
    pairs = {}
    for language in languages:
        if language != "en":
            english, foreign = zip(*_texts.translations(mirror, language), strict=True)
            pairs[language] = (Side.of(tokenizer, english), Side.of(tokenizer, foreign))
    if not pairs:
        raise SteleError("translation pairs: --languages has English alone; give another language")
    return pairs


def draw(pairs: Pairs, rng: np.random.Generator, number: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """`number` pairs of one language, without repetition, both sides; languages take turns by chance."""
    language = list(pairs)[rng.integers(len(pairs))]
    first, second = pairs[language]
    if len(first.ends) < 2:
        raise SteleError(f"{language}: want at least 2 pairs of texts, found {len(first.ends)}")
    chosen = rng.permutation(len(first.ends))[:number]
    return first.take(chosen), second.take(chosen)


def side_batch(texts: Sequence[np.ndarray], vocabulary: Vocabulary, longest: int) -> Batch:
    """ids int64 [n, t], mask bool [n, t] or None, duplicate_keys int64 [n], equal for equal texts"""
    lengths = np.array([max(1, len(text)) for text in texts])
    tokens = np.concatenate([text if len(text) else [vocabulary.mask] for text in texts]).astype(np.int64)
    ids, whole = pad(tokens, lengths, vocabulary, longest)
    return {"ids": ids, "mask": attention(whole, ids.shape[1]), "duplicate_keys": fingerprints(ids).view(np.int64)}


def contrast(
    first: Tensor, second: Tensor, duplicate_keys: tuple[Tensor, Tensor], temperature: float, margin: float = 0.0
) -> Tensor:
    """Cosine softmax in both directions, the margin taken off the pair's own score (Yang et al. 2019, equations 5, 6).

    first, second [n, d], row i of one belongs to row i of the other; duplicate_keys int64 [n] of each side: a text
    equal to the right answer is no negative.
    """
    diagonal = torch.arange(len(first), device=first.device)
    sides = functional.normalize(first.float(), dim=-1), functional.normalize(second.float(), dim=-1)
    scores = (sides[0] @ sides[1].T - margin * torch.eye(len(diagonal), device=first.device)) / temperature
    losses = []
    for table, candidates in ((scores, duplicate_keys[1]), (scores.T, duplicate_keys[0])):
        mask = duplicate_mask(candidates, diagonal)
        check_candidates(len(diagonal) - mask.sum(1))
        losses.append(functional.cross_entropy(table.masked_fill(mask, float("-inf")), diagonal))
    return (losses[0] + losses[1]) / 2

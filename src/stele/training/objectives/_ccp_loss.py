"""CCP's loss among the sentences of a group and a bank, and what shows whether it teaches anything."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def context_loss(
    vectors: Tensor, tags: Tensor, positives: Tensor, bank: tuple[Tensor, Tensor] | None, recipe: Any
) -> tuple[Tensor, dict[str, Tensor]]:
    """The mean of -log softmax over all positive terms of both directions (Algorithm 1, lines 14 to 16), and figures.

    vectors [2 n, d]: the n centres, then their partners, unit vectors where scores are cosines; tags int64 [n]: their
    languages, or [1] where they have one; positives bool [n, n]: whether partner j is in the window of centre i; bank:
    vectors [m, d] and tags int64 [m], negative where a place is empty. A term has one positive in its numerator and all
    candidates below it.

    The figures, each a mean over the group:

    chance           log of the candidates of a term: its loss by chance
    accuracy, guess  whether a positive is the best of the group's own candidates, and how often a guess would be
    cosine           of different sentences of one side
    """
    number, own = len(positives), tags if len(tags) == 1 else torch.cat([tags, tags])
    shared = recipe.bank_languages == "shared"
    with torch.no_grad():
        candidates = _other_side(vectors, number) if recipe.candidates == "other_side" else _others(vectors)
        if not shared:
            candidates &= own[:, None] == own
        choices, terms = candidates.sum(1), positives.new_zeros(2 * number, 2 * number)
        terms[:number, number:], terms[number:, :number] = positives, positives.T

    scores = in_group = _scores(vectors, vectors, candidates, recipe.temperature)
    if bank is not None:
        allowed = (bank[1] >= 0)[None] if shared else own[:, None] == bank[1]
        scores = torch.cat([in_group, _scores(vectors, bank[0], allowed, recipe.temperature)], dim=1)
        choices = choices + allowed.sum(1)
    likelihood = functional.log_softmax(scores, 1)[:, : 2 * number].masked_fill(~terms, 0.0).sum()
    with torch.no_grad():
        each = terms.sum(1)
        whole = each.sum()
        figures = {
            "chance": (each * choices.log()).sum() / whole,
            "accuracy": terms.gather(1, in_group.argmax(1, keepdim=True)).float().mean(),
            "guess": (each / candidates.sum(1)).mean(),
            "cosine": _mean_cosine(vectors, number),
        }
    return -likelihood / whole, figures


def _other_side(vectors: Tensor, number: int) -> Tensor:
    """bool [2 n, 2 n]: the centres for a partner, the partners for a centre."""
    side = torch.arange(2 * number, device=vectors.device) >= number
    return side[:, None] != side


def _others(vectors: Tensor) -> Tensor:
    """bool [m, m]: all but a sentence itself."""
    return ~torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)


def _scores(vectors: Tensor, others: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    """Inner products over the temperature, minus infinity where another is no candidate."""
    return torch.addmm(torch.where(allowed, 0.0, float("-inf")), vectors, others.T, alpha=1 / temperature)


def _mean_cosine(vectors: Tensor, number: int) -> Tensor:
    """Of two different centres, and of two different partners; vectors [2 n, d]."""
    total = functional.normalize(vectors, dim=1).view(2, number, -1).sum(1)
    return (total.square().sum(1).mean() - number) / (number * (number - 1))

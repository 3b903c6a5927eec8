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
    languages; positives bool [n, n]: whether partner j is in the window of centre i; bank: vectors [m, d] and tags
    int64 [m], negative where a place is empty. A term has one positive in its numerator and all candidates below it.

    The figures, each a mean over the group:

    chance           log of the candidates of a term: its loss by chance
    accuracy, guess  whether a positive is the best of the group's own candidates, and how often a guess would be
    cosine           of different sentences of one side
    """
    own = torch.cat([tags, tags])
    number, device = len(tags), vectors.device
    shared = recipe.bank_languages == "shared"
    side = torch.arange(len(own), device=device) >= number
    candidates = (
        side[:, None] != side if recipe.candidates == "other_side" else ~torch.eye(len(own), device=device).bool()
    )
    candidates = candidates if shared else candidates & (own[:, None] == own)
    targets = torch.zeros_like(candidates)
    targets[:number, number:], targets[number:, :number] = positives, positives.T

    scores = vectors @ vectors.T / recipe.temperature
    in_group = logits = scores.masked_fill(~candidates, float("-inf"))
    choices = candidates.sum(1)
    if bank is not None:
        allowed = (bank[1] >= 0).expand(len(own), -1) if shared else own[:, None] == bank[1]
        banked = (vectors @ bank[0].T / recipe.temperature).masked_fill(~allowed, float("-inf"))
        logits, choices = torch.cat([logits, banked], dim=1), choices + allowed.sum(1)
    terms = targets.sum(1)
    loss = (terms * logits.logsumexp(1)).sum() - (scores * targets).sum()
    with torch.no_grad():
        unit = functional.normalize(vectors.detach(), dim=1).view(2, number, -1)
        figures = {
            "chance": (terms * choices.log()).sum() / terms.sum(),
            "accuracy": targets.gather(1, in_group.argmax(1, keepdim=True)).float().mean(),
            "guess": (terms / candidates.sum(1)).mean(),
            "cosine": ((unit.sum(1).square().sum(1) - number) / (number * (number - 1))).mean(),
        }
    return loss / terms.sum(), figures

"""MSM's hierarchical contrastive loss (section 3.2, equations 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from stele.errors import SteleError


def hierarchical_loss(
    predictions: Tensor,
    vectors: Tensor,
    counts: Sequence[int],
    *,
    mu: float,
    temperature: float,
    intra_negatives: bool = True,
    duplicates: Tensor | None = None,
) -> Tensor:
    """Mean over sentences t of -log of the share of h_t among all h of the group, as p_t sees them.

    predictions p and vectors h, float [m, d], both after the projection heads, document by document; counts: sentences
    of each document, m in all. With s = cos(p_t, h_j) / temperature:

        loss_t = -log  exp(s_tt) / (exp(s_tt) + sum_intra exp(s_tj - mu * alpha_t) + sum_cross exp(s_tk))      (1)
        alpha_t = mean_intra(s_tj) - mean_cross(s_tk), without gradient                                       (2)

    alpha is computed after the division by the temperature, row by row, over the group only (released code,
    contrastive_utils.masked_loss). The paper writes 1 / (|I| - 1) for the mean over the |I| - 1 other sentences.

    intra_negatives False leaves the other sentences of the document out ("Cross-doc" of Table 5). `duplicates` bool
    [m, m] leaves out further pairs; the released code has no such thing. A document of one sentence has no intra-doc
    negatives: its alpha is 0. A group of one document has no cross-doc negatives, and alpha no meaning: an error.
    """
    if len(counts) < 2:
        raise SteleError("MSM: a group of one document has no cross-document negatives; use 2 documents or more")
    p = functional.normalize(predictions.float(), dim=-1)
    h = functional.normalize(vectors.float(), dim=-1)
    scores = p @ h.T / temperature
    documents = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts)).to(scores.device)
    same = documents[:, None] == documents[None, :]
    diagonal = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    intra, cross = same & ~diagonal, ~same
    left_out = torch.zeros_like(diagonal) if duplicates is None else duplicates & ~diagonal
    if not intra_negatives:
        left_out = left_out | intra
    elif mu:
        scores = scores - mu * dynamic_bias(scores.detach(), intra, cross)[:, None] * intra
    if duplicates is not None or not intra_negatives:
        scores = scores.masked_fill(left_out, float("-inf"))
    return functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def dynamic_bias(scores: Tensor, intra: Tensor, cross: Tensor) -> Tensor:
    """alpha of equation 2 for each row of scores [m, m]; 0 where a row has no intra-doc or no cross-doc negative."""
    some = intra.any(1) & cross.any(1)
    return torch.where(some, _mean(scores, intra) - _mean(scores, cross), 0.0)


def _mean(scores: Tensor, chosen: Tensor) -> Tensor:
    return (scores * chosen).sum(1) / chosen.sum(1).clamp(min=1)

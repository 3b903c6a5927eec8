"""Contrastive losses over the candidates of one group: the softmax that CROP, ICT and dual encoders share."""

import torch
from torch import Tensor
from torch.nn import functional

from stele.errors import SteleError


def in_batch_scores(
    queries: Tensor, passages: Tensor, positives: Tensor, mask: Tensor | None = None, temperature: float = 1.0
) -> Tensor:
    """Inner products over the temperature, float32 [b, m]; minus infinity where a passage is no candidate.

    Their cross-entropy at the positives is the in-batch loss (DPR, equation 4).

    queries [b, d], passages [m, d], positives int64 [b] (the column of each query's positive), mask bool [b, m], True
    where a passage is no candidate for a query (see `duplicate_mask`). For cosines, normalise the vectors first.
    Raises SteleError if the mask hides a positive, or leaves a query with a single candidate and so with loss 0.
    """
    scores = queries.float() @ passages.float().T / temperature
    if mask is not None:
        if bool(mask.gather(1, positives[:, None]).any()):
            raise SteleError("in-batch loss: the mask hides a positive; mask its duplicates, never the positive itself")
        scores = scores.masked_fill(mask, float("-inf"))
    check_candidates(len(passages) - (0 if mask is None else mask.sum(1)))
    return scores


def check_candidates(candidates: Tensor | int) -> None:
    """Raises SteleError if some query has fewer than two `candidates` (int64 [b], or one number for all)."""
    fewest = int(candidates if isinstance(candidates, int) else candidates.min())
    if fewest < 2:
        raise SteleError(
            "in-batch loss: a query has no candidate besides its own positive, so its loss is 0 and the model learns "
            "nothing from it; use larger groups, or give hard negatives"
        )


def duplicate_mask(duplicate_keys: Tensor, positives: Tensor) -> Tensor:
    """Marks the other candidates with the same text as a query's positive: bool [b, m].

    duplicate_keys int64 [m]: ids or hashes, equal for equal candidates; positives int64 [b]. Used as negatives, such
    duplicates would push the positive away from itself. The sum of the mask is their number: record it.

    >>> duplicate_mask(torch.tensor([7, 8, 7]), torch.tensor([0, 1])).tolist()
    [[False, False, True], [False, False, False]]
    """
    same = duplicate_keys[positives][:, None] == duplicate_keys[None, :]
    same[torch.arange(len(positives), device=duplicate_keys.device), positives] = False
    return same


@torch.no_grad()
def search_figures(scores: Tensor, positives: Tensor, texts: Tensor) -> dict[str, Tensor]:
    """Figures that tell whether queries find their positives, each float32 []; a run is judged by them.

    scores [n, m], minus infinity where there is no candidate; positives int64 [n]; texts [k, width]: text vectors.

    accuracy   share of queries whose positive scores above every other candidate; a tie counts as a failure
    guess      expected accuracy of a random guess among the candidates
    cosine     mean cosine of two different texts

    >>> scores = torch.tensor([[2.0, 1.0], [3.0, 3.0]])
    >>> found = search_figures(scores, torch.tensor([0, 1]), torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
    >>> {name: value.item() for name, value in found.items()}
    {'accuracy': 0.5, 'guess': 0.5, 'cosine': 0.0}
    """
    best = scores >= scores.gather(1, positives[:, None])
    number = len(texts)
    total = functional.normalize(texts.float(), dim=1).sum(0)
    return {
        "accuracy": (best.sum(1) == 1).float().mean(),
        "guess": (1 / scores.isfinite().sum(1)).mean(),
        "cosine": (total.square().sum() - number) / max(1, number * (number - 1)),
    }

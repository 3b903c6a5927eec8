"""Scores of a group: hand-worked values, and batches that would teach nothing."""

import math

import pytest
import torch

from stele.errors import SteleError
from stele.training.contrastive_loss import in_batch_scores


def test_scores_by_hand():
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    passages = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    mask = torch.tensor([[False, False, True], [False, False, False]])
    scores = in_batch_scores(queries, passages, torch.tensor([0, 2]), mask, temperature=0.5)
    assert scores.tolist() == [[2.0, 0.0, -math.inf], [0.0, 4.0, 4.0]]


@pytest.mark.parametrize(
    ("passages", "mask"),
    [(1, None), (2, torch.tensor([[False, True], [False, False]]))],
    ids=["one passage", "all but the positive masked"],
)
def test_a_contrastive_loss_over_one_candidate_is_refused(passages, mask):
    with pytest.raises(SteleError, match="no candidate besides its own positive"):
        in_batch_scores(torch.randn(2, 3), torch.randn(passages, 3), torch.zeros(2, dtype=torch.long), mask)


def test_masking_a_positive_is_refused():
    with pytest.raises(SteleError, match="hides a positive"):
        in_batch_scores(torch.randn(1, 3), torch.randn(3, 3), torch.tensor([1]), torch.tensor([[False, True, False]]))

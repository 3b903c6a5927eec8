"""In-batch softmax: hand-worked values, duplicates, and batches that would teach nothing."""

import math

import pytest
import torch

from stele.errors import SteleError
from stele.training.contrastive_loss import duplicate_mask, in_batch_loss


def test_value_by_hand():
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    passages = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    first = math.log(math.exp(1) + math.exp(0) + math.exp(1)) - 1  # scores 1, 0, 1; positive 0
    second = math.log(math.exp(0) + math.exp(2) + math.exp(2)) - 2  # scores 0, 2, 2; positive 2
    loss_found = in_batch_loss(queries, passages, torch.tensor([0, 2]))
    assert loss_found.item() == pytest.approx((first + second) / 2, abs=1e-6)
    halved = in_batch_loss(queries / 2, passages, torch.tensor([0, 2]), temperature=0.5)
    assert halved.item() == pytest.approx(loss_found.item(), abs=1e-6)


def test_duplicates_of_a_positive_are_left_out_and_counted():
    names = torch.tensor([4, 5, 4, 6])
    positives = torch.tensor([0, 1, 3])
    mask = duplicate_mask(names, positives)
    assert mask.int().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    queries, passages = torch.randn(3, 4), torch.randn(4, 4)
    kept = queries @ passages.T
    expected = sum(
        torch.logsumexp(kept[row, columns], 0) - kept[row, positive]
        for row, positive, columns in ((0, 0, [0, 1, 3]), (1, 1, [0, 1, 2, 3]), (2, 3, [0, 1, 2, 3]))
    )
    assert in_batch_loss(queries, passages, positives, mask).item() == pytest.approx(expected.item() / 3, abs=1e-5)


@pytest.mark.parametrize(
    ("passages", "mask"),
    [(1, None), (2, torch.tensor([[False, True], [False, False]]))],
    ids=["one passage", "all but the positive masked"],
)
def test_a_contrastive_loss_over_one_candidate_is_refused(passages, mask):
    with pytest.raises(SteleError, match="no candidate besides its own positive"):
        in_batch_loss(torch.randn(2, 3), torch.randn(passages, 3), torch.zeros(2, dtype=torch.long), mask)


def test_masking_a_positive_is_refused():
    with pytest.raises(SteleError, match="hides a positive"):
        in_batch_loss(torch.randn(1, 3), torch.randn(3, 3), torch.tensor([1]), torch.tensor([[False, True, False]]))

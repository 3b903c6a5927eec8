"""Batches from flat tokens, and the 80/10/10 of masked language modelling."""

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training.masking import Vocabulary, attention, fingerprints, mask_tokens, pad

WORDS = Vocabulary(size=1000, cls=0, sep=2, pad=1, mask=999, special=(0, 1, 2, 3, 999))


def test_padding_by_hand():
    ids, lengths = pad(np.array([11, 12, 13, 21, 31, 32]), np.array([3, 1, 2]), WORDS, 10)
    assert ids.tolist() == [[0, 11, 12, 13, 2], [0, 21, 2, 1, 1], [0, 31, 32, 2, 1]]
    assert lengths.tolist() == [5, 3, 4]
    assert attention(lengths, 5).astype(int).tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]
    assert attention(np.array([5, 5]), 5) is None


def test_long_sequences_are_cut_and_keep_their_end_token():
    ids, lengths = pad(np.array([11, 12, 13, 14, 21]), np.array([4, 1]), WORDS, 4)
    assert ids.tolist() == [[0, 11, 12, 2], [0, 21, 2, 1]]
    assert lengths.tolist() == [4, 3]


def test_empty_segments_are_refused():
    with pytest.raises(SteleError, match="empty segment"):
        pad(np.array([11]), np.array([1, 0]), WORDS, 10)


def test_masking_proportions_and_targets():
    rng = np.random.default_rng(0)
    ids, _ = pad(rng.integers(4, 999, 200_000), np.full(1000, 200), WORDS, 256)
    hidden, chosen, targets = mask_tokens(ids, WORDS, rng, 0.15)
    assert len(chosen) / 200_000 == pytest.approx(0.15, abs=0.005)
    assert (targets == ids.ravel()[chosen]).all()
    untouched = np.ones(ids.size, bool)
    untouched[chosen] = False
    assert (hidden.ravel()[untouched] == ids.ravel()[untouched]).all()
    seen = hidden.ravel()[chosen]
    assert (seen == WORDS.mask).mean() == pytest.approx(0.8, abs=0.01)
    assert (seen == targets).mean() == pytest.approx(0.1, abs=0.01)
    assert not np.isin(seen[seen != WORDS.mask], WORDS.special).any()
    assert not np.isin(targets, WORDS.special).any()


def test_something_is_always_predicted():
    ids, _ = pad(np.array([7]), np.array([1]), WORDS, 8)
    for seed in range(20):
        assert mask_tokens(ids, WORDS, np.random.default_rng(seed), 0.15)[1].tolist() == [1]


def test_equal_rows_and_only_they_share_a_fingerprint():
    rows = np.array([[0, 5, 6, 2], [0, 6, 5, 2], [0, 5, 6, 2], [0, 5, 2, 1]])
    actual = fingerprints(rows)
    assert actual[0] == actual[2] and len(set(actual.tolist())) == 3

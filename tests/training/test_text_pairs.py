"""Pairs of texts: crops by contriever's rule, and mined pairs as they are."""

import numpy as np
import pytest
from tiny_objectives import WORDS

from stele.errors import SteleError
from stele.training.sampling import generator
from stele.training.store import Flat
from stele.training.text_pairs import Texts, both_sides, crop, pair_batch

RATIO = (0.1, 0.5)


def stretches(lengths):
    """Token t of stretch i is 1000 i + t: a crop shows where it was taken from."""
    lengths = np.array(lengths)
    return Texts(np.concatenate([1000 * i + np.arange(n) for i, n in enumerate(lengths)]), lengths)


def rows(texts):
    return np.split(texts.tokens, np.cumsum(texts.lengths)[:-1])


def test_crops_are_runs_of_their_stretch_and_as_long_as_the_ratio_says():
    given = stretches([256] * 300 + [16] * 300)
    for i, (whole, row) in enumerate(zip(given.lengths, rows(crop(given, RATIO, generator(0))), strict=True)):
        assert int(0.1 * whole) <= len(row) <= whole / 2 and len(row) >= 1
        assert row.tolist() == list(range(row[0], row[0] + len(row)))
        assert 1000 * i <= row[0] and row[-1] < 1000 * i + whole, "inside its own stretch"


def test_lengths_and_places_are_uniform():
    given = stretches([200] * 4000)
    made = [row - 1000 * i for i, row in enumerate(rows(crop(given, RATIO, generator(1))))]
    lengths = np.array([len(row) for row in made])
    assert (lengths.min(), lengths.max()) == (20, 99), "rounded down, so half of the stretch is out of reach"
    assert lengths.mean() == pytest.approx(59.5, abs=1.2)
    places = np.array([row[0] / (200 - len(row)) for row in made])
    assert places.min() == 0 and places.max() == 1, "from the first token to the last"
    assert places.mean() == pytest.approx(0.5, abs=0.02)


def test_a_crop_of_a_short_stretch_has_a_token():
    assert set(crop(stretches([3] * 50), RATIO, generator(2)).lengths.tolist()) == {1}


def test_two_crops_of_a_stretch_are_independent_and_repeat_with_the_seed():
    flat = Flat(*stretches([64] * 50), np.ones(50, np.int64))
    first, second = both_sides(flat, RATIO, generator(3))
    assert (first.lengths != second.lengths).any() and len(first.lengths) == len(second.lengths) == 50
    again, others = both_sides(flat, RATIO, generator(3)), both_sides(flat, RATIO, generator(4))
    for side, same, other in zip((first, second), again, others, strict=True):
        assert side.tokens.tolist() == same.tokens.tolist() != other.tokens.tolist()


def test_mined_pairs_stay_as_they_are():
    flat = Flat(np.arange(10), np.array([3, 2, 1, 4]), np.array([2, 2]))
    queries, passages = both_sides(flat, RATIO, generator(0))
    assert [row.tolist() for row in rows(queries)] == [[0, 1, 2], [5]]
    assert [row.tolist() for row in rows(passages)] == [[3, 4], [6, 7, 8, 9]]


def test_a_batch_is_cut_and_padded_on_each_side_by_itself():
    flat = Flat(np.arange(10, 20), np.array([3, 2, 1, 4]), np.array([2, 2]))
    made = pair_batch(flat, WORDS, 5, RATIO, generator(0))
    assert made["query_ids"].tolist() == [[0, 10, 11, 12, 2], [0, 15, 2, 1, 1]]
    assert made["passage_ids"].tolist() == [[0, 13, 14, 2, 1], [0, 16, 17, 18, 2]]
    assert made["query_mask"].sum() == 8 and made["passage_mask"].sum() == 9


@pytest.mark.parametrize("counts", [[3, 1], [1, 2], [4]])
def test_examples_mined_by_another_method_are_refused(counts):
    segments = sum(counts)
    flat = Flat(np.arange(2 * segments), np.full(segments, 2), np.array(counts))
    with pytest.raises(SteleError, match="mined by another method"):
        both_sides(flat, RATIO, generator(0))

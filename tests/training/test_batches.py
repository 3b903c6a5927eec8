"""From stores to batches: padding, masking, crops and pairs of texts."""

import numpy as np
import pytest
from tiny_objectives import WORDS

from stele.errors import SteleError
from stele.training import store as stores
from stele.training.masking import Vocabulary, attention, fingerprints, mask_tokens, pad
from stele.training.sampling import generator
from stele.training.store import Flat, Store, write_store
from stele.training.text_pairs import Texts, both_sides, crop, pair_batch

LARGE = Vocabulary(size=1000, cls=0, sep=2, pad=1, mask=999, special=(0, 1, 2, 3, 999))


@pytest.mark.parametrize(
    ("longest", "expected", "kept"),
    [(10, [[0, 11, 12, 13, 2], [0, 21, 2, 1, 1]], [5, 3]), (4, [[0, 11, 12, 2], [0, 21, 2, 1]], [4, 3])],
)
def test_sequences_are_padded_and_cut_and_keep_their_end_token(longest, expected, kept):
    ids, lengths = pad(np.array([11, 12, 13, 21]), np.array([3, 1]), LARGE, longest)
    assert ids.tolist() == expected and lengths.tolist() == kept
    assert (attention(lengths, ids.shape[1]) == (ids != LARGE.pad)).all()
    assert attention(np.array([5, 5]), 5) is None


def test_empty_segments_are_refused():
    with pytest.raises(SteleError, match="empty segment"):
        pad(np.array([11]), np.array([1, 0]), LARGE, 10)


def test_masking_proportions_and_targets():
    rng = np.random.default_rng(0)
    ids, _ = pad(rng.integers(4, 999, 200_000), np.full(1000, 200), LARGE, 256)
    hidden, chosen, targets = mask_tokens(ids, LARGE, rng, 0.15)
    assert len(chosen) / 200_000 == pytest.approx(0.15, abs=0.005)
    assert (targets == ids.ravel()[chosen]).all()
    untouched = np.ones(ids.size, bool)
    untouched[chosen] = False
    assert (hidden.ravel()[untouched] == ids.ravel()[untouched]).all()
    seen = hidden.ravel()[chosen]
    assert (seen == LARGE.mask).mean() == pytest.approx(0.8, abs=0.01)
    assert (seen == targets).mean() == pytest.approx(0.1, abs=0.01)
    assert not np.isin(seen[seen != LARGE.mask], LARGE.special).any()
    assert not np.isin(targets, LARGE.special).any()


def test_something_is_always_predicted():
    ids, _ = pad(np.array([7]), np.array([1]), LARGE, 8)
    for seed in range(20):
        assert mask_tokens(ids, LARGE, np.random.default_rng(seed), 0.15)[1].tolist() == [1]


def test_equal_rows_and_only_they_share_a_fingerprint():
    rows = np.array([[0, 5, 6, 2], [0, 6, 5, 2], [0, 5, 6, 2], [0, 5, 2, 1]])
    actual = fingerprints(rows)
    assert actual[0] == actual[2] and len(set(actual.tolist())) == 3


RATIO = (0.1, 0.5)


def stretches(lengths):
    """Token t of stretch i is 1000 i + t: a crop shows where it was taken from."""
    lengths = np.array(lengths)
    return Texts(np.concatenate([1000 * i + np.arange(n) for i, n in enumerate(lengths)]), lengths)


def rows(texts):
    return np.split(texts.tokens, np.cumsum(texts.lengths)[:-1])


def test_crops_are_runs_of_their_stretch_and_as_long_as_the_ratio_says():
    given = stretches([256] * 300 + [16] * 300 + [3] * 50)
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


def test_two_crops_of_a_stretch_are_independent_and_repeat_with_the_seed():
    flat = Flat(*stretches([64] * 50), np.ones(50, np.int64))
    first, second = both_sides(flat, RATIO, generator(3))
    assert (first.lengths != second.lengths).any() and len(first.lengths) == len(second.lengths) == 50
    again, others = both_sides(flat, RATIO, generator(3)), both_sides(flat, RATIO, generator(4))
    for side, same, other in zip((first, second), again, others, strict=True):
        assert side.tokens.tolist() == same.tokens.tolist() != other.tokens.tolist()


def test_a_batch_is_cut_and_padded_on_each_side_by_itself():
    flat = Flat(np.arange(10, 20), np.array([3, 2, 1, 4]), np.array([2, 2]))
    made = pair_batch(both_sides(flat, RATIO, generator(0)), WORDS, (5, 5))
    assert made["query_ids"].tolist() == [[0, 10, 11, 12, 2], [0, 15, 2, 1, 1]]
    assert made["passage_ids"].tolist() == [[0, 13, 14, 2, 1], [0, 16, 17, 18, 2]]
    assert made["query_mask"].sum() == 8 and made["passage_mask"].sum() == 9


def test_stretches_among_pairs_are_refused():
    with pytest.raises(SteleError, match="mined by another method"):
        both_sides(Flat(np.arange(6), np.full(3, 2), np.array([1, 2])), RATIO, generator(0))


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    return [[rng.integers(0, 2**32, rng.integers(1, 6)) for _ in range(rng.integers(1, 5))] for _ in range(40)]


@pytest.mark.parametrize("buffer", [1, 17, 1 << 20], ids=["a flush an example", "some flushes", "one flush"])
def test_a_store_gives_back_the_examples_written(tmp_path, examples, monkeypatch, buffer):
    monkeypatch.setattr(stores, "BUFFER", buffer)
    counts = write_store(tmp_path, iter(examples))
    segments = [segment for example in examples for segment in example]
    assert counts == {"examples": 40, "segments": len(segments), "tokens": sum(map(len, segments))}
    store = Store(tmp_path)
    assert len(store) == 40
    for index, example in enumerate(examples):
        assert [segment.tolist() for segment in store[index]] == [segment.tolist() for segment in example]
    assert [s.tolist() for s in store[-1]] == [s.tolist() for s in examples[-1]]
    with pytest.raises(IndexError):
        store[40]


def test_take_is_the_examples_laid_flat(tmp_path, examples):
    write_store(tmp_path, examples)
    wanted = np.array([7, 0, 7, 39])
    flat = Store(tmp_path).take(wanted)
    chosen = [examples[i] for i in wanted]
    assert flat.counts.tolist() == [len(example) for example in chosen]
    assert flat.lengths.tolist() == [len(segment) for example in chosen for segment in example]
    assert flat.tokens.tolist() == [token for example in chosen for segment in example for token in segment]


def test_an_empty_store_is_a_store(tmp_path):
    assert write_store(tmp_path, []) == {"examples": 0, "segments": 0, "tokens": 0}
    assert len(Store(tmp_path)) == 0


def test_damage_is_named(tmp_path, examples):
    write_store(tmp_path, examples)
    tokens = tmp_path / "tokens.npy"
    whole = tokens.read_bytes()
    tokens.write_bytes(whole[:-40])
    with pytest.raises(SteleError, match=r"tokens\.npy.*mine the pairs again"):
        Store(tmp_path)
    np.save(tokens, np.zeros(3, np.uint32))
    with pytest.raises(SteleError, match=r"the example store is damaged \(found 3 tokens"):
        Store(tmp_path)
    np.save(tokens, np.zeros(3, np.float32))
    with pytest.raises(SteleError, match="found float32"):
        Store(tmp_path)
    tokens.unlink()
    with pytest.raises(SteleError, match="no such file"):
        Store(tmp_path)

"""From stores to batches: padding, masking, crops and pairs of texts; stores of section pairs."""

import numpy as np
import pytest
from tiny_objectives import WORDS

from stele.errors import SteleError
from stele.training import store as stores
from stele.training.masking import Vocabulary, attention, fingerprints, mask_tokens, pad
from stele.training.sampling import generator
from stele.training.section_store import SectionStore, TokenSection, write_section_store
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


# --- stores of section pairs: read back section by section or flat; damage is named -----------------------------------
# by hand: side 0 has pages 3 (sections 0, 1) and 8 (2), side 1 pages 3 (3, 4, 5) and 4 (6)
SIZES = [[2, 3], [1], [4, 1, 1], [2], [5, 2], [1, 1, 1], [3]]
PAGES = [(0, 3), (0, 3), (0, 8), (1, 3), (1, 3), (1, 3), (1, 4)]
PAIRS = np.array([[2, 6], [0, 4], [1, 3]])


def sections(sizes=SIZES):
    first = 0
    for (side, page), lengths in zip(PAGES, sizes, strict=True):
        texts = []
        for length in lengths:
            texts.append(np.arange(first, first + length, dtype=np.uint32))
            first += length
        yield TokenSection(side, page, texts)


@pytest.fixture
def folder(tmp_path):
    write_section_store(tmp_path, sections(), PAIRS)
    return tmp_path


def test_section_pairs_are_read_back_as_they_were_written(tmp_path):
    counts = write_section_store(tmp_path, sections(), PAIRS)
    assert counts == {"examples": 3, "sections": 7, "segments": 13, "tokens": 27, "empty": 0}
    store = SectionStore(tmp_path)
    assert len(store) == store.in_all == 3 and len(store.tokens) == 27
    for number, one in enumerate(sections()):
        assert [s.tolist() for s in store.sections[number]] == [s.tolist() for s in one.sentences]
    assert store.pairs.tolist() == PAIRS.tolist()
    assert (store.of_language(0), store.of_language(1)) == ((0, 3), (3, 7))
    begin, end = store.of_page(np.arange(7))
    assert begin.tolist() == [0, 0, 2, 3, 3, 3, 6] and end.tolist() == [2, 2, 3, 6, 6, 6, 7]
    assert store.sentence_counts(np.array([2, 3, 2])).tolist() == [3, 1, 3]
    assert SectionStore(tmp_path, 90).in_all == 90


def test_sentences_and_documents_are_flat_texts(folder):
    store, numbers = SectionStore(folder), np.array([4, 2, 4])
    asked = store.sentences(numbers, np.array([1, 0, 0]))
    texts = [store.sections[4][1], store.sections[2][0], store.sections[4][0]]
    assert asked.tokens.tolist() == np.concatenate(texts).tolist() and asked.lengths.tolist() == [2, 4, 5]
    assert asked.counts.tolist() == [1, 1, 1] and asked.tokens.dtype == np.int64
    for most in (3, 100):
        cut = [np.concatenate(store.sections[number])[:most] for number in numbers]
        documents = store.documents(numbers, most)
        assert documents.tokens.tolist() == np.concatenate(cut).tolist()
        assert documents.lengths.tolist() == list(map(len, cut))


@pytest.mark.parametrize("empty", [1, 5, 2])
def test_sections_without_a_sentence_are_left_out(tmp_path, empty):
    sizes = [[] if n == empty else lengths for n, lengths in enumerate(SIZES)]
    counts = write_section_store(tmp_path, sections(sizes), PAIRS)
    store = SectionStore(tmp_path)
    in_a_pair = int((empty == PAIRS).any(axis=1).sum())
    assert counts["empty"] == in_a_pair and len(store) == 3 - in_a_pair and len(store.sections) == 6
    texts = [one.sentences for n, one in enumerate(sections(sizes)) if n != empty]
    kept = [pair for pair in PAIRS.tolist() if empty not in pair]
    for (first, second), pair in zip(store.pairs.tolist(), kept, strict=True):
        for number, before in ((first, pair[0]), (second, pair[1])):
            assert number == before - (before > empty)
            assert [s.tolist() for s in store.sections[number]] == [s.tolist() for s in texts[number]]
    assert len(store.pages) == len({page for n, page in enumerate(PAGES) if n != empty}) + 1
    assert store.of_language(0)[1] == sum(side == 0 for n, (side, _) in enumerate(PAGES) if n != empty)


def test_no_pairs_are_a_store(tmp_path):
    assert write_section_store(tmp_path, [], np.zeros((0, 2), np.int64))["examples"] == 0
    assert len(SectionStore(tmp_path)) == 0


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pairs.npy", [[2, 6], [3, 4]]),  # of one side
        ("pairs.npy", [[2, 7]]),
        ("pairs.npy", [[-1, 6]]),
        ("pairs.npy", [2, 6]),
        ("pages.npy", [0, 2, 2, 7]),
        ("pages.npy", [0, 2, 6]),
        ("pages.npy", []),
        ("languages.npy", [0, 8, 7]),
        ("languages.npy", [0, 7]),
    ],
)
def test_a_damaged_store_of_section_pairs_is_named(folder, name, values):
    np.save(folder / name, np.array(values, np.int64))
    with pytest.raises(SteleError, match="the store of section pairs is damaged"):
        SectionStore(folder)


def test_unreadable_arrays_are_named(folder):
    np.save(folder / "pages.npy", np.array([0.0, 7.0]))
    with pytest.raises(SteleError, match=r"pages\.npy: found float64, want int64"):
        SectionStore(folder)
    (folder / "pages.npy").write_bytes(b"\x93NUM")
    with pytest.raises(SteleError, match=r"pages\.npy: not a readable array"):
        SectionStore(folder)
    (folder / "pages.npy").unlink()
    with pytest.raises(SteleError, match=r"pages\.npy: no such file"):
        SectionStore(folder)

"""Stores of section pairs: what is written is read back, section by section or flat; damage is named."""

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training.section_store import SectionStore, TokenSection, write_section_store

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


def test_round_trip(tmp_path):
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
def test_damage_is_named(folder, name, values):
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

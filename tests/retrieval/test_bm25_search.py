"""BM25's scores: Lucene's formula by hand, canonical ties, blocks that do not matter, the choice of k1 and b."""

import json

import numpy as np
import pytest
from bm25_by_hand import by_hand

from stele.errors import SteleError
from stele.retrieval.lexical import lucene_bm25
from tests.killing import ended


@pytest.fixture(params=["sums", "bm25s"], autouse=True)
def way(request, monkeypatch):
    """Both ways of searching, which small collections and large ones take."""
    monkeypatch.setattr(lucene_bm25, "FEW", {"sums": lucene_bm25.FEW, "bm25s": -1}[request.param])


@pytest.fixture
def index(tmp_path):
    """index(texts, vocabulary, rows) -> the index; terms are the words."""

    def call(texts: dict[str, str], vocabulary: list[str], rows: int = lucene_bm25.BLOCK):
        numbers = {term: number for number, term in enumerate(vocabulary)}
        folder = tmp_path / f"index-{rows}-{len(texts)}"
        terms = lambda text: [numbers.get(word, -1) for word in text.split()]  # noqa: E731
        made = lucene_bm25.write_index(folder, texts.items(), terms, len(vocabulary), rows)
        assert len(made.ids) == len(texts)
        return made

    return call


def test_lengths_as_lucene_keeps_them():
    """SmallFloat's intToByte4 and back, step by step: up to 40 exactly, then 8 values to each power of two above 24."""

    def kept(length: int) -> int:
        above, step = length - 24, 1
        while above >= 16 * step:
            step *= 2
        return length if above < 16 else 24 + above // step * step

    lengths = np.arange(5000, dtype=np.int32)
    rounded = lucene_bm25.lucene_lengths(lengths)
    assert rounded.tolist() == [kept(length) for length in range(5000)] and rounded.dtype == np.int32
    assert len(set(rounded[:280].tolist())) == 40 + 4 * 8  # in steps of 2, 4, 8 and 16 up to 24 + 256


def test_rounded_lengths_change_scores_and_not_the_mean(index):
    for words, same in ((42, True), (43, False)):  # 43 terms are kept as 42
        texts = {"long": " ".join(["nile"] * 2 + ["x"] * (words - 2)), "short": "nile x x"}
        made = index(texts, ["nile"], rows=words)
        assert made.collection.length == (words + 3) / 2
        hits = (lucene_bm25.search(made, [[0]], 5, (0.9, 0.4), rounded=flag)[0] for flag in (False, True))
        exact, rounded = map(dict, hits)
        assert exact["short"] == rounded["short"] and (exact["long"] == rounded["long"]) is same
        assert exact["long"] <= rounded["long"]


def random_texts(number: int, words: int = 40) -> dict[str, str]:
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{w}" for w in rng.integers(0, words, rng.integers(1, 12))) for _ in range(number)]
    # duplicates, so that scores tie; ids whose order is not the order of the passages
    return {f"{(i * 7919) % 9973}#0": text for i, text in enumerate(texts + texts[: number // 2])}


VOCABULARY = [f"w{number}" for number in range(6)]
NUMBERS = [[1, 2], [3], [4, 4, 5], [0, 1, 2, 3, 4]]


def test_the_k_best_are_those_of_a_full_ranking_and_ties_are_canonical(index):
    texts = random_texts(400)
    made = index(texts, VOCABULARY)
    for k1, b in ((0.9, 0.4), (0.1, 1.0), (1.6, 0.1)):
        for query, hits in zip(NUMBERS, lucene_bm25.search(made, NUMBERS, 10, (k1, b)), strict=True):
            expected = by_hand(texts, [VOCABULARY[number] for number in query], k1, b)[:10]
            assert [name for name, _ in hits] == [name for name, _ in expected]
            assert [score for _, score in hits] == pytest.approx([float(s) for _, s in expected], rel=1e-6)


def test_more_equal_scores_than_are_asked_for(index):
    """200 passages say the same; the ten of the highest ids are found, wherever they stand."""
    texts = {f"p{i:03d}": "same words" for i in np.random.default_rng(0).permutation(200)}
    for rows in (lucene_bm25.BLOCK, 37):
        made = index(texts, ["same"], rows)
        (hits,) = lucene_bm25.search(made, [[0]], 10, (0.9, 0.4))
        assert [name for name, _ in hits] == [f"p{i}" for i in range(199, 189, -1)]


@pytest.mark.parametrize(("number", "rows"), [(9, 1), (200, 64)])
def test_blocks_change_nothing(index, number, rows):
    texts = random_texts(number)
    made, cut = index(texts, VOCABULARY), index(texts, VOCABULARY, rows)
    assert len(list(cut.folder.glob("block-*"))) == -(-len(texts) // rows)
    whole = lucene_bm25.search(made, NUMBERS, 20, (0.9, 0.4))
    assert lucene_bm25.search(cut, NUMBERS, 20, (0.9, 0.4)) == whole
    assert [lucene_bm25.search(cut, [one], 20, (0.9, 0.4))[0] for one in NUMBERS] == whole


def test_both_ways_find_the_same(index, monkeypatch):
    """Bit by bit: a run does not depend on how large its collection is."""
    made = index(random_texts(400), VOCABULARY)
    one = lucene_bm25.search(made, NUMBERS, 300, (0.9, 0.4))
    monkeypatch.setattr(lucene_bm25, "FEW", -1 if lucene_bm25.FEW > 0 else 10**9)
    assert lucene_bm25.search(made, NUMBERS, 300, (0.9, 0.4)) == one


def test_threads_change_nothing(index, tmp_path):
    """In a process of its own: numba's threads would make this one's later forks unsafe."""
    made = index(random_texts(200), VOCABULARY)
    one = lucene_bm25.search(made, NUMBERS, 20, (0.9, 0.4), threads=1)

    def work():
        two = lucene_bm25.search(made, NUMBERS, 20, (0.9, 0.4), threads=2)
        (tmp_path / "two").write_text(json.dumps(two))

    assert ended(work) == 0
    assert one == [[tuple(hit) for hit in hits] for hits in json.loads((tmp_path / "two").read_text())]


def test_passages_without_a_term_are_none(index):
    """As Lucene counts them: neither in N nor in the mean length."""
    texts = {"d1": "nile river", "d2": "nile nile delta river basin", "d3": "congo river", "d4": "capital of uganda"}
    collection = index({**texts, "e1": "", "e2": ""}, ["nile", "river"]).collection
    assert (collection.passages, collection.length, collection.frequencies.tolist()) == (4, 3.0, [2, 3])


@pytest.mark.parametrize(
    ("items", "message"),
    [([], "it has no passage"), ([("a", "x"), ("b", "x"), ("a", "y")], "passage 'a' appears twice")],
)
def test_collections_that_cannot_be_indexed(tmp_path, items, message):
    with pytest.raises(SteleError, match=message):
        lucene_bm25.write_index(tmp_path / "collection", items, lambda text: [0], 1, rows=2)
    assert not (tmp_path / "collection/passages.json").exists()


# --- parameters ---
def test_the_best_parameters_and_of_equals_the_least():
    assert lucene_bm25.choose({(0.9, 0.4): 0.3, (0.5, 0.9): 0.4, (0.5, 0.2): 0.4, (1.6, 0.1): 0.40004}) == (0.5, 0.2)
    assert lucene_bm25.choose({(0.9, 0.4): 0.3, (1.6, 0.1): 0.3001}) == (1.6, 0.1)

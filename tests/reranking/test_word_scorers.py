"""Scorers over word vectors, by hand on a 2 x 3 matrix: sums, translations, histograms, kernels."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from stele.errors import SteleError
from stele.recipes.reranking import parse_recipe
from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import Sources, bwe_agg, drmm, knrm, tbt_qt_ql

QUERY = {"river": [1.0, 0.0, 0.0], "bridge": [0.0, 1.0, 0.0]}  # 2 x 3
DOCUMENT = {"fluss": [1.0, 0.0, 0.0], "steg": [0.0, 0.6, 0.8], "zug": [0.0, 0.0, -2.0]}
TEXTS = ["Fluss Fluss Steg", "Zug unbekannt", "unbekannt", "Steg Zug"]
LEARNS = {"batch": 2, "learning_rate": 1e-2}


def read_vectors(language: str, words) -> SimpleNamespace:
    own = {word: row for word, row in (QUERY if language == "en" else DOCUMENT).items() if word in words}
    vectors = np.array(list(own.values()), np.float32).reshape(len(own), 3)
    return SimpleNamespace(words={word: n for n, word in enumerate(own)}, vectors=vectors)


SOURCES = Sources("en", "de", None, read_vectors, lambda: iter(TEXTS))


def candidates(queries) -> Candidates:
    number, topics = len(TEXTS), len(queries)
    names = [f"d{n}" for n in range(number)]
    relevant = np.tile([True, False, False, False], topics)
    judged = [{"d0": 1, "d1": 0, "d2": 0, "d3": 0}] * topics
    topic_of, document_of = np.repeat(np.arange(topics), number), np.tile(np.arange(number), topics)
    return Candidates(
        [str(n) for n in range(topics)], list(queries), judged, names, TEXTS, topic_of, document_of, relevant, {}
    )


def scorer(module, queries=("the river bridge", "unknown"), **recipe):
    name = module.__name__.rpartition(".")[2]
    trained = {} if name in ("bwe_agg", "tbt_qt_ql") else LEARNS
    return module.Scorer(candidates(queries), parse_recipe({"scorer": name, **trained, **recipe}), SOURCES)


def test_bwe_agg_is_the_cosine_of_sums():
    query = np.array([1.0, 1.0, 0.0])
    sums = [np.array([2.0, 0.6, 0.8]), np.array([0.0, 0.0, -2.0]), None, np.array([0.0, 0.6, -1.2])]
    cosines = [0 if s is None else query @ s / np.linalg.norm(query) / np.linalg.norm(s) for s in sums]
    assert scorer(bwe_agg, weights="uniform").scores() == pytest.approx([*cosines, 0, 0, 0, 0], abs=1e-7)


@pytest.mark.parametrize(("module", "recipe"), [(bwe_agg, {"weights": "idf"}), (tbt_qt_ql, {"mu": 2.0}), (drmm, {})])
def test_vectors_of_two_lengths_are_refused(module, recipe, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCES", SOURCES._replace(read_vectors=narrow))
    with pytest.raises(SteleError, match="of 3 numbers in en and 2 in de; want both languages in one"):
        scorer(module, **recipe).scores()


def narrow(language: str, words) -> SimpleNamespace:
    read = read_vectors(language, words)
    return SimpleNamespace(words=read.words, vectors=read.vectors[:, : 3 if language == "en" else 2])


def test_bwe_agg_idf_weighs_the_document_s_words_by_the_collection():
    scores = scorer(bwe_agg, weights="idf").scores()
    fluss, steg = 2 * np.log(4 / 1), np.log(4 / 2)  # in one and in two of the four documents
    document = np.array([fluss, 0.6 * steg, 0.8 * steg])
    assert scores[0] == pytest.approx((fluss + 0.6 * steg) / np.sqrt(2) / np.linalg.norm(document), abs=1e-6)


def test_a_query_word_becomes_the_nearest_of_the_collection():
    asked = {"river", "bridge", "unknown"}
    vocabulary = read_vectors("de", {"fluss", "steg", "zug"})
    translation = tbt_qt_ql.translate(sorted(asked), read_vectors("en", asked), vocabulary)
    assert translation == {"bridge": "steg", "river": "fluss"}
    scores = scorer(tbt_qt_ql, mu=2.0).scores()
    # the collection: fluss 2, steg 2, zug 2, unbekannt 2 of 8 words; document 0 has fluss twice, steg once
    assert scores[0] == pytest.approx(np.log((2 + 0.5) / 5) + np.log((1 + 0.5) / 5))
    assert scores[2] == pytest.approx(2 * np.log(0.5 / 3))
    assert scores[4:].tolist() == [0.0] * 4, "no word of the query has a vector or is in the collection"


def test_a_query_word_without_a_vector_stays_where_the_collection_has_it():
    scores = scorer(tbt_qt_ql, ("unbekannt", "nowhere"), mu=2.0).scores()
    assert scores[1] == pytest.approx(np.log((1 + 0.5) / 4)) and scores[4] == 0


def test_the_blocks_of_a_vocabulary_change_no_translation(monkeypatch):
    """Nor do they decide among the eight words that are as near: the first by code points is taken."""
    rng = np.random.default_rng(0)
    own = SimpleNamespace(words={f"q{n}": n for n in range(9)}, vectors=rng.normal(size=(9, 5)).astype(np.float32))
    others = SimpleNamespace(
        words={f"d{n}": n for n in range(40)}, vectors=np.eye(5, dtype=np.float32)[np.arange(40) % 5]
    )
    whole = tbt_qt_ql.translate(list(own.words), own, others)
    monkeypatch.setattr(tbt_qt_ql, "BLOCK", 7)
    assert tbt_qt_ql.translate(list(own.words), own, others) == whole


# --- DRMM and K-NRM ---
def test_drmm_counts_cosines_in_bins():
    data = scorer(drmm, bins=5).inputs
    # cosines of document 0: river with fluss, fluss, steg: 1, 1, 0; bridge: 0, 0, .6; bins of width .5 from -1
    counts = np.array([[0, 0, 1, 0, 2], [0, 0, 2, 1, 0]])
    assert np.allclose(data.features[0], np.log1p(counts)) and data.features[0].dtype == np.float32
    assert np.allclose(data.features[1], np.log1p([[0, 0, 1, 0, 0]] * 2)), "zug is at right angles to both"
    assert data.features[4].shape == (0, 5)


def test_drmm_weighs_words_by_a_softmax_over_their_vectors():
    made = scorer(drmm, bins=5, hidden=2)
    data, module = made.inputs, made.new_module(3)
    with torch.no_grad():
        module.gate.weight[:] = torch.tensor([[1.0, 3.0, 0.0]])
        words = module.matching(torch.from_numpy(data.features[0]))[:, 0].numpy()
        scores = module(np.arange(8))[:, 0].numpy()
    weights = np.exp([1.0, 3.0]) / np.exp([1.0, 3.0]).sum()  # the vectors of river and bridge
    assert scores[0] == pytest.approx(weights @ words, abs=1e-6)
    assert scores[4:].tolist() == [0.0] * 4, "a query without words"


def test_knrm_s_kernels():
    made = scorer(knrm, kernels=2, sigma=0.1)
    phi, cosines = made.inputs, [[1.0, 1.0, 0.0], [0.0, 0.0, 0.6]]
    for kernel, (mean, sigma) in enumerate([(-0.5, 0.1), (0.5, 0.1), (1.0, 0.001)]):
        soft = [sum(np.exp(-((c - mean) ** 2) / (2 * sigma**2)) for c in row) for row in cosines]
        assert phi[0, kernel] == pytest.approx(0.01 * sum(np.log(max(k, 1e-10)) for k in soft), abs=1e-6)
    assert phi[4].tolist() == [0.0] * 3
    module = made.new_module(0)
    assert module(np.array([0])).shape == (1, 1) and abs(module(np.array([0])).item()) < 1


def test_documents_are_read_whole_or_to_their_first_terms():
    features = [scorer(drmm, **more).inputs.features[0] for more in ({}, {"document_terms": 1})]
    assert np.expm1(features[0]).sum() == pytest.approx(6) and np.expm1(features[1]).sum() == pytest.approx(2)

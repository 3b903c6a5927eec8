"""Folders of sentence-transformers whose vectors are not of length 1 rank as there: by cosine, or as they say."""

import json

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import record
from test_retrieve import arguments

import stele
from stele.errors import SteleError
from stele.retrieval import retrieve

data = retrieval.data
small_windows = retrieval.small_windows


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory, encoder):
    """Similarity -> (record of a folder that does not normalise, its model there)."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    def made(similarity):
        place = tmp_path_factory.mktemp("similarity") / "st"
        modules = [Transformer(str(encoder.parent), max_seq_length=24), Pooling(32, "mean")]
        SentenceTransformer(modules=modules, device="cpu", similarity_fn_name=similarity).save(str(place))
        return record(place, content=str(similarity), labels=[]), SentenceTransformer(str(place), device="cpu")

    return made


@pytest.mark.parametrize("similarity", [None, "cosine", "dot"])
def test_a_search_ranks_as_its_folder_says(tmp_path, folder_of, data, similarity):
    given, theirs = folder_of(similarity)
    retrieve.run(arguments(tmp_path, given, data))
    written = json.loads((tmp_path / "out/retrieval.json").read_text())
    assert written["similarity"] == ("inner product" if similarity == "dot" else "cosine")
    encoder = stele.load_encoder(given)
    assert encoder.cosine is (similarity != "dot")
    rng = np.random.default_rng(0)
    texts = {f"p{n}": " ".join(rng.choice(retrieval.WORDS, rng.integers(1, 12))) for n in range(40)}
    run = stele.search({"q": "novel city"}, texts, k=40, encoder=encoder)
    vectors = [theirs.encode(one, show_progress_bar=False) for one in (["novel city"], list(texts.values()))]
    scores = dict(zip(texts, theirs.similarity(*vectors)[0].tolist(), strict=True))
    assert [score for _, score in run.hits("q")] == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-5)
    assert all(score == pytest.approx(scores[name], abs=1e-5) for name, score in run.hits("q"))


def test_another_similarity_is_refused(folder_of):
    given, _ = folder_of("manhattan")
    with pytest.raises(SteleError, match="similarity 'manhattan' is not supported; supported are cosine and dot"):
        stele.load_encoder(given)

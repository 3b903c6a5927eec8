"""Where vectors of words come from: one file a language, which is said where it is not there."""

import pytest

from stele.errors import SteleError
from stele.reranking.inputs.word_vectors import reader, vector_file


def test_a_folder_holds_one_file_of_vectors(tmp_path):
    path = tmp_path / "wiki.de.align.vec"
    path.write_text("1 2\nhaus 0 1\n")
    (tmp_path / "record.json").write_text("{}")
    assert vector_file(tmp_path) == vector_file(path) == path
    (tmp_path / "wiki.en.align.vec").write_text("1 2\nhouse 0 1\n")
    with pytest.raises(SteleError, match=r"want one file of word vectors.*wiki\.de\.align\.vec, wiki\.en\.align\.vec"):
        vector_file(tmp_path)


def test_a_language_without_vectors_is_named(tmp_path):
    with pytest.raises(SteleError, match=r"needs the vectors of words in de; given: en\. Add --vectors DATASET:de="):
        reader({"en": tmp_path})("de", {"haus"})


def test_vectors_of_a_language_are_given_once(rerank, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "record.json").write_text('{"job": "dataset"}')
    given = [f"{name}:de={tmp_path / name / 'record.json'}" for name in ("one", "two")]
    with pytest.raises(SteleError, match="vectors of de are given twice"):
        rerank("a", {"scorer": "bwe_agg", "weights": "uniform"}, "--vectors", *given)

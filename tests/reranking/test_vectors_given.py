"""Where vectors of words come from: one file a language, which is said where it is not there."""

import pytest
from made_clef import NEWS, TOPICS, vectors

from stele.encoders.word_vectors import vector_file
from stele.errors import SteleError
from stele.reranking import rerank as command
from stele.reranking.scorers._words import read_vectors
from tests.sealed import write_sealed


def test_a_folder_holds_one_file_of_vectors(tmp_path):
    path = tmp_path / "wiki.de.align.vec"
    write_sealed(tmp_path / "record.json", {})
    with pytest.raises(SteleError, match=r"want one file of word vectors .*found none"):
        vector_file(tmp_path)
    path.write_text("1 2\nhaus 0 1\n")
    assert vector_file(tmp_path) == vector_file(path) == path
    (tmp_path / "wiki.en.align.vec").write_text("1 2\nhouse 0 1\n")
    with pytest.raises(SteleError, match=r"want one file of word vectors.*wiki\.de\.align\.vec, wiki\.en\.align\.vec"):
        vector_file(tmp_path)


def test_a_language_without_vectors_is_named(tmp_path):
    with pytest.raises(SteleError, match=r"word vectors: found en, want de; add --vectors DATASET:de="):
        read_vectors({"en": tmp_path}, "de", {"haus"})


def test_vectors_of_a_language_are_given_once(rerank, tmp_path):
    paths = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths.append(write_sealed(tmp_path / name / "record.json", {"job": "dataset"}))
    for part in ("de", "de-en"):
        given = [f"one:de={paths[0]}", f"two:{part}={paths[1]}"]
        with pytest.raises(SteleError, match="vectors of de are given twice"):
            rerank("a", {"scorer": "bwe_agg", "weights": "uniform"}, "--vectors", *given)


def test_bilingual_vectors_are_those_of_both_languages(rerank, tmp_path, monkeypatch):
    """The runs are those of the same vectors in two files."""
    monkeypatch.setattr(command, "read_vectors", read_vectors)
    topics, runs = range(1, TOPICS + 1), []
    words = {"en": [f"topic{n}" for n in topics], "de": [*(f"thema{n}" for n in topics), *map(str.lower, NEWS)]}
    for name, parts in (("one", {"de-en": words["en"] + words["de"]}), ("two", words)):
        given = []
        for part, of_part in parts.items():
            folder, drawn = tmp_path / name / part, vectors(of_part)
            folder.mkdir(parents=True)
            lines = [" ".join([word, *map(str, row)]) for word, row in zip(of_part, drawn.vectors, strict=True)]
            (folder / "words.vec").write_text("\n".join([f"{len(lines)} {drawn.vectors.shape[1]}", *lines, ""]))
            given.append(f"vectors:{part}={write_sealed(folder / 'record.json', {'job': 'dataset'})}")
        out = rerank(f"run {name}", {"scorer": "bwe_agg", "weights": "uniform"}, "--vectors", *given)
        runs.append((out / "runs/en-de.trec.gz").read_bytes())
    assert runs[0] == runs[1]

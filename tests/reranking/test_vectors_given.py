"""Where vectors of words come from: one file a language, which is said where it is not there."""

import pytest
from made_clef import NEWS, TOPICS, vectors

from stele.encoders.word_vectors import vector_file
from stele.errors import SteleError
from stele.reranking import rerank as command
from stele.reranking.scorers._words import word_vector_reader
from tests.sealed import write_sealed


def test_a_folder_holds_one_file_of_vectors(tmp_path):
    path = tmp_path / "wiki.de.align.vec"
    path.write_text("1 2\nhaus 0 1\n")
    write_sealed(tmp_path / "record.json", {})
    assert vector_file(tmp_path) == vector_file(path) == path
    (tmp_path / "wiki.en.align.vec").write_text("1 2\nhouse 0 1\n")
    with pytest.raises(SteleError, match=r"want one file of word vectors.*wiki\.de\.align\.vec, wiki\.en\.align\.vec"):
        vector_file(tmp_path)


def test_a_language_without_vectors_is_named(tmp_path):
    with pytest.raises(SteleError, match=r"found those of en, want de; add --vectors DATASET:de="):
        word_vector_reader({"en": tmp_path})("de", {"haus"})


def test_vectors_of_a_language_are_given_once(rerank, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_sealed(tmp_path / name / "record.json", {"job": "dataset"})
    for parts in (("de", "de"), ("de", "de-en")):
        given = [
            f"{name}:{part}={tmp_path / name / 'record.json'}" for name, part in zip(("one", "two"), parts, strict=True)
        ]
        with pytest.raises(SteleError, match="vectors of de are given twice"):
            rerank("a", {"scorer": "bwe_agg", "weights": "uniform"}, "--vectors", *given)


def test_bilingual_vectors_are_those_of_both_languages(rerank, tmp_path, monkeypatch):
    """The runs are those of the same vectors in two files."""
    monkeypatch.setattr(command, "word_vector_reader", word_vector_reader)
    topics = range(1, TOPICS + 1)
    words = {
        "en": vectors([f"topic{n}" for n in topics]),
        "de": vectors([*(f"thema{n}" for n in topics), *(word.lower() for word in NEWS)]),
    }
    lines = {
        code: [" ".join([word, *map(str, own.vectors[row])]) for word, row in own.words.items()]
        for code, own in words.items()
    }
    runs = []
    for name, parts in (("one", {"de-en": lines["en"] + lines["de"]}), ("two", lines)):
        given = []
        for part, own in parts.items():
            folder = tmp_path / name / part
            folder.mkdir(parents=True)
            write_sealed(folder / "record.json", {"job": "dataset"})
            text = "".join(f"{line}\n" for line in (f"{len(own)} {words['en'].vectors.shape[1]}", *own))
            (folder / "words.vec").write_text(text)
            given.append(f"vectors:{part}={folder / 'record.json'}")
        out = rerank(f"run {name}", {"scorer": "bwe_agg", "weights": "uniform"}, "--vectors", *given)
        runs.append((out / "runs/en-de.trec.gz").read_bytes())
    assert runs[0] == runs[1]

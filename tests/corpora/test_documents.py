"""Documents on disk: what is written is read, in bounded shards; damage and broken positions are refused."""

import dataclasses

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stele.artifacts.documents import (
    Document,
    DocumentWriter,
    Link,
    Section,
    document_shards,
    read_chosen,
    read_documents,
    read_headings,
    read_sentences,
)
from stele.errors import SteleError


def made(number, sentences=("One two.", "Three.", "四五。")):
    return Document(
        "en", f"d{number}", list(sentences), [0, 2], f"Title {number}", (Section("A", 0), Section("B", 2)),
        (Link(0, 4, 7, "Two"), Link(2, 0, 1, "Four")),
    )  # fmt: skip


def written(documents, folder):
    with DocumentWriter(folder) as writer:
        for document in documents:
            writer.add(document)
    return writer.counts


def test_documents_come_back_equal_and_in_order(tmp_path):
    documents = [made(i) for i in range(2500)]
    counts = written(documents, tmp_path)
    assert list(read_documents(tmp_path)) == documents
    assert list(read_sentences(tmp_path / "record.json")) == [(d.doc_id, d.sentences) for d in documents]
    assert counts == {
        "documents": 2500, "paragraphs": 5000, "sentences": 7500, "characters": 2500 * 17, "links": 5000, "shards": 1,
    }  # fmt: skip


def test_shards_are_bounded(tmp_path):
    long = made(0, ["x" * 900_000, "y", "z" * 900_000])
    long = dataclasses.replace(long, links=(), sections=())
    with DocumentWriter(tmp_path, shard_characters=3_000_000) as writer:
        for i in range(7):
            writer.add(dataclasses.replace(long, doc_id=str(i)))
    sizes = [pq.ParquetFile(path).metadata.num_rows for path in document_shards(tmp_path)]
    assert sum(sizes) == 7 and max(sizes) <= 3 and writer.counts["shards"] == len(sizes)
    assert [d.doc_id for d in read_documents(tmp_path)] == list("0123456")


def test_no_documents_are_a_readable_shard(tmp_path):
    assert written([], tmp_path)["shards"] == 1
    assert list(read_documents(tmp_path)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"sentences": []},
        {"sentences": ["One two.", "", "Three"]},
        {"paragraphs": [1, 2]},
        {"paragraphs": [0, 0]},
        {"paragraphs": [0, 3]},
        {"sections": (Section("A", 2), Section("B", 1))},
        {"sections": (Section("A", 3),)},
        {"links": (Link(0, 4, 99, "x"),)},
        {"links": (Link(3, 0, 1, "x"),)},
        {"links": (Link(0, 4, 4, "x"),)},
        {"doc_id": ""},
        {"language": ""},
    ],
)
def test_broken_positions_are_refused(tmp_path, change):
    with pytest.raises(SteleError, match="document"), DocumentWriter(tmp_path) as writer:
        writer.add(dataclasses.replace(made(1), **change))


def test_chosen_documents_come_in_order_of_all_sources(tmp_path, monkeypatch):
    """Counted through all sources; others are left out, and one that is not there is an error."""
    monkeypatch.setattr("stele.artifacts.documents.GROUP_DOCUMENTS", 3)
    documents = [dataclasses.replace(made(n), sections=(Section(f"A{n}", 0), Section("B", n % 3))) for n in range(10)]
    sources = [tmp_path / name for name in ("one", "two")]
    for folder, part in zip(sources, (documents[:4], documents[4:]), strict=True):
        folder.mkdir()
        written(part, folder)
    numbers = [1, 3, 4, 9]
    assert list(read_chosen(sources, numbers)) == [(documents[n].sentences, [0, n % 3]) for n in numbers]
    assert list(read_headings(sources, numbers)) == [([f"A{n}", "B"], [0, n % 3]) for n in numbers]
    assert list(read_headings(sources, [])) == []
    for read in (read_chosen, read_headings):
        with pytest.raises(SteleError, match="found 10 documents; 1 are missing, from number 10 on"):
            list(read(sources, [2, 10]))


def test_damaged_shards_are_named(tmp_path):
    written([made(1)], tmp_path)
    shard = tmp_path / "shard-00000.parquet"
    shard.write_bytes(shard.read_bytes()[:-30])
    with pytest.raises(SteleError, match=r"shard-00000\.parquet: not a readable Parquet file"):
        list(read_documents(tmp_path))
    pq.write_table(pa.table({"doc_id": ["a"], "sentences": ["no list"]}), shard)
    with pytest.raises(SteleError, match="column 'language' is missing or of the wrong type"):
        list(read_sentences(tmp_path))
    shard.unlink()
    with pytest.raises(SteleError, match="no documents here"):
        list(read_documents(tmp_path))

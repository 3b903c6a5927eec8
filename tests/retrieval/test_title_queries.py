"""A Wikipedia as a transfer set: titles, their articles, the negatives of BM25; the counts; going on after kill -9."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import recorded
from recorded import files, goes_on

from stele.artifacts.documents import Document, DocumentWriter
from stele.benchmarks import transfer_set as reader
from stele.benchmarks.transfer_set import TransferSet
from stele.command.arguments import Job
from stele.errors import SteleError
from stele.retrieval import title_queries
from stele.retrieval.lexical import lucene_bm25
from tests.jobs import job

RECIPE = {"queries": 100, "depth": 4, "negatives": 2, "k1": 0.9, "b": 0.4, "characters": 40}
# title -> text. "nile": its own article comes first of four; "egypt" is not in its own article; "tower" finds one alone
PAGES = {
    "Nile": ["The Nile is a river.", "The nile, the nile again."],
    "Egypt": ["A country.", "It has a river."],
    "Tower": ["A tower of iron."],
    "Uganda": ["Uganda lies at the Nile.", "It is green."],
    "Source": ["The source of the Nile is in the south of it, as one says who went there in a boat."],
    "Cairo": ["Cairo lies at the Nile in Egypt."],
}


def corpus(folder: Path, pages: dict[str, list[str]], first: int = 0) -> Path:
    folder.mkdir(parents=True)
    with DocumentWriter(folder) as writer:
        for number, (title, sentences) in enumerate(pages.items(), start=first):
            writer.add(Document("en", f"en:{number}", sentences, [0], title))
    return recorded.record(folder, content=folder.name)


@pytest.fixture
def documents(tmp_path) -> list[Path]:
    """Two shards."""
    items = list(PAGES.items())
    return [corpus(tmp_path / "1", dict(items[:4])), corpus(tmp_path / "2", dict(items[4:]), first=4)]


def arguments(tmp_path: Path, documents: list[Path], name: str = "out", seed: int = 0, **changes) -> Job:
    line = ["--language", "en", "--documents", *map(str, documents), "--recipe", json.dumps({**RECIPE, **changes})]
    line += ["--seed", str(seed), "--state", str(tmp_path / "state" / name)]
    return job(title_queries, [*line, "--output", str(tmp_path / name / "record.json")])


def examples(tmp_path: Path, name: str = "out") -> dict:
    return {example.query: example for example in TransferSet().training({"wiki": {"en": tmp_path / name}}, "train")}


def record(tmp_path: Path, name: str = "out") -> dict:
    return json.loads((tmp_path / name / "record.json").read_text())


def test_titles_their_articles_and_what_else_is_found(tmp_path, documents):
    title_queries.run(arguments(tmp_path, documents))
    found = examples(tmp_path)
    assert "Egypt" not in found, "its own article does not say so: Cairo's does"
    assert found["Nile"].positives[0].id == "en:0" and found["Nile"].positives[0].title == ""
    assert {passage.id for passage in found["Nile"].negatives} < {"en:3", "en:4", "en:5"}
    assert len(found["Nile"].negatives) == 2
    assert found["Tower"].negatives == [], "nothing else has that term"
    assert found["Source"].positives[0].text == PAGES["Source"][0][:40], "as much as is kept"
    assert {example.language for example in found.values()} == {"en"}
    facts = record(tmp_path)
    assert (facts["articles"], facts["titles"], facts["article_not_retrieved"]) == (6, 6, 1)
    assert facts["counts"] == {"train": 5} and facts["without_negatives"] == 4, "but Nile"
    # each article is kept once, and none that nobody needs
    ids = pq.read_table(tmp_path / "out" / reader.PASSAGES)["id"].to_pylist()
    used = {passage.id for e in found.values() for passage in [*e.positives, *e.negatives]}
    assert len(ids) == len(set(ids)) and set(ids) == used and "en:1" not in used


def test_a_title_whose_article_is_not_among_the_hits_is_dropped(tmp_path):
    """Nine articles say "word" more often than the one of that title."""
    pages = {f"Page {number}": [f"word {'word ' * number}"] for number in range(9)}
    articles = [corpus(tmp_path / "3", {**pages, "Word": ["a word and many more terms"], "Tower": ["a tower"]})]
    for depth in (10, 2):
        title_queries.run(arguments(tmp_path, articles, str(depth), depth=depth))
        assert ("Word" in examples(tmp_path, str(depth))) == (depth == 10)


def test_negatives_are_drawn_of_all_hits_by_the_seed(tmp_path):
    pages = {"Word": ["word word word"]} | {f"P{number}": [f"word x{number}"] for number in range(30)}
    one, drawn = corpus(tmp_path / "3", pages), set()
    for seed in range(4):
        title_queries.run(arguments(tmp_path, [one], f"seed {seed}", seed, depth=1000))
        names = [passage.id for passage in examples(tmp_path, f"seed {seed}")["Word"].negatives]
        assert len(set(names)) == 2 and "en:0" not in names
        assert names == sorted(names, reverse=True), "best first, and of equal ones the highest id"
        drawn |= set(names)
    assert len(drawn) > 4


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [(lucene_bm25.np, "savez", 1), (title_queries, "save_part", 2), (title_queries, "write_set", 1)],
)
def test_it_goes_on_after_kill_9(tmp_path, documents, monkeypatch, module, name, call):
    monkeypatch.setattr(title_queries, "PART", 2)
    goes_on(title_queries, lambda folder: arguments(tmp_path, documents, folder), module, name, call)


def test_parts_and_threads_change_nothing(tmp_path, documents, monkeypatch):
    title_queries.run(arguments(tmp_path, documents, "whole"))
    monkeypatch.setattr(title_queries, "PART", 1)
    title_queries.run(arguments(tmp_path, documents, threads=2))
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    title_queries.run(arguments(tmp_path, documents, "some", queries=3))
    assert record(tmp_path, "some")["titles"] == 3 and len(examples(tmp_path, "some")) <= 3


def test_what_has_no_titles_or_finds_nothing_is_refused(tmp_path):
    untitled = corpus(tmp_path / "1", {"": ["A text of the web."]})
    with pytest.raises(SteleError, match="no document has a title"):
        title_queries.run(arguments(tmp_path, [untitled]))
    other = corpus(tmp_path / "2", {"Nile": ["A river."]})
    with pytest.raises(SteleError, match="BM25 found no article by its title; 1 titles"):
        title_queries.run(arguments(tmp_path, [other]))
    assert not (tmp_path / "out").exists()

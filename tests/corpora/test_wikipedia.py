"""Wikipedia dumps to Documents through the command."""

import json

import pyarrow.parquet as pq
import pytest

from stele.artifacts.documents import Link, Section, read_documents
from stele.corpora import wikipedia
from stele.corpora.wikitext.paragraphs import PageLink, extract
from stele.files.digests import files_digest

ARTICLE = """{{Infobox|x=[[y]]}}
'''St. Rome''' is a city in [[St. Italy|St. Italy]]. It has [[hill]]s.<ref>z</ref>

* A list [[item]].
== History ==
=== Old ===
It was [[found]]ed. By [[Romulus]].
[[Category:Cities]]"""


def test_an_article_becomes_a_document(wiki, run):
    wiki.add("Rome", ARTICLE)
    done = run("wikipedia", wiki.write(), language="la")
    (document,) = read_documents(done.folder)
    assert document.sentences == [
        "St. Rome is a city in St. Italy.", "It has hills.", "A list item.", "It was founded.", "By Romulus.",
    ]  # fmt: skip
    assert (document.language, document.doc_id, document.title) == ("la", "1", "Rome")
    assert document.paragraphs == [0, 2, 3]
    assert document.sections == (Section("History", 3), Section("Old", 3))
    assert document.links == (
        Link(0, 22, 31, "St. Italy"), Link(1, 7, 11, "Hill"), Link(2, 7, 11, "Item"), Link(3, 7, 12, "Found"),
        Link(4, 3, 10, "Romulus"),
    )  # fmt: skip
    assert done.record["labels"] == ["generated data"]
    assert done.record["content"] == files_digest(done.folder)


def test_every_page_is_counted_once(wiki, run):
    wiki.add("A", "Text of [[b]].")
    wiki.add("Old_name", "#REDIRECT [[a#x]]", redirect="a#x")
    wiki.add("Talk:A", "talk", namespace=1)
    wiki.add("Code", "x", model="css")
    wiki.add("Only a table", "{|\n| x\n|}")
    done = run("wikipedia", wiki.write())
    record = done.record
    assert (record["documents"], record["redirects"], record["rejects"]) == (1, 1, 0)
    assert record["dropped"] == {"other_namespaces": 1, "other_models": 1, "without_text": 1}
    assert pq.read_table(done.folder / "redirects.parquet").to_pylist() == [{"title": "Old name", "target": "A"}]
    assert (done.folder / "rejects.jsonl").read_text() == ""


def test_shards_are_the_whole(wiki, run):
    for i in range(40):
        wiki.add(f"Page {i}", f"This is page {i} and [[Page {i + 1}]]. " * (1 + i % 7))
        wiki.add(f"To {i}", "#REDIRECT", redirect=f"Page {i}")
    record = wiki.multistream(pages_per_block=3)
    whole = run("wikipedia", record, output="whole")
    parts = [run("wikipedia", record, "--shard", f"{i}/3", output=f"part{i}") for i in (1, 2, 3)]
    assert [d for part in parts for d in read_documents(part.folder)] == list(read_documents(whole.folder))
    tables = [pq.read_table(part.folder / "redirects.parquet").to_pylist() for part in parts]
    assert [row for table in tables for row in table] == pq.read_table(whole.folder / "redirects.parquet").to_pylist()
    assert sum(part.record["documents"] for part in parts) == 40


def test_limit_takes_the_first_and_says_so(wiki, run):
    for i in range(5):
        wiki.add(f"Page {i}", "Some text.")
    done = run("wikipedia", wiki.write(), "--limit", "2")
    assert [d.title for d in read_documents(done.folder)] == ["Page 0", "Page 1"]
    assert "limited" in done.record["labels"]


def test_a_page_that_cannot_be_parsed_is_kept_apart(wiki, run, monkeypatch):
    def stumbling(text, site):
        if "odd" in text:
            raise ValueError("cannot read this")
        page = extract(text, site)
        if "loose" in text:
            page.links.append(PageLink(0, 2, 2, "A"))
        return page

    monkeypatch.setattr(wikipedia, "extract", stumbling)
    for i in range(20):
        wiki.add(f"Page {i}", {3: "odd", 5: "odd", 7: "A loose link."}.get(i, "Plain."))
    done = run("wikipedia", wiki.write())
    assert (done.record["documents"], done.record["rejects"]) == (17, 3)
    rejects = [json.loads(line) for line in (done.folder / "rejects.jsonl").read_text().splitlines()]
    assert rejects[0] == {"title": "Page 3", "reason": "ValueError: cannot read this"}
    assert "has a link outside its text" in rejects[2]["reason"]
    for i in range(20):
        wiki.add(f"Odd {i}", "odd")
    failed = run("wikipedia", wiki.write(), output="failed")
    assert failed.code == 1 and "23 pages could not be parsed" in failed.error and failed.record is None


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_shards_are_numbered_from_one(wiki, run, shard):
    wiki.add("A", "Text.")
    done = run("wikipedia", wiki.write(), f"--shard={shard}")
    assert done.code == 1 and "1/4" in done.error

"""Wikipedia dumps to Documents through the command; real excerpts against mwparserfromhell where they are given."""

import hashlib
import html
import json
import re
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from stele.corpora.dumps import find_dump, read_dump
from stele.corpora.titles import Site
from stele.corpora.wikitext import extract
from stele.documents import Link, Section, read_documents
from stele.outputs import files_digest

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
    assert (document.language, document.doc_id, document.title, document.entity) == ("la", "1", "Rome", "")
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


def test_same_dump_same_bytes_whatever_its_packing(wiki, run):
    for i in range(10):
        wiki.add(f"Page {i}", ARTICLE)
    first = run("wikipedia", wiki.write(), output="first").record["content"]
    (wiki.folder / "xwiki-1-pages-articles.xml").unlink()
    again = run("wikipedia", wiki.multistream(), output="again").record["content"]
    assert first == again


def test_limit_takes_the_first_and_says_so(wiki, run):
    for i in range(5):
        wiki.add(f"Page {i}", "Some text.")
    done = run("wikipedia", wiki.write(), "--limit", "2")
    assert [d.title for d in read_documents(done.folder)] == ["Page 0", "Page 1"]
    assert "limited" in done.record["labels"]


def test_a_page_that_cannot_be_parsed_is_kept_apart(wiki, run, monkeypatch):
    from stele.corpora import wikipedia

    def stumbling(text, site):
        if "odd" in text:
            raise ValueError("cannot read this")
        return extract(text, site)

    monkeypatch.setattr(wikipedia, "extract", stumbling)
    for i in range(20):
        wiki.add(f"Page {i}", "odd" if i in (3, 5) else "Plain.")
    done = run("wikipedia", wiki.write())
    assert (done.record["documents"], done.record["rejects"]) == (18, 2)
    rejects = [json.loads(line) for line in (done.folder / "rejects.jsonl").read_text().splitlines()]
    assert rejects[0] == {"title": "Page 3", "reason": "ValueError: cannot read this"}
    for i in range(20):
        wiki.add(f"Odd {i}", "odd")
    failed = run("wikipedia", wiki.write(), output="failed")
    assert failed.code == 1 and "22 pages could not be parsed" in failed.error and failed.record is None


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_shards_are_numbered_from_one(wiki, run, shard):
    wiki.add("A", "Text.")
    done = run("wikipedia", wiki.write(), f"--shard={shard}")
    assert done.code == 1 and "1/4" in done.error


def test_a_damaged_dump_leaves_nothing(wiki, run, tmp_path):
    wiki.add("A", "Text.")
    done = run("wikipedia", wiki.write(data=wiki.xml().encode()[:-40]))
    assert done.code == 1 and "truncated" in done.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


# --- real excerpts -------------------------------------------------------------------------------------------------

NOT_TEXT = {"ref", "references", "table", "gallery", "math", "timeline", "source", "pre", "imagemap", "includeonly"}
RESIDUE = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|</?ref|</?(?:br|small|sub|sup|div|span|table|td|tr|center|gallery)\b"
)
# Latgalian wraps tables in tags that mwparserfromhell does not take for tables: 122 of its links are table cells
EXCERPTS = {"en": (206, 106, 99, 0.995, 0.999), "ltg": (2004, 894, 147, 0.995, 0.97)}


def excerpt(real_data: Path, language: str, folder: Path) -> Path:
    (folder / "excerpt").mkdir()
    for path in (real_data / "wikipedia_dumps").glob(f"{language}wiki*"):
        (folder / "excerpt" / path.name).symlink_to(path)
    (folder / "excerpt" / "record.json").write_text("{}")
    return folder / "excerpt" / "record.json"


def set_aside(title: str) -> bool:
    return hashlib.sha256(title.encode()).digest()[0] % 2 == 1


def parsed_links(text: str, names: set[str]) -> Counter[str]:
    """Article links outside templates, tables and references, by mwparserfromhell; normalised by rules of our own
    here.
    """
    parser = pytest.importorskip("mwparserfromhell", reason="compares with mwparserfromhell")
    found: Counter[str] = Counter()

    def walk(code):
        for node in code.nodes:
            if isinstance(node, parser.nodes.Wikilink):
                found[str(node.title)] += 1
            elif isinstance(node, parser.nodes.Tag) and str(node.tag).lower() not in NOT_TEXT and node.contents:
                walk(node.contents)
            elif isinstance(node, parser.nodes.ExternalLink) and node.title:
                walk(node.title)

    walk(parser.parse(text, skip_style_tags=True))
    links: Counter[str] = Counter()
    for raw, count in found.items():
        title = " ".join(html.unescape(raw).split("#")[0].replace("_", " ").strip(" :").split())
        prefix = title.split(":")[0].strip().lower() if ":" in title else ""
        if title and prefix not in names:
            links[title[:1].upper() + title[1:]] += count
    return links


@pytest.mark.parametrize("language", EXCERPTS)
def test_real_excerpts(real_data, run, tmp_path, language):
    pages, articles, redirects, precision, recall = EXCERPTS[language]
    dataset = excerpt(real_data, language, tmp_path)
    done = run("wikipedia", dataset, language=language)
    assert (done.record["documents"], done.record["redirects"], done.record["rejects"]) == (articles, redirects, 0)
    assert articles + redirects + sum(done.record["dropped"].values()) == pages
    documents = list(read_documents(done.folder))
    text = "\n".join(sentence for document in documents for sentence in document.sentences)
    assert len(RESIDUE.findall(text)) / len(text) * 1e6 < 10  # Latgalian: 5 in examples of HTML code, English: none
    assert not re.search(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|</?ref", text)

    site, *found = list(read_dump(find_dump(dataset.parent)))
    assert isinstance(site, Site)
    other = {name.lower() for name in site.local_names} | {
        "image",
        "attēls",
        "file",
        "category",
        "template",
        "user",
        "help",
    }
    foreign = {
        "de",
        "fr",
        "ru",
        "lv",
        "en",
        "pl",
        "lt",
        "es",
        "it",
        "simple",
        "wikt",
        "wiktionary",
        "s",
        "commons",
        "meta",
        "wp",
    }
    ours = theirs = both = 0
    for page in found:
        if page.namespace == 0 and page.redirect is None and set_aside(page.title):
            mine = Counter(link.target for link in extract(page.text, site).links)
            reference = parsed_links(page.text, other | foreign)
            both += (mine & reference).total()
            ours, theirs = ours + mine.total(), theirs + reference.total()
    assert theirs > 2000
    assert both / ours > precision and both / theirs > recall

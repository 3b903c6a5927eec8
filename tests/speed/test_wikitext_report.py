"""The report on extraction says what it should: on pages made by hand, and a peer that must load as it is."""

from collections import Counter

import pytest

pytest.importorskip("mwparserfromhell", reason="the benchmark's reference")

from wikitext_reference import Wiki

from stele.corpora.wikitext.titles import Site
from tests.speed import wikitext as report  # which makes the next modules importable
from tests.speed import wikitext_peers

PAGES = [
    ("One", "'''One''' is [[a]] and ''[[b|B]]''.<ref>[[c]]</ref> {{x|[[d]]}}\n[[Category:E]]"),
    ("Two", "Text.\n{| x\n<tr><td>[[a]]\n|}\n[http://x.org [[f]] g]"),
]


def test_agreement_and_disagreements():
    measured, found = report.link_agreement(Wiki("xwiki", Site(), PAGES))
    assert measured == {
        "ours": 3, "reference": 3, "precision": 0.6667, "recall": 0.6667, "recall_outside_tables": 1.0,
    }  # fmt: skip
    assert {(line.page, line.target, line.side) for line in found} == {
        ("Two", "A", "in a table"),
        ("Two", "F", "only ours"),
    }


def test_residue_counts_characters():
    assert report.marks_left(["ab [[ cd", "Category:E"]) == (round(11 / 18 * 1e6, 2), {"[[": 1, "category": 1})
    assert report.marks_left(["plain"]) == (0.0, {})


def test_generated_wikis_agree_in_every_script():
    wikis = report.generated_wikis(entities=24)
    assert len({wiki.name for wiki in wikis}) == len(report.GENERATED)
    for wiki in wikis:
        measured, found = report.link_agreement(wiki)
        assert measured["reference"] > 10 and measured["precision"] >= 0.99 and measured["recall"] >= 0.99, found
        assert report.marks_left(list(report.ours_on(wiki))) == (0.0, {})


def test_made_pages_are_of_their_kinds_and_always_the_same():
    wikis = report.made_wikis()
    assert wikis == report.made_wikis() != report.made_wikis(seed=1)
    sizes, tables, tags = {}, {}, {}
    for wiki in wikis:
        pages = [wikitext for _, wikitext in wiki.articles[:10]]
        text = "".join(pages)
        sizes[wiki.name] = len(text) / len(pages)
        tables[wiki.name] = text.count("\n{|") / len(pages)
        tags[wiki.name] = sum(
            f"<{tag}" in text for tag in ("ref", "br", "nowiki", "math", "small", "sub", "span", "!--")
        )
        measured, found = report.link_agreement(wiki._replace(articles=wiki.articles[:10]))
        assert measured["precision"] == measured["recall"] == 1, found
        assert not any(report.residue(page) for page in report.ours_on(wiki))
    assert sizes["long articles"] > 40_000 > sizes["tables"] > 10_000 > 1500 > sizes["short tagged pages"]
    assert tables == {"long articles": 0, "tables": 6, "short tagged pages": 0} and tags["short tagged pages"] == 8


def test_one_wiki_is_measured_with_the_peers_that_are_there():
    figures, _, missing = report.measure(Wiki("xwiki", Site(), PAGES))
    names = {"wikiextractor", "mwparserfromhell", "wikitextparser", "gensim"}
    assert set(figures["versions"]) | set(missing) == names and "mwparserfromhell" in figures["versions"]
    assert set(figures["residue"]) == {"ours", *figures["versions"]} and figures["residue"]["ours"] == 0


def test_wikiextractor_loads_without_its_inline_flags(tmp_path, monkeypatch):
    (tmp_path / "wikiextractor").mkdir()
    (tmp_path / "wikiextractor/__init__.py").write_text("from .nowhere import x")  # not run: the module alone is loaded
    (tmp_path / "wikiextractor/extract.py").write_text('import re\nLINK = re.compile("a|(?i)b")\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert wikitext_peers.load_wikiextractor().LINK.search("B") is None
    assert Counter(wikitext_peers.load_wikiextractor().LINK.findall("ab")) == {"a": 1, "b": 1}

"""The benchmark of extraction measures what it says: on pages made by hand, and a peer that must load as it is."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("mwparserfromhell", reason="the benchmark's reference")

import bench_wikitext as bench
import wikitext_peers
from wikitext_reference import Wiki

from stele.corpora.wikitext.titles import Site

PAGES = [
    ("One", "'''One''' is [[a]] and ''[[b|B]]''.<ref>[[c]]</ref> {{x|[[d]]}}\n[[Category:E]]"),
    ("Two", "Text.\n{| x\n<tr><td>[[a]]\n|}\n[http://x.org [[f]] g]"),
]


def test_agreement_and_disagreements():
    measured, found = bench.link_agreement(Wiki("xwiki", Site(), PAGES))
    assert measured == {
        "ours": 3, "reference": 3, "precision": 0.6667, "recall": 0.6667, "recall_outside_tables": 1.0,
    }  # fmt: skip
    assert {(line.page, line.target, line.side) for line in found} == {
        ("Two", "A", "in a table"),
        ("Two", "F", "only ours"),
    }


def test_residue_counts_characters():
    assert bench.marks_left(["ab [[ cd", "Category:E"]) == (round(11 / 18 * 1e6, 2), {"[[": 1, "category": 1})
    assert bench.marks_left(["plain"]) == (0.0, {})


def test_generated_wikis_agree_in_every_script():
    wikis = bench.generated_wikis(entities=24)
    assert len({wiki.name for wiki in wikis}) == len(bench.GENERATED)
    for wiki in wikis:
        measured, found = bench.link_agreement(wiki)
        assert measured["reference"] > 10 and measured["precision"] >= 0.99 and measured["recall"] >= 0.99, found
        assert bench.marks_left(list(bench.ours_on(wiki))) == (0.0, {})


def test_made_pages_are_of_their_kinds_and_always_the_same():
    wikis = bench.made_wikis()
    assert wikis == bench.made_wikis() != bench.made_wikis(seed=1)
    sizes, tables, tags = {}, {}, {}
    for wiki in wikis:
        pages = [wikitext for _, wikitext in wiki.articles[:10]]
        text = "".join(pages)
        sizes[wiki.name] = len(text) / len(pages)
        tables[wiki.name] = text.count("\n{|") / len(pages)
        tags[wiki.name] = sum(
            f"<{tag}" in text for tag in ("ref", "br", "nowiki", "math", "small", "sub", "span", "!--")
        )
        measured, found = bench.link_agreement(wiki._replace(articles=wiki.articles[:10]))
        assert measured["precision"] == measured["recall"] == 1, found
        assert not any(bench.residue(page) for page in bench.ours_on(wiki))
    assert sizes["long articles"] > 40_000 > sizes["tables"] > 10_000 > 1500 > sizes["short tagged pages"]
    assert tables == {"long articles": 0, "tables": 6, "short tagged pages": 0} and tags["short tagged pages"] == 8


def test_a_page_counts_at_its_best():
    clock = iter([0, 5, 6, 10, 12, 20])  # two runs of two pages: 5 and 1 seconds, then 2 and 8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench.time, "process_time", lambda: next(clock))
        assert bench.rates({"x": lambda: iter(["a", "b"])}, 6_000_000, repetitions=2) == {"x": 2.0}


def test_one_wiki_is_measured_with_the_peers_that_are_there():
    figures, _, missing = bench.measure(Wiki("xwiki", Site(), PAGES), repetitions=1)
    names = {"wikiextractor", "mwparserfromhell", "wikitextparser", "gensim"}
    assert set(figures["versions"]) | set(missing) == names and "mwparserfromhell" in figures["versions"]
    assert set(figures["rate"]) == {"ours", *figures["versions"]} and figures["residue"]["ours"] == 0


def test_wikiextractor_loads_without_its_inline_flags(tmp_path, monkeypatch):
    (tmp_path / "wikiextractor").mkdir()
    (tmp_path / "wikiextractor/__init__.py").write_text("from .nowhere import x")  # not run: the module alone is loaded
    (tmp_path / "wikiextractor/extract.py").write_text('import re\nLINK = re.compile("a|(?i)b")\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert wikitext_peers.load_wikiextractor().LINK.search("B") is None
    assert Counter(wikitext_peers.load_wikiextractor().LINK.findall("ab")) == {"a": 1, "b": 1}

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

from stele.corpora.titles.normal_form import Site

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
        assert bench.marks_left(bench.ours_on(wiki)) == (0.0, {})


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

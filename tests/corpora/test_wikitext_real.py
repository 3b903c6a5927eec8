"""Extraction of real pages that are set aside, against mwparserfromhell; the split and the marks it rests on."""

import pytest
from wikitext_reference import Wiki, half, in_tables, real_wikis, residue, set_aside, top_level_links

from stele.corpora.wikitext.paragraphs import extract
from stele.corpora.wikitext.titles import Site

# wiki -> least precision, recall, recall outside tables. Latgalian pages have `{|` tables with rows in HTML, which
# mwparserfromhell takes for text: their links are no errors of ours.
BARS = {"enwiki": (0.99, 0.99, 0.99), "ltgwiki": (0.99, 0.94, 0.99)}


@pytest.fixture(scope="module")
def aside(real_data) -> dict[str, Wiki]:
    pytest.importorskip("mwparserfromhell", reason="compares with mwparserfromhell")
    return {wiki.name: half(wiki, aside=True) for wiki in real_wikis(real_data / "wikipedia_dumps")}


@pytest.mark.parametrize("name", BARS)
def test_links_agree_on_pages_set_aside(aside, name):
    wiki = aside[name]
    ours = theirs = both = tables = 0
    for title, wikitext in wiki.articles:
        assert set_aside(title)
        mine, reference = extract(wikitext, wiki.site).links, top_level_links(wikitext, wiki.site)
        mine = type(reference)(link.target for link in mine)
        both += (mine & reference).total()
        ours, theirs = ours + mine.total(), theirs + reference.total()
        tables += ((reference - mine) & in_tables(wikitext, wiki.site)).total()
    assert theirs > 2000
    precision, recall, recall_outside = BARS[name]
    assert both / ours >= precision and both / theirs >= recall and both / (theirs - tables) >= recall_outside


@pytest.mark.parametrize("name", BARS)
def test_no_markup_is_left_on_pages_set_aside(aside, name):
    wiki = aside[name]
    text = "\n".join(p for _, wikitext in wiki.articles for p in extract(wikitext, wiki.site).paragraphs)
    assert len(text) > 200_000
    assert sum(len(found) for _, found in residue(text)) / len(text) * 1e6 < 20


def test_the_halves_are_all_pages():
    titles = [f"Page {i}" for i in range(1000)]
    wiki = Wiki("xwiki", Site(), [(title, "") for title in titles])
    parts = [[title for title, _ in half(wiki, aside).articles] for aside in (True, False)]
    assert sorted(parts[0] + parts[1]) == sorted(titles) and 450 < len(parts[0]) < 550


def test_marks_of_markup_are_found():
    text = "[[ ]] {{ }} {| |} Category:A Kategoreja:B File:c Attēls:d 20px <ref> <br/> </div> a < b 20 pixels"
    kinds = [kind for kind, _ in residue(text)]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "[[": 1, "]]": 1, "{{": 1, "}}": 1, "{|": 1, "|}": 1, "|": 2, "category": 2, "file": 2, "px": 1,
        "ref": 1, "tag": 2,
    }  # fmt: skip


def test_links_in_tables_are_told_apart_by_lines():
    wikitext = "[[a]]\n{| x\n<tr><td>[[b]]\n:{|\n| [[c]]\n|}\n[[d]]\n|}\n[[e]]\n{|\n[[f]]\n== H ==\n[[g]]"
    assert sorted(in_tables(wikitext, Site())) == ["B", "C", "D", "F"]

"""Extraction of real pages that are set aside, against mwparserfromhell."""

import pytest
from wikitext_reference import Wiki, half, in_tables, real_wikis, residue, set_aside, top_level_links

from stele.corpora.wikitext.paragraphs import extract

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

"""ILK, knowledge within a language: symmetrically linked segments (KEPT, section 3.3, equation 2).

A sentence of page i that links to page j, and the passage of page j that holds a sentence which links to page i: one
side is a sentence, the other a passage ("we limit one segment to the sentence level while the other to the passage
level"). The paper does not say of which page the sentence is taken; a coin of the seed does, once for each pair of
sentences that link to each other's pages, so that both pages give queries. Where two sentences of a passage link back,
the same pair comes twice and is kept once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.pairs.mining.knowledge import Candidates, Knowledge, pack, swapped
from stele.pairs.mining.segments import Page
from stele.recipes.mining import IlkRecipe

LANGUAGES = 1  # of a part


def candidates(bases: Sequence[Knowledge], recipe: IlkRecipe, key: int) -> Iterator[Candidates]:
    """The sentences that link to each other's pages; places are their numbers on both sides."""
    for page, sentence, other_page, other_sentence in bases[0].symmetric():
        yield swapped(Candidates(pack(0, page, sentence), pack(0, other_page, other_sentence)), key)


def query(page: Page, place: int, recipe: IlkRecipe) -> str | None:
    return page.sentences[place]


def passage(page: Page, place: int, recipe: IlkRecipe) -> str | None:
    return page.passage_of(place)

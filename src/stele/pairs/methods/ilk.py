"""ILK, knowledge within a language: symmetrically linked segments (KEPT, section 3.3, equation 2).

The query is a sentence of page i that links to page j; the positive is the passage of page j with a sentence that links
to page i ("we limit one segment to the sentence level while the other to the passage level"). The paper does not say
which page gives the sentence. For each pair of sentences that link to each other's pages, a coin flip derived from the
seed decides it, so that both pages give queries. If two sentences of a passage link back, the pair occurs twice and is
kept once.
"""

from collections.abc import Iterator, Sequence

from stele.pairs.mining.knowledge import Candidates, Knowledge, pack, swapped
from stele.pairs.mining.segments import Page
from stele.recipes.mining import IlkRecipe

LANGUAGES = 1  # in a part


def candidates(bases: Sequence[Knowledge], recipe: IlkRecipe, key: int) -> Iterator[Candidates]:
    """Yields the pairs of sentences that link to each other's pages; a place is a sentence's number."""
    for page, sentence, other_page, other_sentence in bases[0].symmetric():
        yield swapped(Candidates(pack(0, page, sentence), pack(0, other_page, other_sentence)), key)


def query(page: Page, place: int, recipe: IlkRecipe) -> str | None:
    return page.sentences[place]


def passage(page: Page, place: int, recipe: IlkRecipe) -> str | None:
    return page.passage_of(place)

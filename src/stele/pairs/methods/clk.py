"""CLK, knowledge across languages: passages of one entity's pages in two languages (KEPT, section 3.3, equation 3).

"We select the top three passages of the respective Wikipedia pages as the segments s_i and s_j." Any two segments of
the same entity and of different languages are a pair by equation 3: nine for two pages of three passages, which is
`pairing: all` and the default. `aligned` joins the first passage with the first, the second with the second ...; `one`
a single passage of each page, drawn by the seed: as many pairs as pairs of pages. A coin of the seed decides for
each pair which language gives the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stele.pairs.mining.knowledge import BATCH, RANDOM, Candidates, Knowledge, hashed, pack, swapped
from stele.pairs.mining.segments import Page
from stele.recipes.mining import ClkRecipe
from stele.training.sampling import derive

LANGUAGES = 2  # of a part


def candidates(bases: Sequence[Knowledge], recipe: ClkRecipe, key: int) -> Iterator[Candidates]:
    """The pages of one entity in both languages, once for each two passages that are joined.

    A page has no more passages than sentences; which of the candidates' passages there are, its text says.
    """
    first, second = bases
    entities, pages = first.by_entity
    for begin in range(0, len(pages), BATCH):
        index, other = second.pages_of(entities[begin : begin + BATCH])
        page = pages[begin : begin + BATCH][index]
        for rank, other_rank in _ranks(recipe):
            there = (first.sentences[page] > rank) & (second.sentences[other] > other_rank)
            pairs = Candidates(pack(0, page[there], rank), pack(1, other[there], other_rank))
            if recipe.pairing == "one":
                drawn = [hashed(pairs, derive(key, side)) & np.uint64(RANDOM) for side in ("first", "second")]
                pairs = Candidates(pairs.query | drawn[0], pairs.passage | drawn[1])
            yield swapped(pairs, key)


def _ranks(recipe: ClkRecipe) -> list[tuple[int, int]]:
    """Which passages are joined, by their ranks among a page's segments."""
    if recipe.pairing == "one":
        return [(0, 0)]
    ranks = range(recipe.passages)
    return [(a, b) for a in ranks for b in ranks if recipe.pairing == "all" or a == b]


def rank(page: Page, place: int, recipe: ClkRecipe) -> int:
    """Which of a page's segments a place is: its number, or with `one` a drawn one of those there are."""
    return place % min(recipe.passages, page.size) if recipe.pairing == "one" else place


def passage(page: Page, place: int, recipe: ClkRecipe) -> str | None:
    """One of the first passages; None where the page has fewer."""
    return page.passage(rank(page, place, recipe))


query = passage

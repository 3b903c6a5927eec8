"""CLK, knowledge across languages: passages of one entity's pages in two languages (KEPT, section 3.3, equation 3).

"We select the top three passages of the respective Wikipedia pages as the segments s_i and s_j." By equation 3, any two
segments of one entity in different languages are a pair: nine pairs for two pages of three passages. This is the
default, `pairing: all`. `aligned` joins the first passage with the first, the second with the second and so on; `one`
joins a single passage of each page, drawn by the seed, so that two pages give one pair. For each pair, a coin flip
derived from the seed decides which language gives the query.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from stele.pairs.mining.knowledge import BATCH, RANDOM, Candidates, Knowledge, hashed, pack, swapped
from stele.pairs.mining.segments import Page
from stele.recipes.mining import ClkRecipe
from stele.training.sampling import derive

LANGUAGES = 2  # in a part


def candidates(bases: Sequence[Knowledge], recipe: ClkRecipe, key: int) -> Iterator[Candidates]:
    """Yields two pages of one entity, once for each pair of passage ranks that are joined.

    A page has at most as many passages as sentences; `passage` drops the candidates whose page turns out to have fewer.
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
    if recipe.pairing == "one":
        return [(0, 0)]
    ranks = range(recipe.passages)
    return [(a, b) for a in ranks for b in ranks if recipe.pairing == "all" or a == b]


def rank(page: Page, place: int, recipe: ClkRecipe) -> int:
    """Rank of a page's passage: the place itself or, with `pairing: one`, one drawn among the existing passages."""
    return place % min(recipe.passages, page.size) if recipe.pairing == "one" else place


def passage(page: Page, place: int, recipe: ClkRecipe) -> str | None:
    """Text of one of the first passages; None if the page has fewer."""
    return page.passage(rank(page, place, recipe))


query = passage

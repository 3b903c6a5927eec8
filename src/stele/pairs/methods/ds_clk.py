"""DS-CLK, diverse sampling across languages (KEPT, section 4.7, strategy 3; as C3, Yang et al. 2022).

"We sample these segments from the entire Wikipedia pages": like CLK, but the segments of a page are `passages` of all
its passages, drawn by the seed for each pair of languages, none twice. With the same keys it has as many pairs as CLK.
"""

from stele.pairs.methods import clk
from stele.pairs.mining.segments import Page
from stele.recipes.mining import DsClkRecipe

LANGUAGES = clk.LANGUAGES


candidates = clk.candidates


def passage(page: Page, place: int, recipe: DsClkRecipe) -> str | None:
    """Text of one of the drawn passages; None if the page has fewer."""
    rank = clk.rank(page, place, recipe)
    return page.passage(page.shuffled[rank]) if rank < page.size else None


query = passage

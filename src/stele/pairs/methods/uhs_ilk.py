"""UHS-ILK, unidirectionally linked segments within a language (KEPT, section 4.7, strategy 2).

"We treat the sentence containing the anchor text as a query and select the top passages from the hyperlinked Wikipedia
page as the positive document": each link gives one query; its positive is one of the first `passages` of the linked
page, drawn by the seed. The linked page need not link back.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from stele.pairs.mining.knowledge import RANDOM, Candidates, Knowledge, hashed, pack
from stele.pairs.mining.segments import Page
from stele.recipes.mining import UhsIlkRecipe
from stele.training.sampling import derive

LANGUAGES = 1  # in a part


def candidates(bases: Sequence[Knowledge], recipe: UhsIlkRecipe, key: int) -> Iterator[Candidates]:
    """Yields all links as candidates: a query's place is its sentence, a passage's place is a random number."""
    for page, sentence, target in bases[0].links():
        yield described(pack(0, page, sentence), 0, target, key)


def described(query: np.ndarray, language: int, target: np.ndarray, key: int) -> Candidates:
    """Pairs sentences [n] with the pages [n] that their links lead to; a passage's place is a random number."""
    pairs = Candidates(query, pack(language, target, 0))
    return Candidates(query, pairs.passage | hashed(pairs, derive(key, "description")) & np.uint64(RANDOM))


def query(page: Page, place: int, recipe: UhsIlkRecipe) -> str | None:
    return page.sentences[place]


def passage(page: Page, place: int, recipe: UhsIlkRecipe) -> str | None:
    """Text of one of the page's first `passages` (or fewer, if it has fewer); all of them are equally likely."""
    return page.passage(place % min(recipe.passages, page.size))

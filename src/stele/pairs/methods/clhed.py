"""CLHED, descriptions of linked entities in another language (KEPT, section 4.7, strategy 4).

"We consider the sentence containing the anchor text as a query and leverage the corresponding entity description from a
different language Wikipedia page as the positive document. The entity description is selected from the top passages":
a sentence, and one of the first `passages` of the page that the other language has for the entity of the linked page.
A part is a pair of languages, each of which gives queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.pairs.methods import uhs_ilk
from stele.pairs.mining.knowledge import Candidates, Knowledge, pack
from stele.recipes.mining import ClhedRecipe

LANGUAGES = 2  # of a part


def candidates(bases: Sequence[Knowledge], recipe: ClhedRecipe, key: int) -> Iterator[Candidates]:
    """All links of either language whose page has an entity with a page in the other."""
    for language, other in ((0, 1), (1, 0)):
        for page, sentence, target in bases[language].links():
            index, there = bases[other].pages_of(bases[language].entities[target])
            yield uhs_ilk.described(pack(language, page[index], sentence[index]), other, there, key)


query, passage = uhs_ilk.query, uhs_ilk.passage

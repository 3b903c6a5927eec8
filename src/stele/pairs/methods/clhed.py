"""CLHED, descriptions of linked entities in another language (KEPT, section 4.7, strategy 4).

"We consider the sentence containing the anchor text as a query and leverage the corresponding entity description from a
different language Wikipedia page as the positive document. The entity description is selected from the top passages":
the query is the sentence; the positive is one of the first `passages` of the other language's page on the linked
page's entity. A part is a pair of languages, and both languages give queries.
"""

from collections.abc import Iterator, Sequence

from stele.pairs.methods import uhs_ilk
from stele.pairs.mining.knowledge import Candidates, Knowledge, pack
from stele.recipes.mining import ClhedRecipe

LANGUAGES = 2  # in a part


def candidates(bases: Sequence[Knowledge], recipe: ClhedRecipe, key: int) -> Iterator[Candidates]:
    """Yields the links of both languages whose target's entity has a page in the other language, too."""
    for language, other in ((0, 1), (1, 0)):
        for page, sentence, target in bases[language].links():
            index, there = bases[other].pages_of(bases[language].entities[target])
            yield uhs_ilk.described(pack(language, page[index], sentence[index]), other, there, key)


query, passage = uhs_ilk.query, uhs_ilk.passage

"""Tatoeba v1 (LASER): find a sentence's translation among all sentences of its pair's other side.

Each language has two query sets, `{lang}-en` (foreign sentences search the English side) and `en-{lang}`, and its own
collections (its pair's file, up to 1,000 sentences), so a language with fewer pairs has smaller collections. Native
files: `tatoeba.{xxx}-eng.{xxx}` and `tatoeba.{xxx}-eng.eng`, with one sentence on each line; equal lines are
translations.

The ranking rules are those of LASER's `IndexSearchMultiple` (source/lib/indexing.py): the nearest neighbour by cosine,
the lowest line among equals. A run sorts equal scores by descending ids, so passage ids count down: the first line has
the highest id. Both sides are encoded with an encoder's query prompt (`passages_as_queries`). No sentence of the real
files is empty or repeated, so comparing positions and comparing texts give the same accuracy.
"""

from collections.abc import Iterator, Sequence

from stele.benchmarks._files import folder_of, lines, located, name_in_files
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError

DATASET = "tatoeba"


class Tatoeba(RetrievalReader):
    NORMALIZE = True  # cosine, whatever the encoder's own similarity
    SIMILARITY = "cosine"  # for given embeddings

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes both directions of every language, except English."""
        both = []
        for language in languages:
            if language != "en":
                both.append(QuerySet(f"{language}-en", language, f"en-of-{language}"))
                both.append(QuerySet(f"en-{language}", language, language))
        return both

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the sentences of the query side; a query's id is its line number from 0."""
        foreign, english = _pair(data, query_set.language)
        return line_queries(foreign if query_set.name.endswith("-en") else english)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the sentences of a collection; `en-of-{lang}` is the English side of this language's pair."""
        language = collection.removeprefix("en-of-")
        foreign, english = _pair(data, language)
        return line_passages(english if collection != language else foreign)

    def query_collection(self, query_set: QuerySet) -> str:
        return f"en-of-{query_set.language}" if query_set.collection == query_set.language else query_set.language

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps line number -> {id of the same line on the other side: 1}."""
        return line_judgments(len(_pair(data, query_set.language)[0]))


def _pair(data: Data, language: str) -> tuple[list[str], list[str]]:
    folder = folder_of(data, DATASET, language)
    code = name_in_files(language, DATASET)
    foreign = located(folder, f"tatoeba.{code}-eng.{code}")
    english = located(folder, f"tatoeba.{code}-eng.eng")
    if foreign == english:  # a file was given: each sentence would find itself
        raise SteleError(f"{foreign}: a pair's one side; want the folder of tatoeba.{code}-eng.{code} and .eng")
    sides = [text for _, text in lines(foreign)], [text for _, text in lines(english)]
    if len(sides[0]) != len(sides[1]):
        sizes = f"{len(sides[0])} lines, but {english.name} has {len(sides[1])}"
        raise SteleError(f"{foreign} has {sizes}; want translations line by line")
    if not sides[0]:
        raise SteleError(f"{foreign}: the file is empty")
    return sides


# --- sides whose lines are translations of each other; tatoeba_pairs uses them, too ---
def line_queries(texts: Sequence[str]) -> Iterator[Query]:
    """Makes queries of the lines of the query side; a query's id is its line number from 0."""
    return (Query(f"{number:04d}", text) for number, text in enumerate(texts))


def line_passages(texts: Sequence[str]) -> Iterator[Passage]:
    """Makes passages of the lines of the searched side; ids count down, so that the first line has the highest."""
    return (Passage(_passage_id(number, len(texts)), "", text) for number, text in enumerate(texts))


def line_judgments(size: int) -> Judgments:
    """Maps query id -> {id of the same line on the other side: 1}, for two sides of `size` lines."""
    return {f"{number:04d}": {_passage_id(number, size): 1} for number in range(size)}


def _passage_id(number: int, size: int) -> str:
    width = max(4, len(str(size - 1)))  # equal width, since runs order ids as strings
    return f"{size - 1 - number:0{width}d}"

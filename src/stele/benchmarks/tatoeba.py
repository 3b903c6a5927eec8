"""Tatoeba v1 (LASER): find a sentence's translation among all sentences of its pair's other side.

For each language two query sets, `{lang}-en` (foreign sentences against the English side) and `en-{lang}`. Each
language has its own collections (its pair's file, up to 1,000 sentences), so a language with fewer pairs has smaller
ones. Native files: `tatoeba.{xxx}-eng.{xxx}` and `tatoeba.{xxx}-eng.eng`, one sentence a line, line by line
translations.

The ranking rules are those of LASER's `IndexSearchMultiple` (source/lib/indexing.py): the nearest neighbour by cosine,
the lowest line among equals. A run puts equal scores in descending order of their ids, so passage ids count down from
the end: the first line has the highest id. An encoder's prompt of queries stands before both sides
(`passages_as_queries`). No sentence of the real files is empty or there twice, so comparing positions and texts gives
the same accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.benchmarks._files import folder_of, lines, located, name_in_files
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError

DATASET = "tatoeba"


class Tatoeba(RetrievalReader):
    NORMALIZE = True  # cosine, whatever the encoder's own habit
    SIMILARITY = "cosine"  # of embeddings that are given

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Both directions of every language; English itself has none."""
        both = []
        for language in languages:
            if language != "en":
                both.append(QuerySet(f"{language}-en", language, f"en-of-{language}"))
                both.append(QuerySet(f"en-{language}", language, language))
        return both

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """The sentences of the searching side; a query's id is its line number from 0."""
        foreign, english = _pair(data, query_set.language)
        return line_queries(foreign if query_set.name.endswith("-en") else english)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """The sentences of the side that is searched: `en-of-{lang}` is the English side of that language's pair."""
        language = collection.removeprefix("en-of-")
        foreign, english = _pair(data, language)
        return line_passages(english if collection != language else foreign)

    def query_collection(self, query_set: QuerySet) -> str:
        return f"en-of-{query_set.language}" if query_set.collection == query_set.language else query_set.language

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Line number -> {id of the same line on the other side: 1}."""
        return line_judgments(len(_pair(data, query_set.language)[0]))


def _pair(data: Data, language: str) -> tuple[list[str], list[str]]:
    folder, code = folder_of(data, DATASET, language), name_in_files(language, DATASET)
    foreign = located(folder, f"tatoeba.{code}-eng.{code}")
    english = located(folder, f"tatoeba.{code}-eng.eng")
    if foreign == english:  # a file was given: each sentence would find itself
        raise SteleError(f"{foreign}: a pair's one side; want the folder of tatoeba.{code}-eng.{code} and .eng")
    sides = [text for _, text in lines(foreign)], [text for _, text in lines(english)]
    if len(sides[0]) != len(sides[1]):
        sizes = f"{len(sides[0])} lines, {english.name} has {len(sides[1])}"
        raise SteleError(f"{foreign} has {sizes}; they must be translations line by line")
    if not sides[0]:
        raise SteleError(f"{foreign}: the file is empty")
    return sides


# --- sides whose lines are translations of each other; of tatoeba_pairs, too ---
def line_queries(texts: Sequence[str]) -> Iterator[Query]:
    """The lines of the searching side; a query's id is its line number from 0."""
    return (Query(f"{number:04d}", text) for number, text in enumerate(texts))


def line_passages(texts: Sequence[str]) -> Iterator[Passage]:
    """The lines of the side that is searched."""
    return (Passage(_passage_id(number, len(texts)), "", text) for number, text in enumerate(texts))


def line_judgments(size: int) -> Judgments:
    """Query id -> {id of the same line on the other side: 1}, for sides of so many lines."""
    return {f"{number:04d}": {_passage_id(number, size): 1} for number in range(size)}


def _passage_id(number: int, size: int) -> str:
    return f"{size - 1 - number:04d}"

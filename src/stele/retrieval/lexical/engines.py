"""The engines that search a collection by its terms: bm25s with Lucene's formula, and Anserini, Lucene itself.

Both index a collection once and give the hits of a split's queries, plain or expanded (rm3.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stele.benchmarks.types import Query
from stele.files.atomic import digest
from stele.recipes.lexical import Rm3
from stele.retrieval.lexical import anserini, bm25_index, bm25_search, rm3
from stele.retrieval.lexical.bm25_search import Hits, Parameters
from stele.text import terms

EXPANDED_BLOCK = 1 << 15  # passages of a block of an index of many terms: a tenth of a GB while it is made


class Texts(NamedTuple):
    """A collection: its language, and its passages as (id, text), to be read as often as an engine must."""

    language: str
    read: Callable[[], Iterator[tuple[str, str]]]


class WithBm25s:
    """A collection searched by bm25s: an index of the queries' terms, and for expanded ones one of all they may get."""

    def __init__(
        self, texts: Texts, folder: Path, splits: Mapping[str, Sequence[Query]], threads: int, rounded: bool = False
    ) -> None:
        self.texts, self.folder, self.threads, self.rounded = texts, folder, threads, rounded
        analyze = terms.analyzer(texts.language)
        self.terms = {split: [analyze(query.text) for query in queries] for split, queries in splits.items()}
        own = {term for of_split in self.terms.values() for of_query in of_split for term in of_query}
        self.index = TermIndex(folder / "index", texts, own, bm25_index.BLOCK)
        self.passages = self.index.passages
        self.facts = {
            "analyzer": terms.described(texts.language),
            "passages_with_terms": self.index.collection.passages,
            "mean_length": self.index.collection.length,
        }

    def runs(self, split: str, grid: Iterable[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        for parameters in grid:
            yield parameters, self._search(self.index, self._own(split), parameters, depth)

    def expanded(self, split: str, parameters: Parameters, depth: int, recipe: Rm3) -> list[Hits]:
        """The hits of a split's queries, expanded with terms of what they find first."""
        # those of Anserini, which puts the lowest id first among equal scores
        first = self._search(self.index, self._own(split), parameters, recipe.documents, ties="lowest")
        counts = self._counts({name for hits in first for name, _ in hits})
        added = rm3.candidates(counts.values(), recipe)
        index = self._wider_index(added | self.index.numbers.keys())
        frequencies, passages = index.collection.frequencies, index.collection.passages
        rare = {term for term in added if rm3.is_rare(int(frequencies[index.numbers[term]]), passages)}
        usable = {name: {t: n for t, n in of_passage.items() if t in rare} for name, of_passage in counts.items()}
        queries = [
            rm3.expanded(terms, [(usable[name], score) for name, score in hits], recipe)
            for terms, hits in zip(self.terms[split], first, strict=True)
        ]
        numbered = [{index.numbers[term]: weight for term, weight in query.items()} for query in queries]
        return self._search(index, numbered, parameters, depth)

    def _counts(self, names: set[str]) -> dict[str, Counter[str]]:
        """Passage -> how often each term occurs in it."""
        analyze = terms.analyzer(self.texts.language)
        return {name: Counter(analyze(text)) for name, text in self.texts.read() if name in names}

    def _wider_index(self, terms: set[str]) -> TermIndex:
        """The index of these terms: another recipe has another one."""
        return TermIndex(self.folder / f"expanded-{digest(sorted(terms))}", self.texts, terms, EXPANDED_BLOCK)

    def _own(self, split: str) -> list[list[int]]:
        """The terms of a split's queries by their numbers."""
        return [[self.index.numbers[term] for term in terms] for terms in self.terms[split]]

    def _search(
        self,
        index: TermIndex,
        queries: Sequence[bm25_search.Query],
        parameters: Parameters,
        depth: int,
        ties: bm25_search.Ties = "highest",
    ) -> list[Hits]:
        return bm25_search.search(
            index.folder, index.ids, queries, depth, index.collection, parameters, self.threads, self.rounded, ties
        )


class TermIndex:
    """An index of some terms of a collection, made unless it is there; `numbers`: term -> its number in it."""

    def __init__(self, folder: Path, texts: Texts, terms: Iterable[str], rows: int) -> None:
        self.folder = folder
        self.numbers = {term: number for number, term in enumerate(sorted(terms))}
        counter = terms.TermNumbers(texts.language, self.numbers)
        self.passages = bm25_index.write_index(folder, texts.read(), counter, len(self.numbers), rows)
        self.collection, self.ids = bm25_index.statistics(folder), bm25_index.read_ids(folder)


class WithAnserini:
    """A collection searched by Anserini: a Lucene index of whole passages with Lucene's analyzer of the language."""

    def __init__(
        self, jar: Path, texts: Texts, folder: Path, splits: Mapping[str, Sequence[Query]], threads: int, expands: bool
    ) -> None:
        self.folder, self.splits = folder, splits
        self.engine = anserini.Anserini(jar, texts.language, threads)
        self.passages = self.engine.write_index(folder, texts.read(), vectors=expands)
        self.facts = {"analyzer": {"of": jar.stem, "language": texts.language}}

    def runs(self, split: str, grid: Sequence[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """The hits of a split's queries with each pair of parameters."""
        yield from self.engine.search(self.folder, self.splits[split], grid, depth)

    def expanded(self, split: str, parameters: Parameters, depth: int, recipe: Rm3) -> list[Hits]:
        """The hits of a split's queries, expanded by Anserini's RM3."""
        ((_, hits),) = self.engine.search(self.folder, self.splits[split], [parameters], depth, recipe)
        return hits


Engine = WithBm25s | WithAnserini

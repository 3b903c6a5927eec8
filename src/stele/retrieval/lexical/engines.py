"""Engines that search a collection by its terms: bm25s with Lucene's formula here, Anserini in anserini.py.

An engine indexes a collection once and searches it for a split's queries, plain or expanded (rm3.py).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stele.benchmarks.types import Query
from stele.files.digests import digest
from stele.recipes.search import Rm3
from stele.retrieval.lexical import lucene_bm25, rm3
from stele.retrieval.lexical.lucene_bm25 import Hits, Index, Parameters
from stele.text.terms import TermNumbers, analyzer, described

EXPANDED_BLOCK = 1 << 15  # passages of a block of an index of many terms: it takes a tenth of a GB to make


class Texts(NamedTuple):
    """A collection: its language, and a function that reads its passages as (id, text) from the beginning."""

    language: str
    read: Callable[[], Iterator[tuple[str, str]]]


def index_terms(folder: Path, texts: Texts, terms: Iterable[str], rows: int) -> tuple[Index, dict[str, int]]:
    """Indexes some terms of a collection in blocks of `rows`; returns the index, and the number of each term in it."""
    numbers = {term: number for number, term in enumerate(sorted(terms))}
    terms_of = TermNumbers(texts.language, numbers)
    return lucene_bm25.write_index(folder, texts.read(), terms_of, len(numbers), rows), numbers


class Bm25sEngine:
    """Searches by bm25s, with one index of the queries' terms and another of the terms of expanded queries.

    `rounded` rounds passage lengths as Lucene stores them. `passages` is the number of passages, `facts` are facts of
    the search for its record.
    """

    def __init__(
        self, texts: Texts, folder: Path, splits: Mapping[str, Sequence[Query]], threads: int, rounded: bool = False
    ) -> None:
        self.texts, self.folder, self.threads, self.rounded = texts, folder, threads, rounded
        analyze = analyzer(texts.language)
        self.terms = {split: [analyze(query.text) for query in queries] for split, queries in splits.items()}
        query_terms: set[str] = set()
        for terms_of_queries in self.terms.values():
            query_terms.update(*terms_of_queries)
        self.index, self.numbers = index_terms(folder / "index", texts, query_terms, lucene_bm25.BLOCK)
        self.passages = len(self.index.ids)
        self.facts = {
            "analyzer": described(texts.language),
            "passages_with_terms": self.index.collection.passages,
            "mean_length": self.index.collection.length,
        }

    def runs(self, split: str, grid: Sequence[Parameters], depth: int) -> Iterator[tuple[Parameters, list[Hits]]]:
        """Searches a split's queries with each (k1, b) of the grid; yields the pair and the hits of each query."""
        queries = self._numbered(split)
        for parameters in grid:
            hits = lucene_bm25.search(self.index, queries, depth, parameters, self.threads, self.rounded)
            yield parameters, hits

    def expanded(self, split: str, parameters: Parameters, depth: int, recipe: Rm3) -> list[Hits]:
        """Searches a split's queries, expanded by RM3; returns the hits of each query."""
        # search the queries as they are; among equal scores Anserini takes the lowest id first
        options = {"parameters": parameters, "threads": self.threads, "rounded": self.rounded}
        queries = self._numbered(split)
        first = lucene_bm25.search(self.index, queries, recipe.documents, ties="lowest", **options)

        # the passages' terms that may expand a query, and an index of them
        names = {name for hits in first for name, _ in hits}
        analyze = analyzer(self.texts.language)
        counts = {name: Counter(analyze(text)) for name, text in self.texts.read() if name in names}
        added = {term for term in set().union(*counts.values()) if rm3.may_expand(term, recipe)}
        indexed = added | self.numbers.keys()
        folder = self.folder / f"expanded-{digest(sorted(indexed))}"  # another recipe has another index
        index, numbers = index_terms(folder, self.texts, indexed, EXPANDED_BLOCK)

        # of these terms the rare ones expand the queries
        frequencies, passages = index.collection.frequencies, index.collection.passages
        rare = {term for term in added if frequencies[numbers[term]] <= rm3.MOST_FREQUENT * passages}
        rare_counts = {}
        for name, of_passage in counts.items():
            rare_counts[name] = {term: count for term, count in of_passage.items() if term in rare}
        expanded = []
        for query_terms, hits in zip(self.terms[split], first, strict=True):
            feedback = [(rare_counts[name], score) for name, score in hits]
            query = rm3.expanded(query_terms, feedback, recipe)
            expanded.append({numbers[term]: weight for term, weight in query.items()})
        return lucene_bm25.search(index, expanded, depth, **options)

    def _numbered(self, split: str) -> list[list[int]]:
        return [[self.numbers[term] for term in terms] for terms in self.terms[split]]

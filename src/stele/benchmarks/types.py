"""Data types that all benchmarks are read into: query sets, queries, passages, training examples.

The queries of a *query set* search one *collection* of passages. Several query sets may share a collection (LAReQA:
eleven query languages, one collection), and a job encodes each collection once. Records and values per query on disk
call the two `search` and `pool`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# dataset id -> part (a language or "all") -> folder with that part's files
Data = Mapping[str, Mapping[str, Path]]
# query id -> {passage id: gain}
Judgments = dict[str, dict[str, int]]


class QuerySet(NamedTuple):
    """Queries that search one collection; `language` is the table column of their score."""

    name: str
    language: str
    collection: str


class Query(NamedTuple):
    id: str
    text: str


class Passage(NamedTuple):
    """A passage of a collection; `title` is "" if the passage has none."""

    id: str
    title: str
    text: str


class ParallelTexts(NamedTuple):
    """Texts in several languages: text i of each language has the id `ids[i]`; `left_out` counts others by reason."""

    ids: list[str]
    texts: dict[str, list[str]]
    left_out: dict[str, int]


class LeftOut(NamedTuple):
    """Documents that are not hits of a query, whatever their score.

    `documents` maps query id -> such documents. `same_id` says whether the document with the query's own id is one,
    since it is the query itself; None if the data do not decide it, so that the benchmark's entry must.
    """

    documents: Mapping[str, frozenset[str]] = {}
    same_id: bool | None = False

    def of(self, query: str) -> frozenset[str]:
        """Documents that are not hits of a query; they include its own id unless `same_id` is False."""
        return self.documents.get(query, frozenset()) | (frozenset() if self.same_id is False else {query})

    def deepest(self, queries: Iterable[str], depth: int) -> int:
        """Search depth that leaves each of some queries at least `depth` hits."""
        return depth + max((len(self.of(query)) for query in queries), default=0)

    def cut(self, query: str, hits: Sequence[tuple[str, float]], depth: int) -> Sequence[tuple[str, float]]:
        """Cuts a query's hits (passage, score) after the `depth`-th one that may count.

        >>> LeftOut(same_id=None).cut("q", [("a", 3.0), ("q", 2.0), ("b", 1.0), ("c", 0.5)], 2)
        [('a', 3.0), ('q', 2.0), ('b', 1.0)]
        """
        names, counted = self.of(query), 0
        for number, (name, _) in enumerate(hits):
            if counted == depth:
                return hits[:number]
            counted += name not in names
        return hits


class TrainingExample(NamedTuple):
    """A training query with the passages that answer it, hard negatives (maybe none), and the query's language."""

    query: str
    positives: list[Passage]
    negatives: list[Passage]
    language: str


class Span(NamedTuple):
    """An answer's text and the position of its first character in a paragraph."""

    start: int
    text: str


class SpanQuestion(NamedTuple):
    """A question about a paragraph, with its answers there; none if the paragraph does not answer it."""

    id: str
    question: str
    context: str
    answers: list[Span]

    def stands(self, answer: Span) -> bool:
        """Whether an answer is not blank and the paragraph has exactly its text at its position."""
        text_at_answer = self.context[max(answer.start, 0) : answer.start + len(answer.text)]
        return bool(answer.text.strip()) and text_at_answer == answer.text

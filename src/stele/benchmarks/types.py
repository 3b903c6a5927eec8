"""What every benchmark is read into: query sets, queries, passages, training examples.

A *query set* is searched in one *collection* of passages. Several query sets may share a collection (LAReQA: eleven
query languages, one collection), and a job encodes each collection once. On disk (records, values per query) the two
are called `search` and `pool`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# dataset id -> part (a language or "all") -> folder with that part's files
Data = Mapping[str, Mapping[str, Path]]
# query id -> {passage id: gain}
Judgments = dict[str, dict[str, int]]


class QuerySet(NamedTuple):
    """The queries that are searched in one collection; `language` is the column that their score belongs to."""

    name: str
    language: str
    collection: str


class Query(NamedTuple):
    id: str
    text: str


class Passage(NamedTuple):
    """A passage; `title` is "" where the benchmark's passages have none."""

    id: str
    title: str
    text: str


class ParallelTexts(NamedTuple):
    """Texts that are there in several languages: text i of each is the i-th of `ids`; those left out, by the reason."""

    ids: list[str]
    texts: dict[str, list[str]]
    left_out: dict[str, int]


class LeftOut(NamedTuple):
    """The documents that are no hits of a query, whatever they score.

    `documents`: query id -> such documents. `same_id`: whether the document of the query's own id is one, since it is
    the query itself; None where the data do not tell, so that the benchmark's entry must.
    """

    documents: Mapping[str, frozenset[str]] = {}
    same_id: bool | None = False

    def of(self, query: str) -> frozenset[str]:
        """Those of a query; its own id where it may be one."""
        return self.documents.get(query, frozenset()) | (frozenset() if self.same_id is False else {query})

    def deepest(self, queries: Iterable[str], depth: int) -> int:
        """How deep some queries are to be searched, so that `depth` hits remain of each."""
        return depth + max((len(self.of(query)) for query in queries), default=0)

    def cut(self, query: str, hits: Sequence[tuple[str, float]], depth: int) -> Sequence[tuple[str, float]]:
        """A query's hits (passage, score) down to the `depth`-th that may count.

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
    """A query, the passages that answer it, hard negatives (may be empty), and the query's language."""

    query: str
    positives: list[Passage]
    negatives: list[Passage]
    language: str


class Span(NamedTuple):
    """A text and the place of its first character in a paragraph."""

    start: int
    text: str


class SpanQuestion(NamedTuple):
    """A question about a paragraph, and the answers in it; none where the paragraph does not answer it."""

    id: str
    question: str
    context: str
    answers: list[Span]

    def stands(self, answer: Span) -> bool:
        """Whether an answer is what stands at its place, and is anything at all."""
        there = self.context[max(answer.start, 0) : answer.start + len(answer.text)]
        return bool(answer.text.strip()) and there == answer.text

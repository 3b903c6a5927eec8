"""What every benchmark is read into: query sets, queries, passages, training examples.

A *query set* is searched in one *collection* of passages. Several query sets may share a collection (LAReQA: eleven
query languages, one collection), and a job encodes each collection once. On disk (records, values per query) the two
are called `search` and `pool`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# dataset id -> part (a language or "all") -> folder with that part's files
Data = Mapping[str, Mapping[str, Path]]


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

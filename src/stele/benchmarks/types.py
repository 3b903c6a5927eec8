"""What every benchmark speaks in: searches, queries, passages, training examples.

A *search* is one set of queries run against one *pool* of passages. Several searches may share a pool
(LAReQA: eleven query languages, one pool), and a pool is encoded once per job.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# dataset id -> part (a language or "all") -> folder with that part's files
Data = Mapping[str, Mapping[str, Path]]


class Search(NamedTuple):
    """One set of queries against one pool; `language` is the column that its score belongs to."""

    name: str
    language: str
    pool: str


class Query(NamedTuple):
    id: str
    text: str


class Passage(NamedTuple):
    """A passage; `title` is "" where the benchmark's passages have none."""

    id: str
    title: str
    text: str


class TrainingExample(NamedTuple):
    """A query, the passages that answer it, hard negatives (may be empty), and the query's language."""

    query: str
    positives: list[Passage]
    negatives: list[Passage]
    language: str

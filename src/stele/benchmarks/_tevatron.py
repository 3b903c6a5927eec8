"""Tevatron's layouts: a training set, JSON lines {query_id, query, positive_passages, negative_passages}, and a corpus.

A passage is {docid, title, text}; a corpus has one a line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stele.benchmarks._files import field, identifier, json_lines, optional
from stele.benchmarks._tables import table_passages
from stele.benchmarks.types import Passage, TrainingExample
from stele.errors import SteleError

logger = logging.getLogger(__name__)


def training_examples(path: Path, language: str) -> Iterator[TrainingExample]:
    """Streams the examples of a file; a query without a positive passage is left out and counted."""
    without = 0
    for where, item in json_lines(path):
        positives = [_passage(p, where) for p in field(item, "positive_passages", list, where)]
        negatives = [_passage(p, where) for p in optional(item, "negative_passages", list, where)]
        if positives:
            yield TrainingExample(field(item, "query", str, where), positives, negatives, language)
        else:
            without += 1
    if without:
        logger.info("%s: %d queries without a positive passage were left out", path, without)


def corpus_passages(path: Path) -> Iterator[Passage]:
    """Streams the passages of a corpus."""
    yield from table_passages(path, "docid")


def _passage(item: Any, where: str) -> Passage:
    if not isinstance(item, dict):
        raise SteleError(f"{where}: a passage must be an object, found {type(item).__name__}")
    if not item.get("text"):
        raise SteleError(f"{where}: passage {item.get('docid')!r} has no text: this split names its passages only")
    docid = identifier(item.get("docid"), where, "docid")
    return Passage(docid, optional(item, "title", str, where), field(item, "text", str, where))

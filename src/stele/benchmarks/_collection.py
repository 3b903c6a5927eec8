"""An ad hoc test collection in one language: one query set, one collection, documents judged in TREC's layout.

A file of the dataset ends in `qrels.txt`, as TREC, CLEF, NTCIR, FIRE and Anserini name theirs, or is given itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from stele.benchmarks._files import below, folder_of
from stele.benchmarks._qrels import read_qrels
from stele.benchmarks.types import Data, QuerySet
from stele.errors import SteleError

Judgments = dict[str, dict[str, int]]


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set a language, each with its collection."""
    return [QuerySet(language, language, language) for language in languages]


def judgments_of(dataset: str) -> Callable[[Data, QuerySet], Judgments]:
    """The function that reads a collection's judgments: query id -> {document id: relevance}."""

    def judgments(data: Data, query_set: QuerySet) -> Judgments:
        return read_qrels(qrels_file(folder_of(data, dataset, query_set.language)))

    return judgments


def qrels_file(folder: Path) -> Path:
    """The one file of a folder that holds judgments."""
    if folder.is_file():
        return folder
    files = sorted(path for path in below(folder) if path.name.endswith(("qrels.txt", "qrels", "qrels.txt.gz")))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file of judgments, named *qrels.txt; found {names}. Give the file itself")
    return files[0]

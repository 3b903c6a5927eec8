"""The files of an ad hoc test collection in one language, found by their names: topics, judgments, and documents.

A file of topics or of judgments may be given itself, the latter under any name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import below, folder_of, lines
from stele.benchmarks._qrels import read_qrels
from stele.benchmarks._trec import TAGS, Document, Text, documents
from stele.benchmarks.types import Data, QuerySet
from stele.catalogue.schema.datasets import Collection, Dataset
from stele.catalogue.user_data import QRELS, TOPICS, document_files, role
from stele.errors import SteleError

Judgments = dict[str, dict[str, int]]


def judgments_of(dataset: str) -> Callable[[Data, QuerySet], Judgments]:
    """The function that reads a dataset's judgments: query id -> {document id: relevance}."""

    def judgments(data: Data, query_set: QuerySet) -> Judgments:
        return read_qrels(qrels_file(folder_of(data, dataset, query_set.language)))

    return judgments


def qrels_file(folder: Path) -> Path:
    """The one file of a folder that holds judgments."""
    return folder if folder.is_file() else _the_one(folder, QRELS, "judgments, named *qrels*")


def folders(data: Data, language: str) -> dict[str, Path]:
    """dataset -> the folder of a collection's language; those whose files the catalogue names come first."""
    parts = {name: own.get(language) or own.get("all") for name, own in data.items()}
    known = catalogue.entries(Dataset)
    order = sorted(parts, key=lambda name: not (name in known and known[name].files))
    return {name: Path(folder) for name in order if (folder := parts[name])} or {"": folder_of(data, "", language)}


def judgments_file(data: Data, language: str) -> Path:
    """The file of judgments, of the first of the datasets that has one."""
    return _first(data, language, QRELS, "judgments, named *qrels*")[1]


def topics_file(data: Data, language: str) -> tuple[str, Path]:
    """(dataset, its file of topics), of the first of the datasets that has one."""
    return _first(data, language, TOPICS, "topics, named *topics*")


def files_named(data: Data, language: str, wanted: re.Pattern[str]) -> list[tuple[str, Path]]:
    """(dataset, file) of all that bear such a name (`QRELS`, `TOPICS`), where a collection has several."""
    given = folders(data, language) if data else {}
    return [(dataset, path) for dataset, folder in given.items() for path in _named(folder, wanted)]


def has_topics(data: Data, language: str) -> bool:
    """Whether topics are among what was given; judgments may be given alone."""
    return any(_named(folder, TOPICS) for folder in folders(data, language).values())


def layout(dataset: str) -> Collection:
    """What the catalogue says of how a dataset's texts are written."""
    known = catalogue.entries(Dataset)
    return (known[dataset].collection if dataset in known else None) or Collection()


def all_documents(data: Data, language: str) -> Iterator[tuple[Text, Document]]:
    """Every document with how its text is read, those of one id that comes again included; files by their names."""
    for dataset, folder in folders(data, language).items():
        facts = layout(dataset)
        text = Text(facts.tags or TAGS, facts.encoding)
        for path in _document_files(folder, facts.documents):
            yield from ((text, document) for document in documents(path))


def _document_files(folder: Path, patterns: list[str]) -> list[Path]:
    if folder.is_file():
        return [] if role(folder) else [folder]
    return [Path(path) for path in document_files(sorted(str(path) for path in below(folder)), patterns)]


def _named(folder: Path, wanted: re.Pattern[str]) -> list[Path]:
    if folder.is_file():
        actual = role(folder) or (QRELS if _looks_judged(folder) else None)
        return [folder] if actual is wanted else []
    return sorted(path for path in below(folder) if role(path) is wanted)


@cache
def _looks_judged(path: Path) -> bool:
    """Whether a file that is given itself, under any name, is one of judgments."""
    columns = next((line.split() for _, line in lines(path) if line.strip()), [])
    return len(columns) == 4 and re.fullmatch(r"[+-]?[0-9]+", columns[3]) is not None


def _first(data: Data, language: str, wanted: re.Pattern[str], what: str) -> tuple[str, Path]:
    given = folders(data, language)
    for dataset, folder in given.items():
        if _named(folder, wanted):
            return dataset, folder if folder.is_file() else _the_one(folder, wanted, what)
    raise SteleError(f"{', '.join(map(str, given.values()))}: want one file of {what}; found none")


def _the_one(folder: Path, wanted: re.Pattern[str], what: str) -> Path:
    files = _named(folder, wanted)
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file of {what}; found {names}. Keep one there, or give the file itself")
    return files[0]

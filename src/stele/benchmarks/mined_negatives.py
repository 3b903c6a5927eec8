"""Mined hard negatives as files: what a search found for the questions of a training set, to be read while fine-tuning.

A folder with its record and, for each collection (the language of its questions):

    {collection}.passages.parquet    id, title, text: every passage that is a negative of some question, once
    {collection}.questions.parquet   question, passages (int32 list: lines of the other file, the best found first)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stele.artifacts.records import read_record
from stele.benchmarks._tables import typed_columns
from stele.benchmarks.types import Passage, TrainingExample
from stele.errors import SteleError
from stele.files.reading import reading

KIND, AGAIN = "Parquet file", "mine the negatives again"
PASSAGES, QUESTIONS = "{collection}.passages.parquet", "{collection}.questions.parquet"


class MinedNegatives:
    """The negatives of a record, looked up by a question's language and text; a file is read when it is needed."""

    def __init__(self, record: Path) -> None:
        self.record, self.folder = record, record.parent
        self.collections: dict[str, dict] = read_record(record).get("pools", {})
        if not self.collections or not isinstance(self.collections, dict):
            raise SteleError(f"{record}: not a record of mined negatives; `stele retrieval hard_negatives` writes one")
        self._read: dict[str, _Negatives] = {}

    def of(self, language: str, question: str) -> list[Passage] | None:
        """The negatives of a question, the best found first; None where none were mined for it."""
        if language not in self.collections:
            return None
        if language not in self._read:
            self._read[language] = _Negatives(self.folder, language)
        with reading(self.folder / QUESTIONS.format(collection=language), KIND, AGAIN):
            return self._read[language].of(question)


class _Negatives:
    def __init__(self, folder: Path, collection: str) -> None:
        file = folder / PASSAGES.format(collection=collection)
        passages = typed_columns(file, {"id": str, "title": str, "text": str}, AGAIN)
        file = folder / QUESTIONS.format(collection=collection)
        questions = typed_columns(file, {"question": str, "passages": list}, AGAIN)
        self.passages, self.lists = list(passages.values()), questions["passages"]
        self.line = {question: line for line, question in enumerate(questions["question"].to_pylist())}

    def of(self, question: str) -> list[Passage] | None:
        line = self.line.get(question)
        if line is None:
            return None
        lines = self.lists[line].values
        return [Passage(*values) for values in zip(*(c.take(lines).to_pylist() for c in self.passages), strict=True)]


def replaced(
    examples: Iterable[TrainingExample], mined: MinedNegatives, counts: dict[str, int]
) -> Iterator[TrainingExample]:
    """The examples with mined negatives in place of the released ones.

    A question for which none were mined keeps none (its group's other passages are negatives still): the released ones
    would be of another kind. It is counted as `without_mined_negatives`; a record that has none for any is of other
    questions.
    """
    counts["without_mined_negatives"] = with_some = 0
    for example in examples:
        negatives = mined.of(example.language, example.query) or []
        counts["without_mined_negatives"] += not negatives
        with_some += bool(negatives)
        yield example._replace(negatives=negatives)
    if counts["without_mined_negatives"] and not with_some:
        raise SteleError(f"--negatives {mined.record}: has none for any question: it is of another training set")

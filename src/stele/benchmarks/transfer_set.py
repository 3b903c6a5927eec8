"""Training data from searches: transfer sets, and mined hard negatives of another training set.

A transfer set has queries generated for the passages of a language, these passages as positives, and hard negatives.
`stele retrieval title_queries` and `generate_queries` write it as a folder, with two files for each language:

    passages.parquet   id, text: every passage that is a positive or a negative, once
    queries.parquet    query, positive (int32, a row of the other file), negatives (int32 list of rows)

Mined negatives are the passages that a search found for the questions of a training set, in a folder with its record.
Each collection (the language of its questions) has two files:

    {collection}.passages.parquet    id, title, text: every passage that is a negative of some question, once
    {collection}.questions.parquet   question, passages (int32 list: rows of the other file, best hit first)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from stele.artifacts.records import read_record
from stele.benchmarks._files import located
from stele.benchmarks.reader import TrainingReader
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError
from stele.files.reading import reading

PASSAGES, QUERIES = "passages.parquet", "queries.parquet"
AGAIN = "make the transfer set again"
GROUP = 2_000  # passages in a row group
MINED_PASSAGES, MINED_QUESTIONS = "{collection}.passages.parquet", "{collection}.questions.parquet"
MINE_AGAIN = "mine the negatives again"


class TransferSet(TrainingReader):
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields all languages' examples in file order, without titles. Raises SteleError for a split but train."""
        if split != "train":
            raise SteleError(f"a transfer set has no split {split!r}; valid: train")
        for parts in data.values():
            for language, folder in parts.items():
                yield from _examples(folder, language)


def _examples(folder: Path, language: str) -> Iterator[TrainingExample]:
    path = located(folder, QUERIES)
    with reading(path, "Parquet file", AGAIN):
        ids, texts = _columns(located(folder, PASSAGES), AGAIN, "id", "text")
        for query, positive, negatives in zip(*_columns(path, AGAIN, "query", "positive", "negatives"), strict=True):
            lines = [positive.as_py(), *negatives.as_py()]
            named = [Passage(ids[line].as_py(), "", texts[line].as_py()) for line in lines]
            yield TrainingExample(query.as_py(), named[:1], named[1:], language)


def _columns(path: Path, advice: str, *names: str) -> list[Any]:
    """Reads columns of a Parquet file, in the order of their names, as arrays of Arrow."""
    import pyarrow.parquet

    with reading(path, "Parquet file", advice):
        return pyarrow.parquet.read_table(path, columns=[*names]).select(names).combine_chunks().columns


def write_set(
    folder: Path,
    passages: Iterable[tuple[str, str]],
    queries: Sequence[str],
    positives: Sequence[int],
    negatives: Iterable[Sequence[int]],
) -> None:
    """Writes the two files of a transfer set: passages (id, text), and queries with the rows of their passages.

    Memory is bounded by a row group and the queries.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({"id": pa.large_string(), "text": pa.large_string()})
    passages = iter(passages)
    with pq.ParquetWriter(folder / PASSAGES, schema, compression="zstd") as writer:
        while group := list(islice(passages, GROUP)):
            writer.write_table(pa.table([list(column) for column in zip(*group, strict=True)], schema=schema))
    table = {
        "query": pa.array(queries, pa.large_string()),
        "positive": pa.array(positives, pa.int32()),
        "negatives": pa.array(list(negatives), pa.list_(pa.int32())),
    }
    pq.write_table(pa.table(table), folder / QUERIES, compression="zstd")


class MinedNegatives:
    """Mined negatives of a record, looked up by a question's language and text; files are read on demand."""

    def __init__(self, record: Path) -> None:
        self.record, self.folder = record, record.parent
        self.collections: dict[str, dict] = read_record(record).get("pools", {})
        if not self.collections or not isinstance(self.collections, dict):
            raise SteleError(f"{record}: not a record of mined negatives; `stele retrieval hard_negatives` writes one")
        self._read: dict[str, tuple[list, Any, dict[str, int]]] = {}

    def of(self, language: str, question: str) -> list[Passage] | None:
        """Negatives of a question, the best hit first; None if none were mined. Raises SteleError for a bad file."""
        if language not in self.collections:
            return None
        path = self.folder / MINED_QUESTIONS.format(collection=language)
        with reading(path, "Parquet file", MINE_AGAIN):
            if language not in self._read:
                file = self.folder / MINED_PASSAGES.format(collection=language)
                passages = _columns(file, MINE_AGAIN, "id", "title", "text")
                questions, lists = _columns(path, MINE_AGAIN, "question", "passages")
                line_of = {question: line for line, question in enumerate(questions.to_pylist())}
                self._read[language] = passages, lists, line_of
            columns, lists, line_of = self._read[language]
            if question not in line_of:
                return None
            lines = lists[line_of[question]].values
            return [Passage(*values) for values in zip(*(c.take(lines).to_pylist() for c in columns), strict=True)]


def replaced(
    examples: Iterable[TrainingExample], mined: MinedNegatives, counts: dict[str, int]
) -> Iterator[TrainingExample]:
    """Replaces the released negatives of the examples by mined ones.

    A question without mined negatives gets none, because the released ones would be of another kind (the other passages
    of its group still are negatives); `counts` has their number as `without_mined_negatives`. Raises SteleError if the
    record has negatives for no question.
    """
    counts["without_mined_negatives"] = with_some = 0
    for example in examples:
        negatives = mined.of(example.language, example.query) or []
        counts["without_mined_negatives"] += not negatives
        with_some += bool(negatives)
        yield example._replace(negatives=negatives)
    if counts["without_mined_negatives"] and not with_some:
        raise SteleError(f"--negatives {mined.record}: no question has negatives in it; it is of another training set")

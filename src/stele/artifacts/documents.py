"""Documents, which corpora write and mining reads, as Parquet shards of one schema.

A Document is one page or one web text of one language. It holds its sentences in reading order, the numbers of the
sentences at which paragraphs and sections begin, and its links. Sentences are counted from 0; the span of a link is
half-open and counts Unicode characters within its sentence.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stele.errors import SteleError
from stele.files.reading import reading

_SECTION = pa.struct([("title", pa.string()), ("first_sentence", pa.int32())])
_LINK = pa.struct([("sentence", pa.int32()), ("start", pa.int32()), ("end", pa.int32()), ("target", pa.string())])
SCHEMA = pa.schema(
    [
        ("language", pa.string()),
        ("doc_id", pa.string()),
        ("title", pa.string()),
        ("sentences", pa.list_(pa.string())),
        ("paragraphs", pa.list_(pa.int32())),
        ("sections", pa.list_(_SECTION)),
        ("links", pa.list_(_LINK)),
    ]
)
SHARD_CHARACTERS = 1 << 27  # text of one shard: some 60 MB on disk
GROUP_CHARACTERS = 1 << 21  # text of one row group: what a writer or a reader holds in memory
GROUP_DOCUMENTS = 1000
GROUP_ROWS = 100_000  # rows of a group in other files, such as redirects


class Section(NamedTuple):
    """A heading, "" for one whose text is unknown, and the number of the first sentence under it."""

    title: str
    first_sentence: int


class Link(NamedTuple):
    """A link: characters [start, end) of a sentence point to the page `target`."""

    sentence: int
    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class Document:
    """One page or web text; `title` is "" for a text without a title."""

    language: str
    doc_id: str
    sentences: list[str]
    paragraphs: list[int]
    title: str = ""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()

    def check(self) -> None:
        """Raises SteleError if an id, the language or a sentence is empty, or a position is invalid or out of order."""
        size = len(self.sentences)
        if not self.doc_id or not self.language:
            raise self._error("has no doc_id or no language")
        if not size or not all(self.sentences):
            raise self._error("has no sentences, or an empty sentence")
        if not self.paragraphs or self.paragraphs[0] != 0 or not _ascending(self.paragraphs, size, strictly=True):
            raise self._error(f"has paragraphs {self.paragraphs[:8]}; want 0 first, then ascending below {size}")
        if not _ascending([section.first_sentence for section in self.sections], size, strictly=False):
            raise self._error(f"has sections {self.sections[:8]}; want first sentences ascending below {size}")
        for link in self.links:
            sentence, start, end, _ = link
            if not (0 <= sentence < size and 0 <= start < end <= len(self.sentences[sentence])):
                raise self._error(f"has a link outside its text: {link}")

    def _error(self, what: str) -> SteleError:
        return SteleError(f"document {self.doc_id!r} ({self.language}) {what}")


def _ascending(numbers: list[int], below: int, strictly: bool) -> bool:
    ordered = all(a < b if strictly else a <= b for a, b in pairwise(numbers))
    return ordered and (not numbers or (numbers[0] >= 0 and numbers[-1] < below))


class DocumentWriter:
    """Writes documents of one language into shards of bounded size; memory is bounded by one row group.

    >>> with DocumentWriter(folder) as writer:  # doctest: +SKIP
    ...     writer.add(document)
    >>> writer.counts  # doctest: +SKIP
    {"documents": 1, "paragraphs": 2, "sentences": 5, "characters": 301, "links": 3, "shards": 1}
    """

    def __init__(self, folder: Path | str, shard_characters: int = SHARD_CHARACTERS) -> None:
        self.folder, self.shard_characters = Path(folder), shard_characters
        self.counts = dict.fromkeys(("documents", "paragraphs", "sentences", "characters", "links", "shards"), 0)
        self._rows: list[Document] = []
        self._waiting = self._in_shard = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, document: Document) -> None:
        """Adds one document. Raises SteleError if it breaks a rule of the schema (`Document.check`)."""
        document.check()
        characters = sum(map(len, document.sentences))
        self.counts["documents"] += 1
        self.counts["paragraphs"] += len(document.paragraphs)
        self.counts["sentences"] += len(document.sentences)
        self.counts["characters"] += characters
        self.counts["links"] += len(document.links)
        self._rows.append(document)
        self._waiting += characters
        if self._waiting >= GROUP_CHARACTERS or len(self._rows) >= GROUP_DOCUMENTS:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            path = self.folder / f"shard-{self.counts['shards']:05d}.parquet"
            self._writer = pq.ParquetWriter(path, SCHEMA, compression="zstd", use_dictionary=["language"])
            self.counts["shards"] += 1
        self._writer.write_table(_table(self._rows))
        self._in_shard += self._waiting
        self._rows, self._waiting = [], 0
        if self._in_shard >= self.shard_characters:
            self._close_shard()

    def _close_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer, self._in_shard = None, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: type | None, *_: object) -> None:
        if failed is None:
            self._flush()
            if not self.counts["shards"]:  # a language without a single document still has a readable shard
                pq.write_table(_table([]), self.folder / "shard-00000.parquet", compression="zstd")
                self.counts["shards"] = 1
        self._close_shard()


class RowWriter:
    """Writes rows of strings into one Parquet file; memory is bounded by one row group."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.rows = 0
        self._schema = pa.schema([(name, pa.string()) for name in columns])
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", use_dictionary=False)
        self._waiting: list[Sequence[str]] = []

    def add(self, row: Sequence[str]) -> None:
        self.rows += 1
        self._waiting.append(row)
        if len(self._waiting) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        columns = zip(*self._waiting, strict=True) if self._waiting else [()] * len(self._schema)
        self._writer.write_table(pa.table([_column(c, pa.string()) for c in columns], schema=self._schema))
        self._waiting = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: type | None, *_: object) -> None:
        if failed is None and (self._waiting or not self.rows):
            self._flush()
        self._writer.close()


def _table(rows: list[Document]) -> pa.Table:
    return pa.table(
        [_column([getattr(row, field.name) for row in rows], field.type) for field in SCHEMA], schema=SCHEMA
    )


def _column(values: Sequence, kind: pa.DataType) -> pa.Array:
    """Builds an Arrow array from texts, integers, tuples in the order of a struct's fields, or lists of any of these.

    It is twice as fast as pyarrow.array, which also imports pandas and so costs every job half a second.
    """
    if pa.types.is_struct(kind):
        columns = zip(*values, strict=True) if values else [()] * kind.num_fields
        fields = list(kind)
        parts = [_column(column, field.type) for column, field in zip(columns, fields, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=fields)
    if pa.types.is_integer(kind):
        numbers = np.fromiter(values, kind.to_pandas_dtype(), len(values))
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(numbers)])
    if pa.types.is_string(kind):
        values = [text.encode() for text in values]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=offsets[1:])
    if pa.types.is_string(kind):
        data = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
        return pa.Array.from_buffers(kind, len(values), data)
    items = _column(list(chain.from_iterable(values)), kind.value_type)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(offsets)], children=[items])


def document_shards(record: Path | str) -> list[Path]:
    """Lists the Parquet shards beside a record of documents, in order. Raises SteleError if there are none."""
    folder = Path(record).parent if Path(record).suffix == ".json" else Path(record)
    shards = sorted(folder.glob("shard-*.parquet"))
    if not shards:
        raise SteleError(f"{folder}: no documents here (found no shard-*.parquet); build the corpus first")
    return shards


def read_batches(record: Path | str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yields `columns` (as "links.list.element.target") of all documents in order. Raises SteleError for damage."""
    for path in document_shards(record):
        with reading(path, "Parquet file", "delete its folder and build it again"), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            wrong = [f.name for f in SCHEMA if f.name not in schema.names or schema.field(f.name).type != f.type]
            if wrong:
                raise SteleError(f"{path}: column {wrong[0]!r} is missing or of the wrong type; build the corpus again")
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group, columns=columns).combine_chunks().to_batches()


def read_documents(record: Path | str) -> Iterator[Document]:
    """Yields all documents of a corpus in order, from its record or folder. Raises SteleError as `read_batches`."""
    for batch in read_batches(record, SCHEMA.names):
        for row in batch.to_pylist():
            row["sections"] = tuple(Section(**section) for section in row["sections"])
            row["links"] = tuple(Link(**link) for link in row["links"])
            yield Document(**row)


def read_sentences(record: Path | str) -> Iterator[tuple[str, list[str]]]:
    """Yields (doc_id, sentences) of every document in order, several times faster than whole documents."""
    for batch in read_batches(record, ["doc_id", "sentences"]):
        yield from zip(batch.column("doc_id").to_pylist(), batch.column("sentences").to_pylist(), strict=True)


def read_chosen(sources: Iterable[Path | str], numbers: Sequence[int]) -> Iterator[tuple[list[str], list[int]]]:
    """Yields (sentences, first sentences of sections) of the documents with these ascending, distinct `numbers`.

    Documents are counted from 0 through all `sources`. Raises SteleError for a number beyond the last document.
    """
    for chosen in _chosen(sources, numbers, ["sentences", "sections"]):
        begins = _of_sections(chosen, "first_sentence")
        yield from zip(chosen.column("sentences").to_pylist(), begins.to_pylist(), strict=True)


def read_headings(sources: Iterable[Path | str], numbers: Sequence[int]) -> Iterator[tuple[list[str], list[int]]]:
    """Yields (section headings, first sentences of sections) of the documents that `read_chosen` yields."""
    for chosen in _chosen(sources, numbers, ["sections"]):
        columns = (_of_sections(chosen, name).to_pylist() for name in ("title", "first_sentence"))
        yield from zip(*columns, strict=True)


def _chosen(sources: Iterable[Path | str], numbers: Sequence[int], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yields some columns of some documents in batches. Raises SteleError for a number beyond the last document."""
    first = done = 0
    for batch in chain.from_iterable(read_batches(source, columns) for source in sources):
        last = bisect_left(numbers, first + len(batch), done)
        if last > done:
            yield batch.take(pa.array([int(number) - first for number in numbers[done:last]], pa.int32()))
        first, done = first + len(batch), last
    if done < len(numbers):
        raise SteleError(f"found {first} documents; {len(numbers) - done} are missing, from number {numbers[done]} on")


def _of_sections(batch: pa.RecordBatch, name: str) -> pa.ListArray:
    """One field of the sections of each document, as lists by document."""
    sections = batch.column("sections")
    return pa.ListArray.from_arrays(sections.offsets, sections.values.field(name))

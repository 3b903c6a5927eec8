"""Documents: what corpora write and mining reads, as Parquet shards of one schema.

A Document is one page or one web text of one language: sentences in reading order, where its paragraphs and sections
begin among them, and the links with their character spans. Positions are sentence numbers; spans are half-open and
count Unicode characters within their sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from stele.errors import SteleError

_SECTION = pa.struct([("title", pa.string()), ("first_sentence", pa.int32())])
_LINK = pa.struct([("sentence", pa.int32()), ("start", pa.int32()), ("end", pa.int32()), ("target", pa.string())])
SCHEMA = pa.schema(
    [
        ("language", pa.string()),
        ("doc_id", pa.string()),
        ("title", pa.string()),
        ("entity", pa.string()),
        ("sentences", pa.list_(pa.string())),
        ("paragraphs", pa.list_(pa.int32())),
        ("sections", pa.list_(_SECTION)),
        ("links", pa.list_(_LINK)),
    ]
)
SHARD_CHARACTERS = 1 << 27  # text of one shard: some 60 MB on disk
GROUP_CHARACTERS = 1 << 21  # text of one row group: what a writer or a reader holds in memory
GROUP_DOCUMENTS = 1000


class Section(NamedTuple):
    """A heading and the number of the first sentence under it."""

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
    """One page or web text; `title` is "" where there is none, and so is `entity`, which no corpus fills yet."""

    language: str
    doc_id: str
    sentences: list[str]
    paragraphs: list[int]
    title: str = ""
    entity: str = ""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()

    def check(self) -> None:
        """Raises SteleError when a position points outside the text or is out of order."""
        size = len(self.sentences)
        if not self.doc_id or not self.language:
            raise self._error("has no doc_id or no language")
        if not size or not all(self.sentences):
            raise self._error("has no sentences or an empty one")
        if not self.paragraphs or self.paragraphs[0] != 0 or not _ascending(self.paragraphs, size, strictly=True):
            raise self._error(f"has paragraphs {self.paragraphs[:8]}, want 0 first and ascending below {size}")
        if not _ascending([section.first_sentence for section in self.sections], size, strictly=False):
            raise self._error(f"has sections that are not ascending below {size}: {self.sections[:8]}")
        for link in self.links:
            if not (0 <= link.sentence < size and 0 <= link.start < link.end <= len(self.sentences[link.sentence])):
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
        """Takes one document; a document that breaks the schema's rules is refused."""
        document.check()
        characters = sum(map(len, document.sentences))
        for key, amount in (
            ("documents", 1),
            ("paragraphs", len(document.paragraphs)),
            ("sentences", len(document.sentences)),
            ("characters", characters),
            ("links", len(document.links)),
        ):
            self.counts[key] += amount
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

    def __enter__(self) -> DocumentWriter:
        return self

    def __exit__(self, failed: type | None, *_: object) -> None:
        if failed is None:
            self._flush()
            if not self.counts["shards"]:  # a language without a single document still has a readable shard
                pq.write_table(_table([]), self.folder / "shard-00000.parquet", compression="zstd")
                self.counts["shards"] = 1
        self._close_shard()


def _table(rows: list[Document]) -> pa.Table:
    columns = {name: [getattr(row, name) for row in rows] for name in SCHEMA.names}
    columns["sections"] = [[section._asdict() for section in sections] for sections in columns["sections"]]
    columns["links"] = [[link._asdict() for link in links] for links in columns["links"]]
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def document_shards(record: Path | str) -> list[Path]:
    """The Parquet shards beside a record of documents, in order; none is an error."""
    folder = Path(record).parent if Path(record).suffix == ".json" else Path(record)
    shards = sorted(folder.glob("shard-*.parquet"))
    if not shards:
        raise SteleError(f"{folder}: no documents here (found no shard-*.parquet); build the corpus first")
    return shards


def _batches(record: Path | str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    for path in document_shards(record):
        try:
            with pq.ParquetFile(path) as file:
                found = file.schema_arrow
                wrong = [f.name for f in SCHEMA if f.name not in found.names or found.field(f.name).type != f.type]
                if wrong:
                    raise SteleError(
                        f"{path}: column {wrong[0]!r} is missing or of another type; build the corpus again"
                    )
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group, columns=columns).combine_chunks().to_batches()
        except (pa.ArrowException, OSError) as error:
            raise SteleError(f"{path}: damaged Parquet file ({error}); delete its folder and build it again") from None


def read_documents(record: Path | str) -> Iterator[Document]:
    """All documents of a corpus in order, from its record (or folder); damaged shards are an error that names them."""
    for batch in _batches(record, SCHEMA.names):
        for row in batch.to_pylist():
            row["sections"] = tuple(Section(**section) for section in row["sections"])
            row["links"] = tuple(Link(**link) for link in row["links"])
            yield Document(**row)


def read_sentences(record: Path | str) -> Iterator[tuple[str, list[str]]]:
    """(doc_id, sentences) of every document in order; reads nothing else, which is several times faster."""
    for batch in _batches(record, ["doc_id", "sentences"]):
        yield from zip(batch.column("doc_id").to_pylist(), batch.column("sentences").to_pylist(), strict=True)

"""Layouts of training sets and their collections: DPR's, Tevatron's, and Wikipedia in passages of 100 words.

DPR (facebookresearch/DPR dpr/data/biencoder_data.py): one JSON array of {question, positive_ctxs, negative_ctxs,
hard_negative_ctxs}. The hard negatives are the negatives of a training example; the random `negative_ctxs` are left
aside, as in DPR's recipes (other_negatives 0). A dev example has the first 30 of both kinds, hard ones first: the
average rank has them as candidates (val_av_rank_hard_neg, val_av_rank_other_neg).

Tevatron: JSON lines {query_id, query, positive_passages, negative_passages}, where a passage is {docid, title, text};
a corpus has a passage a line.

Wikipedia, as DPR and XOR-TyDi publish it: tab-separated columns `id text title` with a header. Both files were written
with Python's csv (quotes doubled inside quoted fields), and are read the same way.
"""

from __future__ import annotations

import csv
import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from stele.benchmarks._files import (
    field,
    folder_of,
    identifier,
    json_array,
    json_lines,
    located,
    optional,
    tsv_rows,
)
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError
from stele.files.reading import open_bytes, reading
from stele.progress import bar

logger = logging.getLogger(__name__)

DEV = 30  # negatives of each kind
CHUNK = 100_000  # lines between two looks at how far the reading is


def with_positives(examples: Iterable[TrainingExample], path: Path, kind: str) -> Iterator[TrainingExample]:
    """The examples that have a positive passage; the log says how many of the `kind` ("queries") were left out."""
    without = 0
    for example in examples:
        if example.positives:
            yield example
        else:
            without += 1
    if without:
        logger.info("%s: %d %s without a positive passage were left out", path, without, kind)


def dpr_examples(path: Path, language: str, split: str) -> Iterator[TrainingExample]:
    """Streams the examples; questions without a positive are left out (as DPR does) and counted.

    An item's own `lang` comes before `language`.
    """
    return with_positives(_dpr_items(path, language, split), path, "questions")


def _dpr_items(path: Path, language: str, split: str) -> Iterator[TrainingExample]:
    for where, item in json_array(path):
        positives = [_dpr_passage(p, where) for p in field(item, "positive_ctxs", list, where)]
        listed = field(item, "hard_negative_ctxs", list, where)
        if split == "dev":
            listed = listed[:DEV] + field({"negative_ctxs": [], **item}, "negative_ctxs", list, where)[:DEV]
        negatives = [_dpr_passage(p, where) for p in listed]
        spoken = str(item.get("lang") or language).strip()
        yield TrainingExample(field(item, "question", str, where), positives, negatives, spoken)


def _dpr_passage(item: Any, where: str) -> Passage:
    if not isinstance(item, dict):
        raise SteleError(f"{where}: a passage must be an object, found {type(item).__name__}")
    title, text = optional(item, "title", str, where), field(item, "text", str, where)
    docid = item.get("passage_id") or item.get("psg_id") or item.get("docid")
    return Passage(str(docid) if docid else _content_id(title, text), title, text)


def _content_id(title: str, text: str) -> str:
    """An id for a passage that has none: the same for the same content, so that duplicates are still seen."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def tevatron_examples(path: Path, language: str) -> Iterator[TrainingExample]:
    """Streams the examples of a file; a query without a positive passage is left out and counted."""
    return with_positives(_tevatron_items(path, language), path, "queries")


def _tevatron_items(path: Path, language: str) -> Iterator[TrainingExample]:
    for where, item in json_lines(path):
        positives = [_tevatron_passage(p, where) for p in field(item, "positive_passages", list, where)]
        negatives = [_tevatron_passage(p, where) for p in optional(item, "negative_passages", list, where)]
        yield TrainingExample(field(item, "query", str, where), positives, negatives, language)


def _tevatron_passage(item: Any, where: str) -> Passage:
    if not isinstance(item, dict):
        raise SteleError(f"{where}: a passage must be an object, found {type(item).__name__}")
    if not item.get("text"):
        raise SteleError(f"{where}: passage {item.get('docid')!r} has no text: this split names its passages only")
    docid = identifier(item.get("docid"), where, "docid")
    return Passage(docid, optional(item, "title", str, where), field(item, "text", str, where))


class HundredWordsReader(RetrievalReader):
    """A benchmark over one file of Wikipedia in passages of 100 words: its dataset, and its name there."""

    DATASET: ClassVar[str]
    FILE: ClassVar[str]

    def path(self, data: Data, collection: str) -> Path:
        return located(folder_of(data, self.DATASET, collection), self.FILE)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        return w100_passages(self.path(data, collection))

    def texts(self, data: Data, collection: str, ids: Collection[str]) -> dict[str, str]:
        return w100_texts(self.path(data, collection), ids)


def w100_passages(path: Path) -> Iterator[Passage]:
    """Streams the passages of a file; the header line (`id text title`) is passed over."""
    for where, (docid, text, title) in tsv_rows(path, 3):
        if docid != "id":
            yield Passage(identifier(docid, where), title, text)


def w100_texts(path: Path, ids: Collection[str]) -> dict[str, str]:
    """The texts (without titles) of some passages, in one pass over the file.

    Only the lines whose id is wanted are parsed: at 18 million lines that is the difference between reading
    and parsing. A file with a quoted line break is read in full instead.
    """
    by_id = _scan(path, ids)
    if by_id is None:
        by_id = {p.id: p.text for p in w100_passages(path) if p.id in ids}
    if len(by_id) < len(ids):
        missing = min(set(ids) - by_id.keys())
        raise SteleError(f"{path}: no passage {missing!r}, which the run retrieved; give the searched collection")
    return by_id


def _scan(path: Path, ids: Collection[str]) -> dict[str, str] | None:
    wanted = {name.encode() for name in ids}
    by_id: dict[str, str] = {}
    with (
        reading(path),
        open_bytes(path) as handle,
        bar(path.stat().st_size, f"read {path.name}", "B") as shown,
    ):
        packed = getattr(handle, "fileobj", handle)  # the place in the file itself, gzipped or not
        for number, line in enumerate(handle):
            if number % CHUNK == 0:
                shown.update(packed.tell() - shown.n)
            if b'\t"' in line and line.count(b'"') % 2:
                return None  # a quoted field goes on in the next line
            docid = line[: line.find(b"\t")].strip(b'"')
            if docid in wanted:
                row = next(csv.reader([line.decode("utf-8")], delimiter="\t"))
                by_id[row[0]] = row[1]
    return by_id

"""Read training sets and their collections: DPR's and Tevatron's layouts, and Wikipedia in passages of 100 words.

DPR (facebookresearch/DPR dpr/data/biencoder_data.py): one JSON array of {question, positive_ctxs, negative_ctxs,
hard_negative_ctxs}. A training example's negatives are the hard ones; the random `negative_ctxs` are not used, as in
DPR's recipes (other_negatives 0). A dev example has the first 30 of both kinds, hard ones first: they are candidates
of the average rank (val_av_rank_hard_neg, val_av_rank_other_neg).

Tevatron: JSON lines {query_id, query, positive_passages, negative_passages}, where a passage is {docid, title, text};
a corpus has one passage on each line.

Wikipedia, as DPR and XOR-TyDi publish it, has tab-separated columns `id text title` with a header. Both files were
written with Python's csv (quotes doubled inside quoted fields), and are read in the same way.
"""

import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from stele.benchmarks._files import (
    checked_object,
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
from stele.progress import track

logger = logging.getLogger(__name__)

DEV = 30  # negatives of each kind
BLOCK = 1 << 24  # bytes of a file of passages that are parsed at a time


def with_positives(examples: Iterable[TrainingExample], path: Path, kind: str) -> Iterator[TrainingExample]:
    """Yields the examples with a positive passage; logs how many of the `kind` ("queries") were left out."""
    without = 0
    for example in examples:
        if example.positives:
            yield example
        else:
            without += 1
    if without:
        logger.info("%s: %d %s without a positive passage were left out", path, without, kind)


def dpr_examples(path: Path, language: str, split: str) -> Iterator[TrainingExample]:
    """Streams DPR's examples; leaves out questions without a positive, as DPR does, and logs their number.

    An item's own `lang` has priority over `language`.
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
    text, title = field(item, "text", str, where), optional(item, "title", str, where)
    docid = item.get("passage_id") or item.get("psg_id") or item.get("docid")
    return Passage(str(docid) if docid else content_id(title, text), title, text)


def content_id(title: str, text: str) -> str:
    """Makes the id of a passage without one from its content, so that duplicates are still recognised."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def tevatron_examples(path: Path, language: str) -> Iterator[TrainingExample]:
    """Streams Tevatron's examples, empty passages included, as Tevatron reads them.

    It leaves out queries without a positive passage and logs their number. Raises SteleError if all positives of a
    query are empty.
    """
    return with_positives(_tevatron_items(path, language), path, "queries")


def _tevatron_items(path: Path, language: str) -> Iterator[TrainingExample]:
    for where, item in json_lines(path):
        positives = [_tevatron_passage(p, where) for p in field(item, "positive_passages", list, where)]
        if positives and not any(passage.title or passage.text for passage in positives):
            raise SteleError(f"{where}: passage {positives[0].id!r} has no text: this split has only ids of passages")
        negatives = [_tevatron_passage(p, where) for p in optional(item, "negative_passages", list, where)]
        yield TrainingExample(field(item, "query", str, where), positives, negatives, language)


def _tevatron_passage(item: Any, where: str) -> Passage:
    docid = identifier(checked_object(item, where).get("docid"), where, "docid")
    text = field(item, "text", str, where) if item.keys() & {"title", "text"} else ""
    return Passage(docid, optional(item, "title", str, where), text)


class HundredWordsReader(RetrievalReader):
    """A benchmark over Wikipedia in passages of 100 words: the file FILE of the dataset DATASET."""

    DATASET: ClassVar[str]
    FILE: ClassVar[str]

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the passages of the file; skips the header line (`id text title`)."""
        for where, (docid, text, title) in tsv_rows(self._path(data, collection), 3):
            if docid != "id":
                yield Passage(identifier(docid, where), title, text)

    def texts(self, data: Data, collection: str, ids: Collection[str]) -> dict[str, str]:
        """Texts (without titles) of the passages with these ids. Raises SteleError if one is missing."""
        import pyarrow as pa
        from pyarrow import compute, csv

        path, wanted, by_id = self._path(data, collection), pa.array([*ids], pa.string()), {}
        columns = dict.fromkeys(("id", "text", "title"), pa.string())
        with reading(path), open_bytes(path) as handle:
            batches = csv.open_csv(
                handle,
                csv.ReadOptions(block_size=BLOCK, column_names=[*columns]),
                csv.ParseOptions(delimiter="\t", newlines_in_values=True),
                csv.ConvertOptions(column_types=columns),
            )
            for batch in track(batches, None, f"read {path.name}", unit="block"):
                chosen = batch.filter(compute.is_in(batch["id"], wanted))
                by_id.update(zip(chosen["id"].to_pylist(), chosen["text"].to_pylist(), strict=True))
        if len(by_id) < len(ids):
            missing = min(set(ids) - by_id.keys())
            raise SteleError(f"{path}: no passage {missing!r}, which the run retrieved; give the searched collection")
        return by_id

    def _path(self, data: Data, collection: str) -> Path:
        return located(folder_of(data, self.DATASET, collection), self.FILE)

"""TREC's layouts: judgments and topics as TSV; a warning names judged documents that a collection lacks."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stele.benchmarks._files import identifier, lines, refuse_again
from stele.benchmarks.types import Passage, Query
from stele.errors import SteleError

logger = logging.getLogger(__name__)

SHOWN = 3  # ids in a message
_COLUMN = re.compile(r"[^ \t\r\f\v]+")  # as C's isspace parts them: an id may hold other white space


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query id -> {document id: relevance} of lines `query iteration document relevance`, parted by blanks or tabs.

    Relevance 0 and below (TREC's -1 is "not judged") is not relevant. Raises SteleError for another layout, a judgment
    that is there twice, and a file without judgments.
    """
    judged: dict[str, dict[str, int]] = {}
    for number, line in lines(path):
        where, columns = f"{path}, line {number}", _COLUMN.findall(line)
        if not columns:
            continue
        if len(columns) != 4 or not re.fullmatch(r"[+-]?[0-9]{1,9}", columns[3]):
            raise SteleError(f"{where}: want `query 0 document relevance`, found {line[:80]!r}")
        query, _, document, relevance = columns
        refuse_again(document, judged.setdefault(query, {}), where, f"judgment of query {query} on document")
        judged[query][document] = int(relevance)
    if not judged:
        raise SteleError(f"{path}: no judgments")
    return judged


def tsv_topics(path: Path) -> Iterator[Query]:
    """The topics of a file of `id<TAB>text` lines, without quoting; an id twice and a line without text are errors."""
    seen: set[str] = set()
    for number, line in lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        name, _, text = line.partition("\t")
        if not text.strip():
            raise SteleError(f"{where}: want id, tab, text; found {line[:80]!r}")
        seen.add(refuse_again(identifier(name, where), seen, where))
        yield Query(name, text.strip())
    if not seen:
        raise SteleError(f"{path}: no topics")


def warn_missing_judged(
    passages: Iterable[Passage], judgments: Mapping[str, Mapping[str, int]], name: str
) -> Iterator[Passage]:
    """The passages as they come; after the last one a warning of the judged ids that none of them bears.

    Such documents stay judged, as in trec_eval. The judged ids alone are held, a few thousand: a collection may have
    tens of millions. `name` says whose they are.
    """
    lacking = {document for of_query in judgments.values() for document in of_query}
    for passage in passages:
        lacking.discard(passage.id)
        yield passage
    if lacking:
        shown = ", ".join(sorted(lacking)[:SHOWN])
        logger.warning("%s: %d judged documents are not in the collection (%s)", name, len(lacking), shown)

"""Judgments in TREC's layout, `query iteration document relevance` a line, parted by blanks or tabs."""

from __future__ import annotations

import re
from pathlib import Path

from stele.benchmarks._files import lines, refuse_again
from stele.errors import SteleError

_COLUMN = re.compile(r"[^ \t\r\f\v]+")  # as C's isspace parts them: an id may hold other white space


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query id -> {document id: relevance}; relevance 0 and below (TREC's -1 is "not judged") is not relevant."""
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

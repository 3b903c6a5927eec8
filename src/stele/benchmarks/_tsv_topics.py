"""Topics as `id<TAB>text` lines, without quoting (MIRACL, CIRAL)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import identifier, lines, refuse_again
from stele.benchmarks.types import Query
from stele.errors import SteleError


def tsv_topics(path: Path) -> Iterator[Query]:
    """The topics of a file; an id that is there twice and a line without text are errors."""
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

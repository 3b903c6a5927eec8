"""English Wikipedia in passages of 100 words, as DPR and XOR-TyDi publish it.

Tab-separated columns `id text title` with a header. Both files were written with Python's csv (quotes doubled inside
quoted fields), and are read the same way.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from pathlib import Path

from stele.benchmarks._files import identifier, open_bytes, tsv_rows
from stele.benchmarks.types import Passage
from stele.errors import SteleError
from stele.files.reading import reading
from stele.progress import bar

CHUNK = 100_000  # lines between two looks at how far the reading is


def passages(path: Path) -> Iterator[Passage]:
    """Streams the passages of a file; the header line (`id text title`) is passed over."""
    for where, (docid, text, title) in tsv_rows(path, 3):
        if docid != "id":
            yield Passage(identifier(docid, where), title, text)


def texts(path: Path, ids: Collection[str]) -> dict[str, str]:
    """The texts (without titles) of some passages, in one pass over the file.

    Only the lines whose id is wanted are parsed: at 18 million lines that is the difference between reading
    and parsing. A file with a quoted line break is read in full instead.
    """
    by_id = _scan(path, ids)
    if by_id is None:
        by_id = {p.id: p.text for p in passages(path) if p.id in ids}
    if len(by_id) < len(ids):
        missing = min(set(ids) - by_id.keys())
        raise SteleError(f"{path}: no passage {missing!r}, which the run retrieved: the run is of another collection")
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
            docid = line[: line.find(b"\t")]
            if docid in wanted:
                row = next(csv.reader([line.decode("utf-8")], delimiter="\t"))
                by_id[row[0]] = row[1]
    return by_id

"""Documents of which each is a file of its own, put into one file: all jobs would read a record of 831,721 (FIRE)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stele.catalogue.user_data import PACKED
from stele.errors import SteleError
from stele.files.atomic import sha256
from stele.files.reading import reading
from stele.progress import track

_START = re.compile(rb"<DOC(\s[^<>]*)?>", re.IGNORECASE)
_NAMED = re.compile(rb"<DOCNO>|<DOC\s[^<>]*\bid\s*=", re.IGNORECASE)


def pack(folder: Path, names: Sequence[str], into: Path) -> dict[str, Any]:
    """Writes the SGML files `names` of a folder one after the other; returns the facts of the file.

    A document without an id gets the name of its file. An empty file is passed over.
    """
    with open(into / PACKED, "xb") as packed:
        for name in track(names, len(names), "pack documents"):
            with reading(folder / name):
                content = (folder / name).read_bytes()
                content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
            content = content.removeprefix(b"\xef\xbb\xbf").strip()
            if not content:
                continue
            if not (starts := len(_START.findall(content))):
                raise SteleError(f"{folder / name}: no <DOC>; only SGML can be packed (`one_a_file` in the catalogue)")
            if starts == 1 and not _NAMED.search(content):
                own = b'<DOC id="%s">' % Path(name).name.removesuffix(".gz").encode()
                before, after = _START.split(content, maxsplit=1)[::2]
                content = before + own + after
            packed.write(content + b"\n")
    path = into / PACKED
    return {"sha256": sha256(path), "bytes": path.stat().st_size, "name": "", "packed": len(names)}

"""Files of the tests, written as a benchmark publishes them."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

# a file of topics, of TREC's Spanish tracks
SPANISH = """<top>
<num> Number: SP1

<title> Topic: Oposición al TLC
** Opposition to NAFTA

<desc> Description:
Oposición.

** In English, on
two lines

<narr> Narrative: más
</top>
"""


def put(path: Path, content: str | bytes) -> Path:
    """Writes a file, compressed when its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))
    return path


def rows(*items: dict) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)

"""The generated mirror: addresses of its files, its manifest, and the folder that writers fill."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stele.catalogue.datasets import mirror_path
from stele.errors import SteleError
from stele.files.digests import FileFacts
from stele.files.reading import JsonObject

NAME = "manifest.json"
HUB = "huggingface.co"
# training text of stand-ins
CC100 = "https://data.statmt.org/cc-100/{code}.txt.xz"
PARALLEL = "https://generated/parallel/{language}.tsv.gz"


def path_of(mirror: Path | str, url: str) -> Path:
    """Path of the file at `url` in a mirror folder: {mirror}/{host}/{path}.

    >>> path_of("m", "https://dumps.wikimedia.org/swwiki/20220801/a.txt").as_posix()
    'm/dumps.wikimedia.org/swwiki/20220801/a.txt'
    """
    return Path(mirror, mirror_path(url))


XZ_PRESET = 1  # speed: the sixth preset takes four times as long for a tenth less


def compress(name: str, data: bytes) -> bytes:
    """Compresses `data` by the suffix of `name`; the result contains no time stamp and no file name."""
    if name.endswith(".gz"):
        return gzip.compress(data, 5, mtime=0)
    if name.endswith(".xz"):
        return lzma.compress(data, preset=XZ_PRESET)
    if name.endswith(".bz2"):
        return bz2.compress(data)
    return data


def zip_of(members: Mapping[str, bytes]) -> bytes:
    """Makes a zip archive of the members in their order, all dated 1980-01-01."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def tar_of(members: Mapping[str, bytes]) -> bytes:
    """Makes a tar archive of the members in their order, all dated 1970-01-01."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def jsonl(rows: Iterable[JsonObject]) -> bytes:
    """Encodes rows as JSON Lines in UTF-8."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


@dataclass
class Site:
    """A mirror during writing: its folders and the contents of its manifest.

    `files` maps an address to sha256, bytes and `raw_sha256` (that of the uncompressed bytes, equal on every machine);
    `counts` maps dataset -> what is counted -> a number, or a number per language (or per code of upstream's), in the
    shape of the catalogue's `counts: expect`; `licensed` maps dataset -> file -> sha256, bytes.
    """

    mirror: Path
    user_data: Path
    files: dict[str, FileFacts] = field(default_factory=dict)
    counts: dict[str, dict[str, int | dict[str, int]]] = field(default_factory=dict)
    licensed: dict[str, dict[str, FileFacts]] = field(default_factory=dict)

    def put(self, url: str, raw: bytes, packed: bytes | None = None) -> bytes:
        """Writes `raw`, or `packed` (compressed), at a URL; returns its bytes. Raises SteleError for a used URL."""
        if url in self.files:
            raise SteleError(f"{url}: this address is written twice; change one of its writers")
        packed = compress(url, raw) if packed is None else packed
        self.files[url] = _written(path_of(self.mirror, url), packed, raw)
        return packed

    def put_licensed(self, dataset: str, name: str, data: bytes) -> None:
        """Writes a file that upstream gives only on request, from its uncompressed bytes."""
        path = self.user_data / dataset / name
        self.licensed.setdefault(dataset, {})[name] = _written(path, compress(name, data), data)

    def count(self, dataset: str, part: str | None = None, **counts: int) -> None:
        """Records numbers of a dataset's passages, queries, judgments..., in all or in one part (a language)."""
        dataset_counts = self.counts.setdefault(dataset, {})
        for name, number in counts.items():
            if part is None:
                dataset_counts[name] = number
            else:
                dataset_counts.setdefault(name, {})[part] = number


def _written(path: Path, packed: bytes, raw: bytes) -> FileFacts:
    """Writes a file; returns its manifest entry."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed)
    sha256, raw_sha256 = (hashlib.sha256(data).hexdigest() for data in (packed, raw))
    return {"sha256": sha256, "bytes": len(packed), "raw_sha256": raw_sha256}

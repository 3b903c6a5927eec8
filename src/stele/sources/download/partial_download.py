"""What downloads leave on disk, for themselves and for a later process.

A file under way is `{target}.part`, with `{target}.part.json` saying which version of the file it is a piece of. A
finished one is the target, with `{target}.published.json` where the server gave a digest: it still vouches for the file
when another run goes on.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object
from stele.files.strict import Strict, validate
from stele.sources.download.verify import Expected, Mismatch, check

if TYPE_CHECKING:
    from stele.sources.download.fetch import Fetched

log = logging.getLogger(__name__)

STRONG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]+"')  # an ETag that vouches for every byte (RFC 9110, 8.8.3)
Bytes = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Published(Strict):
    """What a server says of the content of a file."""

    sha256: Sha256 | None = None
    bytes: Bytes | None = None


class Version(Published):
    """What tells one version of a file from another, None where the server does not say it.

    `modified` is a date and proves little while it is new (RFC 9110, 8.8.2.2): `settled` says that it is old enough.
    """

    url: str
    etag: str | None = None
    modified: str | None = None
    settled: bool = False
    total: Bytes | None = None

    @property
    def is_strong(self) -> bool:
        """Whether the ETag may go into If-Range."""
        return bool(self.etag and STRONG.fullmatch(self.etag))

    @property
    def is_identified(self) -> bool:
        """Whether a later answer can prove that it is of this version."""
        return self.is_strong or (self.modified is not None and self.settled)

    def differs(self, answer: Version) -> bool:
        """Whether an answer contradicts anything that is known."""
        mine, theirs = self._facts(), answer._facts()
        return any(None not in pair and pair[0] != pair[1] for pair in zip(mine, theirs, strict=True))

    def is_proven_by(self, answer: Version) -> bool:
        """Whether an answer shares a strong validator (RFC 9110, 15.3.7.3) and contradicts nothing."""
        if self.differs(answer):
            return False
        if self.is_strong:
            return answer.etag == self.etag
        same_tag = (self.etag is None) == (answer.etag is None)
        return same_tag and self.settled and self.modified is not None and self.modified == answer.modified

    def followed_by(self, answer: Version) -> Version:
        """What is known after an answer of the same version."""
        update = {key: value for key, value in answer.model_dump().items() if getattr(self, key) in (None, False)}
        return self.model_copy(update=update)

    def published(self) -> Expected:
        return {key: value for key in ("sha256", "bytes") if (value := getattr(self, key)) is not None}

    def _facts(self) -> tuple[str | int | None, ...]:
        tag = self.etag and self.etag.removeprefix("W/")
        return tag, self.modified, self.total, self.sha256, self.bytes


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def note_version(part: Path, version: Version) -> None:
    atomic_write_json(_beside(part, "json"), version.model_dump())


def version_of(part: Path, url: str) -> Version | None:
    """What is known of the version that `part` is a piece of; None where it is unknown or of another address."""
    version = _note(_beside(part, "json"), Version)
    return version if version is not None and version.url == url else None


def _note(path: Path, kind: type[Published]) -> Any:
    """What a download noted in a file: of the `kind`, None where there is no such file, or a damaged one."""
    if not path.exists():
        return None
    try:
        return validate(kind, read_object(path, "note of a download"), path)
    except SteleError as error:
        log.info("%s; fetching from the start", error)
        return None


def discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _beside(part, "json").unlink(missing_ok=True)


def finish(part: Path, target: Path, published: Expected) -> None:
    """Moves a complete file into place; what the server published about it is there before."""
    note = _beside(target, "published.json")
    if published:
        atomic_write_json(note, published)
    else:
        note.unlink(missing_ok=True)
    with open(part, "rb") as handle:
        os.fsync(handle.fileno())
    os.replace(part, target)
    _beside(part, "json").unlink(missing_ok=True)


def finished(target: Path, expected: Expected) -> Fetched | None:
    """What `fetch` returned for a file that an earlier run fetched; None where there is none. A wrong one goes."""
    if not target.is_file():
        return None
    note = _beside(target, "published.json")
    noted = _note(note, Published)
    try:
        if noted is None and note.exists():
            raise Mismatch(f"{note}: damaged")
        published = noted.model_dump(exclude_none=True) if noted else {}
        sha256 = check(target, {**published, **expected})
    except Mismatch:
        target.unlink()
        return None
    return {"sha256": sha256, "bytes": target.stat().st_size, "published": published}


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")

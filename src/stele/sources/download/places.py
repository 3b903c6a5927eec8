"""Fetch a file or its beginning: from the mirrors in their order, then from the network, checked everywhere alike.

A mirror is a folder or an http(s) address; it holds the file https://HOST/PATH at {mirror}/HOST/PATH.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stele.catalogue.datasets import mirror_path
from stele.catalogue.schema.datasets import PartFile
from stele.command.arguments import Job
from stele.errors import SteleError, exhausted
from stele.files.atomic import atomic_file, check_claimable, claim
from stele.sources.download.fetch import fetch, fetch_first, finished, size
from stele.sources.download.http import Failed, NotFound, Policy, Version
from stele.sources.download.verify import Expected, Manifest, Mismatch, check, digests, is_checkable, read_checksums

log = logging.getLogger(__name__)

POLICY = Policy()
DOWNLOADS = "downloads"  # the job that a folder of unfinished downloads is marked with
SMALLEST, LARGEST = 1 << 14, 8 << 20  # bytes of a piece
NAMES = re.compile(r"\.?(beginning-)?[0-9a-f]{12}-[^/]*")  # of unfinished downloads


@dataclass(frozen=True)
class FetchedFile:
    """A fetched file: its path, address and digest, the source that verified the digest, and its origin."""

    path: Path
    url: str
    sha256: str
    bytes: int
    verified: str  # manifest | catalogue | published list | hub | nothing
    origin: str  # mirror | network
    beginning: Mapping[str, Any] | None = None  # facts of a file that was cut: bytes read and counts


@dataclass(frozen=True)
class Places:
    """Sources of files, in the order in which they are tried. With a manifest, only generated files are taken."""

    mirrors: Sequence[str] = ()
    offline: bool = False
    manifest: Manifest | None = None
    state: Path = Path("state")
    policy: Policy = POLICY
    advice: str = "give your own copy"  # ends the error of a failed fetch: what to do without a mirror

    def get(self, file: PartFile, what: str, *, optional: bool = False) -> FetchedFile | None:
        """Fetches one file of the catalogue; `what` names it in errors. Raises SteleError if no source has it intact.

        With `optional`, returns None if every source says that there is no such file, or if upstream's list of
        checksums lacks it.
        """
        try:
            expected, verified = self._expected(file, what)
        except NotFound:
            if optional:
                return None
            raise
        return self._first(file, what, lambda *place: self._take(*place, expected, verified), optional)

    def begin(self, file: PartFile, what: str, use: Callable[[Beginning, Path], Mapping[str, Any]]) -> FetchedFile:
        """Fetches the beginning of a file: `use` reads it, writes a new file to the given path and returns its facts.

        Known digests are of whole files, so the bytes read are not verified; the size of a generated file is compared.
        Raises SteleError if no source succeeds.
        """
        expected = self._generated(file, what) if self.manifest is not None else None

        def take(origin: str, url: str, address: Path | str) -> FetchedFile:
            whole = self._target(url)
            target = whole.with_name(f"beginning-{whole.name}")
            target.unlink(missing_ok=True)  # left by a killed run; its output may be a hard link to it
            # the name of `fetch`'s partial file, which it resumes
            beginning = Beginning(address, whole.with_name(f"{whole.name}.part"), self.policy)
            cut_facts = use(beginning, target)
            if expected is not None and beginning.whole not in (None, expected["bytes"]):
                raise Mismatch(f"{address}: has {beginning.whole:,} bytes, the manifest says {expected['bytes']:,}")
            facts = {**cut_facts, **beginning.facts()}
            return FetchedFile(target, url, digests(target)["sha256"], target.stat().st_size, "nothing", origin, facts)

        return self._first(file, what, take)

    def _first(
        self, file: PartFile, what: str, take: Callable[[str, str, Path | str], FetchedFile], optional: bool = False
    ) -> FetchedFile | None:
        """File that `take` gets from the first of the addresses at which it succeeds."""
        reasons, absent = [], True
        for place in self._addresses(file):
            try:
                return take(*place)
            except (NotFound, Failed, Mismatch) as error:
                reasons.append(str(error))
                absent = absent and isinstance(error, NotFound)
                log.info("%s; looking elsewhere", error)
        if optional and absent:
            return None
        raise SteleError(self._explain(file, what, reasons))

    def _target(self, url: str) -> Path:
        claim(self.state, DOWNLOADS, NAMES.fullmatch)
        end = url.rpartition("/")[2][-80:]  # readable; the digest makes the name unique
        return self.state / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{end}"

    def _generated(self, file: PartFile, what: str) -> Expected:
        if (expected := self.manifest.expected(file.url)) is None:
            raise NotFound(f"{what}: not among the generated data ({self.manifest.path} lacks {file.url})")
        return expected

    def _expected(self, file: PartFile, what: str) -> tuple[Expected, str]:
        """Size and digests that a file must have, and their source. Raises NotFound if the source lacks the file."""
        if self.manifest is not None:
            return self._generated(file, what), "manifest"
        expected = file.expected
        if is_checkable(expected):
            return expected, "catalogue"
        if sums := file.checksums:
            published = PartFile(path=file.path, url=sums.url, alternatives=sums.alternatives)
            got = self.get(published, f"{what} (checksums)", optional=True)
            if got is not None:
                name = file.url.rpartition("/")[2]
                listed = read_checksums(got.path)
                got.path.unlink()  # small; another run should fetch a corrected list
                if name not in listed:
                    raise NotFound(f"{sums.url}: the list has no checksum of {name} (it has {len(listed)} others)")
                return {**expected, sums.algorithm: listed[name]}, "published list"
            log.info("%s: no list of checksums at %s", what, sums.url)
        return expected, "nothing"

    def _addresses(self, file: PartFile) -> Iterator[tuple[str, str, Path | str]]:
        """Yields (origin, upstream address, path or address to try) in the order in which they are tried."""
        for mirror in self.mirrors:
            for url in file.addresses:
                if mirror.startswith(("http://", "https://")):
                    yield "mirror", url, f"{mirror.rstrip('/')}/{quote(mirror_path(url))}"
                else:
                    yield "mirror", url, Path(mirror, mirror_path(url))
        if not self.offline and self.manifest is None:
            for url in file.addresses:
                yield "network", url, url

    def _take(self, origin: str, url: str, address: Path | str, expected: Expected, verified: str) -> FetchedFile:
        target = self._target(url)
        if isinstance(address, Path):
            sha256, published = _copy(address, target, expected), {}
        else:
            sha256, published = finished(target, expected) or fetch(address, target, expected, self.policy)
        if verified == "nothing" and "sha256" in published:
            verified = "hub"
        return FetchedFile(target, url, sha256, target.stat().st_size, verified, origin)

    def _explain(self, file: PartFile, what: str, reasons: Sequence[str]) -> str:
        """Text of the error: why a file could not be fetched, and what the user can do."""
        if self.manifest is not None:
            problem = f"{what}: generated file is missing or damaged; remove {self.manifest.path} and run again"
            return "\n".join([problem, *reasons])
        lines = [f"{what}: could not be fetched from {file.url}", *(f"  tried: {reason}" for reason in reasons)]
        if self.offline:
            lines.append(f"  offline: {file.url} was not tried (offline: true)")
        path = mirror_path(file.url)
        way = f"put it into a folder as {path} and name the folder in config.yaml (mirrors: [FOLDER]), or {self.advice}"
        return "\n".join([*lines, f"  ways out: {way}"])


def _copy(source: Path, target: Path, expected: Expected) -> str:
    if not source.is_file():
        raise NotFound(f"{source}: no such file")
    try:
        with atomic_file(target, "wb") as part:
            shutil.copyfile(source, part.name)
            return check(Path(part.name), expected, name=str(source))
    except OSError as error:
        if exhausted(error):
            raise
        raise Failed(f"{source}: cannot be copied ({error.strerror})") from None


# --- the beginning of a file, read no further than needed ---------------------------------------------------------
class Beginning:
    """File object that is read once from its start, and counts and digests the bytes read.

    The file is a local one, or at an address. It is fetched from there in pieces whose size doubles up to 8 MiB; `part`
    holds the bytes so far. Each range request continues where the last one ended, even one of a killed process. Only
    the bytes read have a digest; the digest of the whole file cannot be checked. `whole` is the size of the whole file
    in bytes, None if unknown. Raises NotFound if there is no local file, and Failed if it cannot be read.
    """

    def __init__(self, address: Path | str, part: Path, policy: Policy) -> None:
        self.address, self.policy = address, policy
        self.is_remote = isinstance(address, str)
        self.file = part if self.is_remote else address
        if not self.is_remote and not address.is_file():
            raise NotFound(f"{address}: no such file")
        self.whole = None if self.is_remote else size(address)
        self._version: Version | None = None
        self._piece, self._position, self._digest = SMALLEST, 0, hashlib.sha256()

    def read(self, number: int) -> bytes:
        if self.is_remote:
            self._fetch(self._position + number)
        try:
            with open(self.file, "rb") as handle:
                handle.seek(self._position)
                data = handle.read(number)
        except OSError as error:
            raise Failed(f"{self.file}: cannot be read ({error.strerror})") from None
        self._position += len(data)
        self._digest.update(data)
        return data

    def facts(self) -> dict[str, Any]:
        """Number of bytes read, their `sha256`, and `of_bytes`, the size of the whole file (None if unknown)."""
        return {"bytes": self._position, "sha256": self._digest.hexdigest(), "of_bytes": self.whole}

    def _fetch(self, needed: int) -> None:
        """Fetches the first `needed` bytes, or all if the file has fewer, unless an earlier request has."""
        while size(self.file) < needed or self._version is None:
            if self.whole is not None and size(self.file) >= self.whole:
                break
            wanted = max(needed, min(size(self.file) + self._piece, self.whole or 1 << 62))
            version = fetch_first(self.address, self.file, wanted, self.policy)
            if not self._goes_on(version):
                raise Failed(f"{self.address}: the server's file has changed while it was read; run again")
            self._version, self.whole = version, version.total
            self._piece = min(2 * self._piece, LARGEST)

    def _goes_on(self, version: Version) -> bool:
        """Whether the bytes read so far belong to `version`, by the server's ETag or else by their digest."""
        if self._version is None or self._version.is_proven_by(version):
            return True
        with open(self.file, "rb") as handle:
            again = hashlib.sha256(handle.read(self._position))
        return self.whole in (None, version.total) and again.digest() == self._digest.digest()


# --- flags of the jobs --------------------------------------------------------------------------------------------
class PlacesJob(Job):
    """Options of a job that fetches files."""

    manifest: Path | None = None
    """Manifest of the generated internet: only files that it lists are fetched."""
    mirrors: tuple[str, ...] = ()
    """Folders or http addresses that hold copies of upstream files as {host}/{path}."""
    offline: bool = False
    """Fetch from mirrors only, never from the network."""
    state: Path
    """Folder for unfinished downloads."""


def places_of(args: PlacesJob, advice: str) -> Places:
    """Sources of files by a job's options; `advice` tells the user how to provide a copy.

    Raises SteleError if the folder of unfinished downloads, which is removed at the end, is not the job's.
    """
    check_claimable(args.state, DOWNLOADS, NAMES.fullmatch)
    return Places(
        mirrors=args.mirrors,
        offline=args.offline,
        manifest=Manifest(args.manifest) if args.manifest else None,
        state=args.state,
        policy=POLICY,
        advice=advice,
    )

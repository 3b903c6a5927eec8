"""One file from one address: resumed by range, retried with back-off, checked, moved into place.

A later process continues with what an earlier one left (partial_download.py), by a range request that is bound to that
version (If-Range).
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from pathlib import Path
from typing import Any, TypedDict

from stele.errors import SteleError
from stele.progress import bar
from stele.sources.download import http
from stele.sources.download.http import Absent, Again, Failed, Policy
from stele.sources.download.partial_download import Version, discard, finish, note_version, size, version_of
from stele.sources.download.verify import Expected, Mismatch, check, is_checkable

log = logging.getLogger(__name__)

CHUNK = 1 << 16  # bytes a read; also what a broken connection can lose
SMALL = 8 << 20  # bytes up to which no bar is shown
PROGRESS = 1 << 20  # bytes gained that make a new count of attempts
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
ABSENT = (404, 410)


class Fetched(TypedDict):
    """What was fetched; `published` are the size and digests that the server itself gave."""

    sha256: str
    bytes: int
    published: Expected


class _Stale(Exception):
    """What is there already is no piece of what the server has now."""


def fetch(url: str, target: Path, expected: Expected, policy: Policy | None = None) -> Fetched:
    """Downloads `url` to `target`.

    `expected` may hold bytes, sha256, sha1, md5. Wrong bytes are thrown away and fetched once more.

    Raises:
        Absent: the server says that there is no such file (not tried again).
        Failed: refused, wrong bytes twice, or too many failures in a row; says which.
    """
    policy = policy or Policy()
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    wrong: Mismatch | None = None
    while True:
        published = _complete(url, part, expected, policy)
        try:
            sha256 = check(part, {**published, **{k: v for k, v in expected.items() if v is not None}}, name=url)
        except Mismatch as mismatch:
            discard(part)
            if wrong is not None:
                raise Failed(f"{mismatch} (twice)") from None
            wrong = mismatch
            log.info("%s; fetching it once more from the start", mismatch)
            continue
        finish(part, target, published)
        return {"sha256": sha256, "bytes": target.stat().st_size, "published": published}


def fetch_first(url: str, part: Path, first: int, policy: Policy) -> Version:
    """Fetches at least the first so many bytes of `url` into `part`, all where there are fewer, and requests no others.

    Returns what is known of the version of the file.
    """
    if size(part) < first or version_of(part, url) is None:
        part.parent.mkdir(parents=True, exist_ok=True)
        _complete(url, part, {"first": first}, policy)
    return version_of(part, url)


def _complete(url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """Repeats requests until all bytes are there; returns what the server published about them."""
    pauses, attempt, reached = policy.pauses(url), 0, size(part)
    with http.session() as session:
        while True:
            try:
                return _request(session, url, part, expected, policy)
            except Again as again:
                gained = size(part) - reached
                reached = max(reached, size(part))
                if gained >= PROGRESS:
                    pauses, attempt = policy.pauses(url), 0
                attempt += 1
                if attempt >= policy.attempts:
                    raise Failed(f"{url}: {again}; gave up after {attempt} attempts") from None
                if again.wait is not None and again.wait > policy.patience:
                    raise Failed(f"{url}: {again}; asks to wait {again.wait:.0f} s, try again later") from None
                pause = again.wait if again.wait is not None else next(pauses)
                log.info("%s: %s; again in %.1f s (%d of %d)", url, again, pause, attempt, policy.attempts - 1)
                time.sleep(pause)


def _request(session: Any, url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """One request, for what is missing of `part`. Returns when the file is complete."""
    version = version_of(part, url)
    have = size(part)
    headers = {}
    if have and version is not None and (version["validator"] or is_checkable(expected)):
        headers["Range"] = f"bytes={have}-"
        if version["validator"]:
            headers["If-Range"] = version["validator"]
    if first := expected.get("first"):
        headers["Range"] = f"{headers.get('Range', 'bytes=0-')}{first - 1}"
    response, published = http.get(session, url, headers, policy, checkable=is_checkable(expected))
    with contextlib.closing(response):
        try:
            start, total = _span(response, url, have, version)
        except _Stale as stale:
            discard(part)
            raise Again(f"{stale}; from the start") from None
        if start is None:  # the range begins at the end: nothing is missing
            return published
        limit = expected.get("bytes") or published.get("bytes")
        if total is not None and limit is not None and total != limit:
            raise Again(f"expected {limit:,} bytes, the server has {total:,}")
        if encoding := http.encoding(response, url):
            raise Failed(
                f"{url}: comes with Content-Encoding: {encoding}, which was not requested: that is not the file itself"
            )
        if start == 0:
            discard(part)
            if http.is_page(response, url) and not is_checkable(expected):
                raise Failed(f"{url}: a page of HTML came instead of the file (a portal or a sign-in?)")
        validator = http.validator(response) or (version["validator"] if version and start else None)
        note_version(part, url, validator, total)
        if first:
            response, total, limit = _First(response.raw, first - start), min(first, total or first), None
        _copy(response, url, part, start, total, limit, policy)
    return published


def _span(response: Any, url: str, have: int, version: Version | None) -> tuple[int | None, int | None]:
    """(first byte that the body holds, size of the whole file); first is None when no byte is missing."""
    status = response.status_code
    if status == 200:
        length = response.headers.get("Content-Length")
        return 0, int(length) if length and re.fullmatch("[0-9]{1,15}", length) else None
    if status == 206:
        match = re.fullmatch(r"bytes ([0-9]{1,15})-[0-9]+/([0-9]{1,15}|\*)", _range(response))
        total = int(match[2]) if match and match[2] != "*" else None
        known = version["total"] if version else None
        if match and int(match[1]) == have and (known is None or total in (None, known)):
            return have, total or known
        raise _Stale("another range came back than was requested")
    if status == 416:
        match = re.fullmatch(r"bytes \*/([0-9]{1,15})", _range(response))
        if match and int(match[1]) == have:
            return None, have
        raise _Stale("the file has become shorter")
    if status in ABSENT:
        raise Absent(f"{url}: there is no such file (HTTP {status})")
    if status in TEMPORARY:
        raise Again(f"HTTP {status}", http.retry_after(response.headers.get("Retry-After")))
    raise Failed(f"{url}: HTTP {status} {response.reason}")


def _range(response: Any) -> str:
    return response.headers.get("Content-Range", "").strip()


def _copy(
    response: Any, url: str, part: Path, start: int, total: int | None, limit: int | None, policy: Policy
) -> None:
    """Appends the body to `part` as it comes, without decoding: a .gz must stay one.

    Ends early where more comes than the file has (`limit`, as the catalogue or the hub says; `total`, as this server
    does), and where it comes too slowly: what is there then stays for the next attempt.
    """
    from urllib3.exceptions import HTTPError

    name = url.rpartition("/")[2]
    small = total is not None and total - start < SMALL
    with contextlib.nullcontext() if small else bar(total, name, unit="B") as shown, open(part, "ab") as handle:
        if shown is not None:
            shown.update(start)
        most = limit if limit is not None else total
        since, before = time.monotonic(), start
        while True:
            try:
                block = response.raw.read1(CHUNK, decode_content=False)  # what is there, not a chunk in full
            except (HTTPError, OSError) as error:
                raise Again(http.reason(error)) from None
            if not block:
                break
            try:
                handle.write(block)
            except OSError as error:
                raise SteleError(f"{part}: cannot be written ({error.strerror})") from None
            if shown is not None:
                shown.update(len(block))
            have = handle.tell()
            if most is not None and have > most:
                break
            if (seconds := time.monotonic() - since) >= policy.slow:
                if have - before < policy.slowest * seconds:
                    raise Again(f"{have - before:,} bytes in {seconds:.0f} s, less than {policy.slowest:,} a second")
                since, before = time.monotonic(), have
    if limit is not None and size(part) > limit:
        discard(part)
        raise Failed(f"{url}: more than the {limit:,} bytes that the file has; thrown away")
    if total is not None and size(part) < total:
        raise Again(f"the connection ended after {size(part):,} of {total:,} bytes")
    if total is not None and size(part) > total:
        discard(part)
        raise Again("more bytes came than the server announced; from the start")


class _First:
    """The first bytes of a body, to be read as a response's `raw`: no more, also of a server that ignores ranges."""

    def __init__(self, body: Any, left: int) -> None:
        self.raw, self.body, self.left = self, body, left

    def read1(self, number: int, **options: Any) -> bytes:
        data = self.body.read1(min(number, self.left), **options) if self.left else b""
        self.left -= len(data)
        return data

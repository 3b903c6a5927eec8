"""One file from one address: resumed by range, retried with back-off, checked, moved into place.

A later process continues with what an earlier one left (partial_download.py), by a range request. The rest is appended
only where it provably is of the same version, or where a digest of the whole file will tell; else all begins again.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

from stele.errors import SteleError, exhausted
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
    """What is there already cannot be shown to be a piece of what the server has now."""


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
    version = version_of(part, url)
    if size(part) < first or version is None:
        part.parent.mkdir(parents=True, exist_ok=True)
        _complete(url, part, {"first": first}, policy)
        version = version_of(part, url)
    if version is None:
        raise Failed(f"{part}: its note was changed by another process; run again")
    return version


def _complete(url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """Repeats requests until all bytes are there; returns what the server published about them."""
    pauses, attempt, reached = policy.pauses(url), 0, size(part)
    with http.session() as session:
        while True:
            try:
                with _answer_of(url):
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


@contextlib.contextmanager
def _answer_of(url: str) -> Iterator[None]:
    """Whatever else an answer makes the client stumble over (hosts, ports, headers) is an error of this address."""
    try:
        yield
    except (SteleError, Again):
        raise
    except Exception as error:
        if exhausted(error):
            raise
        raise Failed(f"{url}: the answer cannot be read ({http.reason(error)})") from error


def _request(session: Any, url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """One request, for what is missing of `part`. Returns when the file is complete: what the server published."""
    before, first = version_of(part, url), expected.get("first")
    checkable = is_checkable(expected) or bool(before and before.sha256)
    have = size(part) if before and (before.is_identified or checkable) else 0
    headers = {"Range": f"bytes={have}-{first - 1 if first else ''}"} if have or first else {}
    if have and before.is_strong:
        headers["If-Range"] = before.etag
    response, published = http.get(session, url, headers, policy, checkable)
    with contextlib.closing(response):
        _check_status(response, url)
        answer = http.version(response, url, published)
        try:
            start, end = _span(response, have, answer)
            if have and start == have:
                _hold(before, answer, checkable, have)
                answer = before.followed_by(answer)
        except _Stale as stale:
            discard(part)
            raise Again(f"{stale}; from the start") from None
        total, published = answer.total, answer.published()
        limit = expected.get("bytes") or published.get("bytes")
        if total is not None and limit is not None and total != limit:
            raise Again(f"expected {limit:,} bytes, the server has {total:,}")
        if response.status_code == 416:  # the range begins at the end: nothing is missing
            note_version(part, answer)
            part.touch()
            return published
        if encoding := http.encoding(response, url):
            raise Failed(
                f"{url}: comes with Content-Encoding: {encoding}, which was not requested: that is not the file itself"
            )
        if start == 0:
            discard(part)
            if http.is_page(response, url) and not checkable:
                raise Failed(f"{url}: a page of HTML came instead of the file (a portal or a sign-in?)")
        note_version(part, answer)
        if first:
            limit, end = None, end and min(first, end)
        _copy(_First(response.raw, first - start) if first else response, url, part, start, end, limit, policy)
        if first and (size(part) >= first or size(part) == total):
            return published
        if total is not None and size(part) < total:
            raise Again(f"only {size(part):,} of {total:,} bytes came")
        if total is None and response.status_code == 206:
            raise Again("the server does not say where the file ends")
        note_version(part, answer.model_copy(update={"total": size(part)}))
    return published


def _check_status(response: Any, url: str) -> None:
    status = response.status_code
    if status in ABSENT:
        raise Absent(f"{url}: there is no such file (HTTP {status})")
    if status in TEMPORARY:
        raise Again(f"HTTP {status}", http.retry_after(response.headers.get("Retry-After")))
    if status not in (200, 206, 416):
        raise Failed(f"{url}: HTTP {status} {response.reason}")


def _span(response: Any, have: int, answer: Version) -> tuple[int, int | None]:
    """First byte and byte after the last one that an answer brings; both are `have` where no byte is missing."""
    if response.status_code == 200:
        return 0, answer.total
    if response.status_code == 416:
        if answer.total != have:
            raise _Stale("the file has another size now")
        return have, have
    span = http.span(response)
    if span is None or span[0] != have:
        raise _Stale("another range came back than was requested")
    return span


def _hold(before: Version, answer: Version, checkable: bool, have: int) -> None:
    """_Stale unless an answer is of the version that `have` bytes are there of (RFC 9110, 15.3.7.3).

    Where it does not say so, a digest of the whole file must be known, or nothing be missing.
    """
    if before.differs(answer):
        raise _Stale("the file has changed")
    if not (checkable or before.is_proven_by(answer) or before.total == have):
        raise _Stale("the server does not say that it is the same version")


def _copy(response: Any, url: str, part: Path, start: int, end: int | None, limit: int | None, policy: Policy) -> None:
    """Appends the body, which holds the bytes up to `end`, to `part`, without decoding: a .gz must stay one.

    Ends early where more comes than the file has (`limit`, as the catalogue or the hub says; `end`, as this server
    does), and where it comes too slowly: what is there then stays for the next attempt.
    """
    from urllib3.exceptions import HTTPError

    name = url.rpartition("/")[2]
    small = end is not None and end - start < SMALL
    with contextlib.nullcontext() if small else bar(end, name, unit="B") as shown, open(part, "ab") as handle:
        if shown is not None:
            shown.update(start)
        most = limit if limit is not None else end
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
    if end is not None and size(part) < end:
        raise Again(f"the connection ended after {size(part):,} of {end:,} bytes")
    if end is not None and size(part) > end:
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

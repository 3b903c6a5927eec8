"""Fetch one file from one address: resume by range, retry with back-off, check, move into place.

An unfinished file is `{target}.part`; `{target}.part.json` records which version of the server's file it is. A later
process resumes it by a range request. The rest is appended only if it is provably of the same version, or if a digest
of the whole file is known; otherwise the download starts again. A finished file is the target. If the server gave a
digest, it is in `{target}.published.json`, by which later runs check the file.
"""

import contextlib
import logging
import os
import time
from pathlib import Path
from typing import Any

from stele.errors import SteleError, exhausted
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object
from stele.files.strict import validate
from stele.progress import bar
from stele.sources.download import http
from stele.sources.download.http import Failed, NotFound, Policy, Published, RetryableError, Version
from stele.sources.download.verify import Expected, Mismatch, check, is_checkable

log = logging.getLogger(__name__)

CHUNK = 1 << 16  # bytes per read; also the most that a broken connection can lose
SMALL = 8 << 20  # bytes up to which no bar is shown
PROGRESS = 1 << 20  # bytes of progress after which attempts are counted from zero
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)
ABSENT = (404, 410)


class StalePartial(RetryableError):
    """Error of a partial file that is not provably part of the server's file; the file is deleted and fetched anew."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; fetching from the start")


def fetch(url: str, target: Path, expected: Expected, policy: Policy) -> tuple[str, Expected]:
    """Downloads `url` to `target`; returns its sha256, and the size and digest that the server published.

    `expected` may hold bytes, sha256, sha1, md5. A file that does not match is deleted and fetched once more.

    Raises:
        NotFound: the server has no such file (not tried again).
        Failed: the server refuses, the file is wrong twice, or too many attempts in a row fail; says which.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    wrong: Mismatch | None = None
    while True:
        published = _complete(url, part, expected, policy)
        try:
            known = {key: value for key, value in expected.items() if value is not None}
            sha256 = check(part, {**published, **known}, name=url)
        except Mismatch as mismatch:
            discard(part)
            if wrong is not None:
                raise Failed(f"{mismatch} (fetched twice)") from None
            wrong = mismatch
            log.info("%s; fetching it once more from the start", mismatch)
            continue
        _finish(part, target, published)
        return sha256, published


def fetch_first(url: str, part: Path, first: int, policy: Policy) -> Version:
    """Fetches `first` bytes of `url` into `part`, or all if the file has fewer; requests no further ones.

    Returns the facts known of the file's version. Raises NotFound or Failed like `fetch`.
    """
    version = version_of(part, url)
    if size(part) < first or version is None:
        part.parent.mkdir(parents=True, exist_ok=True)
        _complete(url, part, {"first": first}, policy)
        version = version_of(part, url)
    if version is None:
        raise Failed(f"{part}: another process changed its note ({part.name}.json); run again")
    return version


def _complete(url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """Repeats requests until all bytes have come; returns the size and digest that the server published."""
    pauses, attempt, reached = policy.pauses(url), 0, size(part)
    with http.session() as session:
        while True:
            try:
                return _request(session, url, part, expected, policy)
            except RetryableError as error:
                failure = error
            except SteleError:
                raise
            except Exception as error:  # other client errors: hosts, ports, headers
                if exhausted(error):
                    raise
                raise Failed(f"{url}: the response cannot be read ({http.reason(error)})") from error
            if isinstance(failure, StalePartial):
                discard(part)
            gained = size(part) - reached
            reached = max(reached, size(part))
            if gained >= PROGRESS:
                pauses, attempt = policy.pauses(url), 0
            attempt += 1
            if attempt >= policy.attempts:
                raise Failed(f"{url}: {failure}; gave up after {attempt} attempts")
            if failure.wait is not None and failure.wait > policy.patience:
                raise Failed(f"{url}: {failure}; the server asks to wait {failure.wait:.0f} s; try again later")
            pause = failure.wait if failure.wait is not None else next(pauses)
            log.info("%s: %s; again in %.1f s (retry %d of %d)", url, failure, pause, attempt, policy.attempts - 1)
            time.sleep(pause)


def _request(session: Any, url: str, part: Path, expected: Expected, policy: Policy) -> Expected:
    """Requests the missing bytes of `part` once; returns the published size and digest if all bytes have come."""
    # request only the rest if it is provably of the same version
    before, first = version_of(part, url), expected.get("first")
    checkable = is_checkable(expected) or bool(before and before.sha256)
    have = size(part) if before and (before.etag or checkable) else 0
    headers = {"Range": f"bytes={have}-{first - 1 if first else ''}"} if have or first else {}
    if have and before.etag:
        headers["If-Range"] = before.etag
    response, published = http.get(session, url, headers, policy, checkable)
    with contextlib.closing(response):
        # the range of bytes, and their version
        _check_status(response, url)
        answer = http.version(response, url, published)
        start, end = _span(response, have, answer)
        if have and start == have:
            if not (checkable or before.is_proven_by(answer) or before.total == have):
                raise StalePartial("the server does not prove that its file is still the same version")
            answer = before.model_copy(update=answer.model_dump(exclude_none=True))
        total, published = answer.total, answer.expected()
        limit = expected.get("bytes") or published.get("bytes")
        if total is not None and limit is not None and total != limit:
            raise RetryableError(f"expected {limit:,} bytes, the server has {total:,}")
        if response.status_code == 416:  # the range begins at the end: nothing is missing
            note_version(part, answer)
            part.touch()
            return published
        if encoding := http.encoding(response, url):
            raise Failed(f"{url}: the response is encoded ({encoding}), which was not requested")
        if start == 0:
            discard(part)
            if http.is_page(response, url) and not checkable:
                raise Failed(f"{url}: the server sent a page of HTML instead of the file (a portal or a sign-in?)")
        has_end = response.raw.chunked or response.raw.length_remaining is not None or end is not None
        if not (has_end or checkable or published or limit is not None):
            raise Failed(f"{url}: the server gives no size (Content-Length), so a file cut short would not be noticed")
        # the bytes
        note_version(part, answer)
        if first:
            limit, end = None, end and min(first, end)
        _copy(response.raw, url, part, start, end, limit, first, policy)
        # are these all?
        if first and (size(part) >= first or size(part) == total):
            return published
        if total is not None and size(part) < total:
            raise RetryableError(f"the server sent only {size(part):,} of {total:,} bytes")
        if total is None and response.status_code == 206:
            raise RetryableError("the server does not say where the file ends")
        note_version(part, answer.model_copy(update={"total": size(part)}))
    return published


def _check_status(response: Any, url: str) -> None:
    status = response.status_code
    if status in ABSENT:
        raise NotFound(f"{url}: there is no such file (HTTP {status})")
    if status in TEMPORARY:
        raise RetryableError(f"HTTP {status}", http.retry_after(response.headers.get("Retry-After")))
    if status not in (200, 206, 416):
        raise Failed(f"{url}: HTTP {status} {response.reason}")


def _span(response: Any, have: int, answer: Version) -> tuple[int, int | None]:
    """First byte of an answer and the byte after its last one (None if unknown); both are `have` if none is missing."""
    if response.status_code == 200:
        return 0, answer.total
    if response.status_code == 416:
        if answer.total != have:
            raise StalePartial("the server's file has another size now")
        return have, have
    span = http.span(response)
    if span is None or span[0] != have:
        raise StalePartial("the server sent another range than was requested")
    return span


def _copy(
    body: Any, url: str, part: Path, start: int, end: int | None, limit: int | None, first: int | None, policy: Policy
) -> None:
    """Appends the bytes from `start` to `end` of a response body to `part` without decoding: a .gz stays a .gz.

    Reads no further than `first`, whatever the server sends. Stops if more bytes come than the file has (`limit` by the
    catalogue or the hub, `end` by this server), or if they come too slowly; then the bytes stay for the next attempt.
    Raises RetryableError, StalePartial or Failed.
    """
    from urllib3.exceptions import HTTPError

    small = end is not None and end - start < SMALL
    shown_bar = contextlib.nullcontext() if small else bar(end, url.rpartition("/")[2], unit="B")
    most = limit if limit is not None else end
    with shown_bar as shown, open(part, "ab") as handle:
        if shown is not None:
            shown.update(start)
        since, before = time.monotonic(), start
        while True:
            room = min(CHUNK, first - handle.tell()) if first else CHUNK
            try:  # the bytes received so far, not a full chunk
                block = body.read1(room, decode_content=False) if room else b""
            except (HTTPError, OSError) as error:
                raise RetryableError(http.reason(error)) from None
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
            seconds = time.monotonic() - since
            if seconds >= policy.slow:
                if have - before < policy.slowest * seconds:
                    too_slow = f"{have - before:,} bytes in {seconds:.0f} s, less than {policy.slowest:,} a second"
                    raise RetryableError(too_slow)
                since, before = time.monotonic(), have
    if limit is not None and size(part) > limit:
        discard(part)
        raise Failed(f"{url}: the server sent more than the file's {limit:,} bytes; deleted them")
    if end is not None and size(part) < end:
        raise RetryableError(f"the connection ended after {size(part):,} of {end:,} bytes")
    if end is not None and size(part) > end:
        raise StalePartial("the server sent more bytes than it announced")


# --- partial and finished files on disk -------------------------------------------------------------------------------
def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def note_version(part: Path, version: Version) -> None:
    atomic_write_json(_sidecar(part, "json"), version.model_dump())


def version_of(part: Path, url: str) -> Version | None:
    """Version of the server's file that `part` belongs to; None if it is unknown or has another address."""
    version = read_download_note(_sidecar(part, "json"), Version)
    return version if version is not None and version.url == url else None


def read_download_note(path: Path, kind: type[Published]) -> Any:
    """Reads the note of a download as a `kind`; None if the file does not exist or is damaged."""
    if not path.exists():
        return None
    try:
        return validate(kind, read_object(path, "note of a download"), path)
    except SteleError as error:
        log.info("%s; fetching from the start", error)
        return None


def discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _sidecar(part, "json").unlink(missing_ok=True)


def _finish(part: Path, target: Path, published: Expected) -> None:
    """Moves a complete file into place, after writing the note of the size and digest that the server published."""
    note = _sidecar(target, "published.json")
    if published:
        atomic_write_json(note, published)
    else:
        note.unlink(missing_ok=True)
    with open(part, "rb") as handle:
        os.fsync(handle.fileno())
    os.replace(part, target)
    _sidecar(part, "json").unlink(missing_ok=True)


def finished(target: Path, expected: Expected) -> tuple[str, Expected] | None:
    """Facts, as of `fetch`, of a file that an earlier run fetched; None if there is none. Deletes a wrong file."""
    if not target.is_file():
        return None
    note = _sidecar(target, "published.json")
    noted = read_download_note(note, Published)
    try:
        if noted is None and note.exists():
            raise Mismatch(f"{note}: damaged")
        published = noted.expected() if noted else {}
        return check(target, {**published, **expected}), published
    except Mismatch:
        target.unlink()
        return None


def _sidecar(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")

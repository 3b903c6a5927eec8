"""Send one HTTP request, follow safe redirects, and read the file's size, digest and version from the headers."""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urljoin, urlsplit

from pydantic import Field

from stele.errors import SteleError
from stele.files.strict import Strict
from stele.sources.download.verify import Expected

if TYPE_CHECKING:
    import requests

REDIRECTS = (301, 302, 303, 307, 308)
HOPS = 10  # redirects that are followed
COMPRESSED = {"gzip": (".gz", ".tgz"), "x-gzip": (".gz", ".tgz"), "bzip2": (".bz2",), "xz": (".xz",)}  # own suffixes
PAGES = ("text/html", "application/xhtml+xml")
AGENT = "stele/0.1 (reproduction of retrieval papers)"
STRONG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]+"')  # an ETag that vouches for every byte (RFC 9110, 8.8.3)
Bytes = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class NotFound(SteleError):
    """Error of a server that answers and has no such file."""


class Failed(SteleError):
    """Error of a file that cannot be fetched from this address."""


class RetryableError(Exception):
    """Temporary error: the request can be repeated, after `wait` seconds if the server names a time."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class Policy:
    """Time limits (in seconds) and retries of a download; `attempts` are those in a row without 1 MiB of progress."""

    attempts: int = 6
    base: float = 1.0
    cap: float = 60.0
    patience: float = 900.0  # the longest Retry-After that is obeyed
    connect: float = 20.0
    read: float = 60.0
    slowest: int = 1 << 10  # bytes per second, on average over `slow` seconds; slower connections end
    slow: float = 300.0
    seed: int = 0

    def pauses(self, url: str) -> Iterator[float]:
        """Yields pauses between attempts, doubled up to `cap`, with jitter seeded by the seed and the address."""
        generator, pause = random.Random(f"{self.seed} {url}"), self.base
        while True:
            yield min(pause, self.cap) * generator.uniform(0.5, 1.0)
            pause *= 2


class Published(Strict):
    """Digest and size of the whole file, as the server publishes them; None if it does not."""

    sha256: Sha256 | None = None
    bytes: Bytes | None = None

    def expected(self) -> Expected:
        """The published facts that are not None, by which the file is checked."""
        return self.model_dump(include={"sha256", "bytes"}, exclude_none=True)


class Version(Published):
    """Facts that distinguish versions of a file: its address, size, and strong ETag; None if the server gives none."""

    url: str
    etag: str | None = None
    total: Bytes | None = None

    def is_proven_by(self, answer: Version) -> bool:
        """Whether an answer proves that it is of this version, by a strong ETag (RFC 9110, 15.3.7.3)."""
        same_size = self.total is None or answer.total in (None, self.total)
        return same_size and self.etag is not None and self.etag == answer.etag


def session() -> requests.Session:
    """Opens a session that requests files uncompressed, and leaves redirects to `get`.

    The library `requests` would read the body of each redirect, however long it is.
    """
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: Any) -> None:
            return None

    opened = Session()
    opened.headers.update({"User-Agent": AGENT, "Accept-Encoding": "identity"})
    return opened


def get(
    session: Any, url: str, headers: Mapping[str, str], policy: Policy, checkable: bool
) -> tuple[requests.Response, Expected]:
    """Requests `url`; returns the answer, its body unread, and the size and digest that it or a redirect publishes.

    Redirects are followed to http and https, but from https to http only if a digest is known (`checkable`). Raises
    RetryableError if no answer comes, Failed if a redirect leads elsewhere or there are more than ten.
    """
    import requests

    address, published = url, {}
    for _ in range(HOPS + 1):
        scheme = urlsplit(address).scheme
        if scheme not in ("http", "https"):
            raise Failed(f"{url}: redirects to {address[:200]!r}, which is not an http address; not followed")
        if urlsplit(url).scheme == "https" and scheme == "http" and not checkable:
            raise Failed(f"{url}: redirects to {address[:200]!r}, which is not encrypted; not followed")
        try:
            response = session.get(address, headers=headers, stream=True, timeout=(policy.connect, policy.read))
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            raise RetryableError(reason(error)) from None
        published = published or published_by(response)
        location = response.headers.get("Location")
        if response.status_code not in REDIRECTS or not location:
            return response, published
        response.close()  # its body is not read
        try:
            address = urljoin(address, location)
            urlsplit(address)
        except ValueError as error:
            raise Failed(f"{url}: redirects to {location[:200]!r}, not an address ({error}); not followed") from None
    raise Failed(f"{url}: leads to more than {HOPS} redirects; none is followed further")


def published_by(response: Any) -> Expected:
    """Sha256 and size that the Hugging Face hub gives for large files in X-Linked-ETag and -Size; else empty."""
    digest = response.headers.get("X-Linked-ETag", "").removeprefix("W/").strip('"').lower()
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        return {}
    size = _whole(response.headers.get("X-Linked-Size"))
    return {"sha256": digest, **({} if size is None else {"bytes": size})}


def version(response: Any, url: str, published: Expected) -> Version:
    """Version of the file, from the headers of an answer and the facts published for it."""
    headers, is_whole = response.headers, response.status_code == 200
    tag = STRONG.fullmatch(headers.get("ETag", ""))
    total = _whole(headers.get("Content-Length")) if is_whole else _range(response)[2]
    return Version(url=url, etag=tag and tag[0], total=total, **published)


def span(response: Any) -> tuple[int, int] | None:
    """First byte, and byte after the last one, of the range that an answer holds; None if Content-Range is unclear.

    Several ranges at once (multipart/byteranges) are never requested; such an answer has no Content-Range.
    """
    first, last, total = _range(response)
    if first is None or last is None or last < first or (total is not None and total <= last):
        return None
    return first, last + 1


def _range(response: Any) -> tuple[int | None, int | None, int | None]:
    """First byte, last byte and size of the whole file from Content-Range; None for each that it does not name."""
    header = response.headers.get("Content-Range", "").strip()
    match = re.fullmatch(r"bytes (?:([0-9]{1,15})-([0-9]{1,15})|\*)/([0-9]{1,15}|\*)", header, re.IGNORECASE)
    return tuple(map(_whole, match.groups())) if match else (None, None, None)


def _whole(value: str | None) -> int | None:
    """Whole number in a header, of at most 15 digits; None if it holds none."""
    return int(value) if value and re.fullmatch("[0-9]{1,15}", value) else None


def encoding(response: Any, url: str) -> str | None:
    """Header, with its value, that says a body is not the file itself; None if the body is the file.

    Some servers send a compressed file with its compression as Content-Encoding; then the body is the file. Of transfer
    codings only chunks are undone.
    """
    transfer = response.headers.get("Transfer-Encoding", "identity").strip().lower()
    if transfer not in ("", "identity", "chunked"):
        return f"Transfer-Encoding: {transfer}"
    header = response.headers.get("Content-Encoding", "identity").strip().lower()
    expected = urlsplit(url).path.endswith(COMPRESSED.get(header, ()))
    return None if expected or header in ("", "identity") else f"Content-Encoding: {header}"


def is_page(response: Any, url: str) -> bool:
    """Whether an answer is a page of HTML although the address does not name one."""
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return kind in PAGES and not urlsplit(url).path.lower().endswith((".html", ".htm"))


def retry_after(value: str | None) -> float | None:
    """Seconds to wait by a Retry-After header, which holds seconds or a date; None if it holds neither.

    >>> retry_after("7"), retry_after("9" * 400), retry_after("\u00b2")
    (7.0, 1000000000.0, None)
    """
    if value and re.fullmatch("[0-9]+", value.strip()):
        return float(value) if len(value.strip()) < 10 else 1e9
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value or "").timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def reason(error: BaseException) -> str:
    """Readable text of a client error, at most 300 characters."""
    return f"{type(error).__name__}: {str(error).partition('Caused by')[2].strip('() ') or error}"[:300]

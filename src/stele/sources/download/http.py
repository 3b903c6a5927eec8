"""One request: where redirects may lead, and what the headers of an answer say of the file."""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from stele.errors import SteleError
from stele.sources.download.verify import Expected

if TYPE_CHECKING:
    import requests

REDIRECTS = (301, 302, 303, 307, 308)
HOPS = 10  # redirects that are followed
COMPRESSED = {"gzip": (".gz", ".tgz"), "x-gzip": (".gz", ".tgz"), "bzip2": (".bz2",), "xz": (".xz",)}  # own suffixes
AGENT = "stele/0.1 (reproduction of retrieval papers)"


class Absent(SteleError):
    """The server answers, and has no such file."""


class Failed(SteleError):
    """The file cannot be fetched from this address."""


class Again(Exception):
    """Something passing: try again, after `wait` seconds where the server says so."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class Policy:
    """How patient a download is. Times in seconds; `attempts` are those in a row without 1 MiB gained."""

    attempts: int = 6
    base: float = 1.0
    cap: float = 60.0
    patience: float = 900.0  # the longest Retry-After that is waited for
    connect: float = 20.0
    read: float = 60.0
    slowest: int = 1 << 10  # bytes a second, on average over `slow`; below it the connection is given up
    slow: float = 300.0
    seed: int = 0

    def pauses(self, url: str) -> Iterator[float]:
        """The pauses between attempts: doubled each time, jittered by a generator of the address and the seed."""
        generator, pause = random.Random(f"{self.seed} {url}"), self.base
        while True:
            yield min(pause, self.cap) * generator.uniform(0.5, 1.0)
            pause *= 2


def session() -> requests.Session:
    """A session that requests files as they are, and leaves redirects to `get`.

    requests would read the body of each redirect, however long.
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
    """The answer to a request, its body not yet read, and what it and the redirects on the way publish of the file.

    Redirects are followed to http and https; from https to http only where a digest will tell (`checkable`).
    """
    import requests

    address, published = url, {}
    for _ in range(HOPS + 1):
        scheme = urlsplit(address).scheme
        if scheme not in ("http", "https"):
            raise Failed(f"{url}: leads to {address[:200]!r}, which is no http address; not followed")
        if url.startswith("https:") and scheme == "http" and not checkable:
            raise Failed(f"{url}: leads to {address[:200]!r}, where anyone on the way can change it; not followed")
        try:
            response = session.get(address, headers=headers, stream=True, timeout=(policy.connect, policy.read))
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            raise Again(reason(error)) from None
        except (requests.RequestException, ValueError) as error:
            raise Failed(f"{url}: {error}") from None
        published = published or published_by(response)
        location = response.headers.get("Location")
        if response.status_code not in REDIRECTS or not location:
            return response, published
        response.close()  # its body is not read
        address = urljoin(address, location)
    raise Failed(f"{url}: more than {HOPS} redirects")


def published_by(response: Any) -> Expected:
    """Digest and size that the server gives for the file: the Hugging Face hub names those of large files' contents."""
    digest = response.headers.get("X-Linked-ETag", "").removeprefix("W/").strip('"')
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        return {}
    size = response.headers.get("X-Linked-Size", "")
    return {"sha256": digest, **({"bytes": int(size)} if re.fullmatch("[0-9]{1,15}", size) else {})}


def encoding(response: Any, url: str) -> str | None:
    """The Content-Encoding of a body that is not the file itself.

    Some servers give that of a compressed file as the encoding of the answer: then the body is the file.
    """
    header = response.headers.get("Content-Encoding", "identity").strip().lower()
    expected = urlsplit(url).path.endswith(COMPRESSED.get(header, ()))
    return None if expected or header in ("", "identity") else header


def is_page(response: Any, url: str) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/html") and not url.endswith((".html", ".htm"))


def validator(response: Any) -> str | None:
    """What identifies this version of the file in If-Range: a strong ETag, else the date of the last change."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified")


def retry_after(value: str | None) -> float | None:
    """Seconds out of a Retry-After header, which holds seconds or a date."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).partition('Caused by')[2].strip('() ') or error}"[:300]

"""A real HTTP server on the loopback interface that can be told to misbehave; a tiny checkpoint, and runs on it."""

import contextlib
import hashlib
import shutil
import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stele.sources.download import places
from stele.sources.download.http import Policy


@pytest.fixture(autouse=True)
def impatience(monkeypatch):
    """Commands give a server up at its second failure, without pauses."""
    monkeypatch.setattr(places, "POLICY", Policy(attempts=2, base=0.001))


@dataclass
class Request:
    """What was asked and how many bytes of the body went out."""

    path: str
    range: str | None
    if_range: str | None
    sent: int = 0
    accepts: str | None = None


@dataclass
class Site:
    """Files by path, and for each path the faults of its next requests (then it behaves).

    Faults: {"cut": n} sends n bytes and resets the connection; {"end": n} sends n bytes and closes in peace;
    {"short": n} announces and sends n bytes only; {"wrong": True} sends other bytes; {"whole": True} ignores ranges;
    {"status": 503, "headers": {...}}; {"shift": n} answers another range than asked;
    {"stall": n} sends n bytes and no more, until the client hangs up;
    {"endless": True} announces no size and sends the body again and again, {"endless": False} once;
    {"drip": seconds a byte};
    {"careless": True} ignores If-Range; {"set": {header: value}} sends these headers instead, None sends none.
    `more` is what a hostile server has under any path.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[dict]] = field(default_factory=lambda: defaultdict(list))
    headers: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    tags: bool = True
    more: Callable[[str], bytes | None] = lambda path: None
    requests: list[Request] = field(default_factory=list)

    def of(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        request = Request(self.path, self.headers.get("Range"), self.headers.get("If-Range"))
        request.accepts = self.headers.get("Accept-Encoding")
        self.site.requests.append(request)
        fault = self.site.faults[self.path].pop(0) if self.site.faults[self.path] else {}
        body = self.site.files.get(self.path, self.site.more(self.path))
        if "status" in fault or body is None:
            given = (fault.get("status", 404), body or b"", fault.get("headers", {}))
            self._answer(*given, request, {key: fault[key] for key in fault.keys() & {"endless"}})
            return
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        headers = {**self.site.headers[self.path], **({"ETag": tag} if self.site.tags else {})}
        first, _, last = request.range.removeprefix("bytes=").partition("-") if request.range else ("0", "", "")
        start, end = int(first), min(int(last or len(body)), len(body) - 1) + 1
        same = request.if_range in (None, tag) or fault.get("careless")
        if fault.get("wrong"):
            body = bytes(255 - byte for byte in body)
        if (start or last) and same and not fault.get("whole"):
            if start >= len(body):
                out_of = {"Content-Range": f"bytes */{len(body)}", **fault.get("set", {})}
                self._answer(416, b"", out_of, request, {})
                return
            start += fault.get("shift", 0)
            headers |= {"Content-Range": f"bytes {start}-{end - 1}/{len(body)}", **fault.get("set", {})}
            self._answer(206, body[start:end], headers, request, fault)
        else:
            headers |= fault.get("set", {})
            self._answer(200, body[: fault.get("short", len(body))], headers, request, fault)

    def _answer(self, status: int, body: bytes, headers: dict[str, str], request: Request, fault: dict) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        if "endless" in fault:
            self.end_headers()
            request.sent += self.wfile.write(body)
            while fault["endless"]:  # until the client hangs up
                request.sent += self.wfile.write(body)
            self.close_connection = True
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for position in range(len(body) if "drip" in fault else 0):
            self.wfile.write(body[position : position + 1])
            time.sleep(fault["drip"])
        cut = fault.get("cut", fault.get("end", fault.get("stall")))
        out = body if cut is None else body[:cut]
        pause = threading.Event()
        for position in range(0, len(out), 1 << 14):
            self.wfile.write(out[position : position + (1 << 14)])
            request.sent = min(len(out), position + (1 << 14))
        self.wfile.flush()
        if "stall" in fault:
            self.connection.recv(1)  # until the client hangs up
        if cut is not None:
            if "cut" in fault:  # a reset, not an orderly end
                pause.wait(0.05)  # let what was sent arrive: a reset throws away what is still unread
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, ValueError):  # the client has gone, as some tests want
            super().handle()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    site = Site()
    handler = type("SiteHandler", (Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *args: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    from ten_tokens import make

    return make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def local(tiny, tmp_path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(tiny, tmp_path / "local"))


@pytest.fixture
def run(tmp_path, capsys):
    from ten_tokens import Run

    return Run(tmp_path, capsys)

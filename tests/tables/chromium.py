"""A headless Chromium for tests: the DevTools protocol over the pipe that Chromium offers, standard library only.

Messages are JSON, each ended by a zero byte; Chromium reads them from its descriptor 3 and writes to its descriptor 4.
"""

import importlib.util
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.waiting import PATIENCE, wait_for

PHONE, DESK = (360, 740), (1280, 900)
AXE = importlib.util.find_spec("axe_playwright_python")
TAGS = "{runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}}"
needs_axe = pytest.mark.skipif(AXE is None, reason="axe is missing: pip install --no-deps axe-playwright-python==0.1.8")


class Chromium:
    """One browser with one page. `problems` holds what pages complained of, `requests` what they asked for."""

    def __init__(self, profile):
        self.problems, self.requests, self._rest, self._ids = [], [], b"", itertools.count(1)
        read_by_it, self._write = os.pipe()
        self._read, written_by_it = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command = [executable(), *flags, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec 3<&{read_by_it} 4>&{written_by_it}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=[read_by_it, written_by_it],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_by_it)
        os.close(written_by_it)
        self._session = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method, **params):
        """Sends one command and returns its result; events that come before it are kept."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != number:
            self._note(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], end - time.monotonic())
            part = os.read(self._read, 1 << 16) if ready else b""
            assert part, "Chromium does not answer"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(params["exceptionDetails"]["text"])
        if method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(str(params["args"]))
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, url):
        """Opens an address and waits until it is all there."""
        self("Page.navigate", url=url)
        wait_for(
            lambda: self.evaluate("document.readyState") == "complete" and self.evaluate("location.href") == url,
            url,
        )

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page; a promise is waited for."""
        arguments = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self("Runtime.evaluate", **arguments)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def size(self, width, height):
        """The size of the window in CSS pixels."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def press(self, key, code):
        """Presses a key on whatever has the focus."""
        text = {"Enter": "\r"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if kind == "keyDown" and text else {}
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)

    def click(self, selector):
        """A real click in the middle of the first element that a selector finds."""
        box = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'center', inline: 'center'}}); const r = e.getBoundingClientRect();"
            f" return [r.x + r.width / 2, r.y + r.height / 2] }})(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def close(self):
        os.close(self._write)  # Chromium ends when its pipe does
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def check_pages(self, urls):
        """Every page opens on a phone and a desk without complaint, asks for nothing else and fits the width."""
        for url in urls:
            for size in (PHONE, DESK):
                self.size(*size)
                self.open(url)
                widths = self.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
                assert widths[0] <= size[0] == widths[1], f"{url} scrolls sideways at {size[0]} pixels"
        assert self.problems == []
        asked = {url for url in self.requests if not url.startswith("data:image/svg+xml;base64,")}
        assert asked == {*urls}, "nothing but the pages themselves"

    def check_access(self, url, open_folds=False):
        """axe, which looks at the page for those who cannot see it, finds nothing against WCAG."""
        self.open(url)
        if open_folds:
            folds = "[...document.querySelectorAll('details')].map(fold => fold.open = true).length"
            assert self.evaluate(folds) > 0
        self.evaluate((Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8"))
        passes, violations = self.evaluate(
            f"axe.run(document, {TAGS}).then(r => [r.passes.length, r.violations.map(v =>"
            " v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | '))])"
        )
        assert passes > 5, f"{url}: axe looked at nothing"
        assert violations == [], url


def executable():
    """Chromium on this machine, None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


in_browser = [pytest.mark.slow, pytest.mark.skipif(executable() is None, reason="Chromium is not installed")]

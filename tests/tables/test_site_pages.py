"""The site in a browser: from a disk without a network, on a phone and a desk, by keyboard, for a screen reader."""

import importlib.util
from pathlib import Path

import pytest
from chromium import Chromium, executable
from test_site import kept, site  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.skipif(executable() is None, reason="Chromium is not installed")]
PHONE, DESK = (360, 740), (1280, 900)
AXE = importlib.util.find_spec("axe_playwright_python")
CHECKED = ["index.html", "tables.html", "msm.html", "claims.html", "models.html", "model-msm.html"]
CHECKED += ["benchmarks.html", "how.html", "search.html"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("chromium"))
    chromium("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    yield chromium
    chromium.close()


def address(site, name):  # noqa: F811
    return (site / name).as_uri()


def test_every_page_opens_without_complaint_or_request_and_fits(browser, site):  # noqa: F811
    pages = [path.as_uri() for path in sorted(site.glob("*.html"))]
    for page in pages:
        for size in (PHONE, DESK):
            browser.size(*size)
            browser.open(page)
            widths = browser.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert widths[0] <= size[0] == widths[1], f"{page} scrolls sideways at {size[0]} pixels"
    assert browser.problems == []
    urls = {url for url in browser.requests if not url.startswith("data:image/svg+xml;base64,")}
    assert urls == {*pages}, "nothing but the pages themselves"


def test_a_search_leaves_what_has_all_words_and_says_how_much(browser, site):  # noqa: F811
    browser.size(*DESK)
    browser.open(address(site, "search.html"))
    all_of_them = browser.evaluate("document.querySelectorAll('ul.entries li').length")
    typed = "e => { e.value = %r; e.dispatchEvent(new Event('input', {bubbles: true})); }"
    browser.evaluate(f"({typed % 'mrtydi  HIGHEST'})(document.querySelector('input.search'))")
    assert browser.evaluate("document.querySelectorAll('ul.entries li:not([hidden])').length") == 0
    browser.evaluate(f"({typed % 'claim  HIGHEST tydi'})(document.querySelector('input.search'))")
    left = browser.evaluate("[...document.querySelectorAll('ul.entries li:not([hidden])')].map(e => e.textContent)")
    assert 0 < len(left) < all_of_them and all("highest" in text.lower() for text in left)
    assert browser.evaluate("document.querySelector('#found').textContent") == f"{len(left)} of {all_of_them}"


def test_the_keyboard_comes_to_the_content_first(browser, site):  # noqa: F811
    browser.open(address(site, "models.html"))
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.textContent") == "Skip to the content"
    browser.press("Enter", 13)
    assert browser.evaluate("location.hash") == "#content"


@pytest.mark.skipif(AXE is None, reason="axe is missing: pip install --no-deps axe-playwright-python==0.1.8")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_against_wcag(browser, site, scheme):  # noqa: F811
    script = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.size(*DESK)
    chosen = "{runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}}"
    for name in CHECKED:
        browser.open(address(site, name))
        browser.evaluate(script)
        found = browser.evaluate(
            f"axe.run(document, {chosen}).then(r => [r.passes.length, r.violations.map(v =>"
            " v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | '))])"
        )
        assert found[0] > 5, f"{name}: axe looked at nothing"
        assert found[1] == [], f"{name} ({scheme})"


@pytest.mark.skipif(AXE is None, reason="axe is missing: pip install --no-deps axe-playwright-python==0.1.8")
def test_axe_does_find_a_picture_without_words(browser, site):  # noqa: F811
    script = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    browser.open(address(site, "models.html"))
    browser.evaluate("document.querySelector('main').append(document.createElement('img'))")
    browser.evaluate(script)
    assert "image-alt" in browser.evaluate("axe.run(document).then(r => r.violations.map(v => v.id))")

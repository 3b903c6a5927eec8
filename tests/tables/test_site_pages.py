"""The site in a browser: from a disk without a network, on a phone and a desk, by keyboard, for a screen reader."""

import pytest
from chromium import DESK, in_browser, needs_axe
from test_site import kept, site  # noqa: F401

pytestmark = in_browser
CHECKED = ["index.html", "tables.html", "msm.html", "claims.html", "models.html", "model-msm.html"]
CHECKED += ["benchmarks.html", "how.html", "search.html"]


def address(site, name):  # noqa: F811
    return (site / name).as_uri()


def test_every_page_opens_without_complaint_or_request_and_fits(browser, site):  # noqa: F811
    browser.check_pages([path.as_uri() for path in sorted(site.glob("*.html"))])


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


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_against_wcag(browser, site, scheme):  # noqa: F811
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.size(*DESK)
    for name in CHECKED:
        browser.check_access(address(site, name))

"""The site in a browser: from a disk without a network, on a phone and a desk, by keyboard, for a screen reader."""

import pytest
from chromium import DESK, PHONE, in_browser, needs_axe
from test_site import kept, site  # noqa: F401

from stele.command import cli
from tests.waiting import wait_for

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


# --- the site of evidence/study itself, all folds open, by keyboard alone ---------------------------------------------
OPENED = ["index.html", "msm.html", "model-msm.html", "claims.html"]
VISIBLE = "(e => { const r = e.getBoundingClientRect(); return r.height > 0 && r.bottom > 0 && r.top < innerHeight })"


@pytest.fixture(scope="module")
def study(root, kept_study, tmp_path_factory):
    """The site of the kept study."""
    to = tmp_path_factory.mktemp("study") / "site"
    command = ["tables", "site", str(kept_study), "--to", str(to), "--specs", str(root / "paper_tables")]
    assert cli.main(command) == 0
    return to


def test_it_opens_without_complaint_or_request_and_fits(browser, study):
    browser.check_pages([address(study, name) for name in OPENED])


@needs_axe
@pytest.mark.parametrize("name", ["dense_clt.html", "model-kept.html"])
def test_axe_finds_nothing_on_a_phone_with_all_folds_open(browser, study, name):
    browser.size(*PHONE)
    browser.check_access(address(study, name), open_folds=True)


def test_terms_explain_themselves_on_focus_within_the_screen(browser, study):
    for size in (PHONE, DESK):
        browser.size(*size)
        browser.open(address(study, "index.html"))
        _tab_to(browser, "e => e.matches('.term')")
        left, right = browser.evaluate(
            "(r => [r.left, r.right])(document.activeElement.querySelector('.tip').getBoundingClientRect())"
        )
        assert left >= 0 and left + 150 < right <= size[0]


def test_claims_are_filtered_by_verdict_and_words(browser, study):
    browser.open(address(study, "msm.html"))
    shown = "[...document.querySelectorAll('.entry:not([hidden])')].map(e => e.dataset.verdicts)"
    assert len(browser.evaluate(shown)) == 126
    browser.evaluate(
        "(e => { e.value = 'seen here'; e.dispatchEvent(new Event('input', {bubbles: true})) })"
        "(document.querySelector('.finder select'))"
    )
    verdicts = browser.evaluate(shown)
    assert 0 < len(verdicts) < 30 and all("seen here" in verdict for verdict in verdicts)
    assert browser.evaluate("[...document.querySelectorAll('details.fold:not([hidden])')].every(fold => fold.open)")


def test_by_keyboard_from_a_cell_to_a_claim_that_reads_it_and_back(browser, study):
    """The boxes come from files beside the page, and are then opened like any other."""
    browser.size(*DESK)
    browser.open(address(study, "msm.html"))
    cell = browser.evaluate("document.querySelector('.claim ul.cells button').getAttribute('popovertarget')")
    browser.evaluate(f"document.querySelector('.view td button[popovertarget=\"{cell}\"]').focus()")
    browser.press("Enter", 13)
    opened = "document.querySelector('[popover]:popover-open')?.id ?? null"
    wait_for(lambda: browser.evaluate(opened) == cell, "the box from its file")
    assert browser.requests[-1] == address(study, f"boxes/msm/{cell.partition('-')[0]}.js")
    _tab_to(browser, "e => e.matches('[popover] a[href^=\"#claim-\"]')")
    claim = browser.evaluate("document.activeElement.hash.slice(1)")
    browser.press("Enter", 13)
    assert browser.evaluate("document.querySelector('[popover]:popover-open')") is None
    assert browser.evaluate("location.hash") == f"#{claim}"
    assert browser.evaluate(f"{VISIBLE}(document.getElementById('{claim}'))"), "the fold that it is in has opened"
    _tab_to(browser, f"e => e.matches('#{claim} summary')")
    browser.press("Enter", 13)
    _tab_to(browser, f"e => e.matches('#{claim} [popovertarget=\"{cell}\"]')")
    browser.press("Enter", 13)
    assert browser.evaluate(opened) == cell
    _tab_to(browser, "e => e.matches('[popover] button.record')")
    browser.press("Enter", 13)
    wait_for(lambda: browser.evaluate("document.querySelectorAll(':popover-open').length") == 2, "the record on top")
    browser.press("Escape", 27)
    assert browser.evaluate(opened) == cell and browser.problems == []


def _tab_to(browser, wanted):
    """Presses Tab until the focus is where it is wanted."""
    for _ in range(40):
        browser.press("Tab", 9)
        if browser.evaluate(f"({wanted})(document.activeElement)"):
            return
    raise AssertionError(f"no Tab leads to {wanted}")

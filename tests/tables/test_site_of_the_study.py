"""The site of evidence/study itself in a browser: whole, on a phone and a desk, all folds open, by keyboard alone."""

import pytest
from chromium import DESK, PHONE, in_browser, needs_axe
from test_site_pages import address

from stele.command import cli
from tests.waiting import wait_for

pytestmark = in_browser
OPENED = ["index.html", "msm.html", "model-msm.html", "claims.html"]
CHECKED = ["dense_clt.html", "model-kept.html"]
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
@pytest.mark.parametrize("name", CHECKED)
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

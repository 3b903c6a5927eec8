"""The HTML pages in a browser: they open without complaint or request, fit a phone, unfold and copy."""

import pytest
from chromium import DESK, PHONE, in_browser
from rendering import filled, nasty_context
from specs import write_result

from stele.command import cli
from stele.papers.paper import TODAY, papers_in
from stele.tables.render.adaptation import make_card
from stele.tables.render.pages import draw, table_page
from stele.tables.render.sheets import card_text
from tests.adapt.test_card import VERDICT

pytestmark = in_browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory, root):
    """All pages over a few results with records, a row with a nasty label among them; page -> address."""
    folder = tmp_path_factory.mktemp("pages")
    results = ("mrtydi", "zero_shot_marco", "mrr@100"), ("xor_retrieve", "zero_shot_nq", "r@2kt")
    for benchmark, setting, metric in results:
        metrics = {metric: {"languages": {"ar": 0.5, "ja": 0.25}}}
        made = {"inputs": {"a": "b2"}, "ancestry": {"b2": {"job": "finetune", "recipe": {"steps": 60}}}}
        write_result(folder / "results", (benchmark, "msm", setting), metrics, labels=["generated data"], **made)
    context = nasty_context(folder / "context.json", ["msm/2", "kept/2"])
    every = sorted((root / "paper_tables").glob("*/table_*.yaml"))
    specs = [str(spec) for spec in every if spec.parent.name != TODAY]
    given = ["--context", str(context), "--results-dir", str(folder / "results")]
    for spec in sorted((root / "paper_tables").glob("*/figure_*.yaml")):
        output = folder / f"results/tables/{spec.parent.name}/{spec.stem}.svg"
        assert cli.main(["tables", "figure", "--spec", str(spec), *given, "--output", str(output)]) == 0
    cells = ["--specs", str(root / "paper_tables"), *given, "--map", str(folder / "results/tables/cell_map.svg")]
    assert cli.main(["tables", "cells", *cells]) == 0
    for command, chosen in (("all_tables", specs), ("table", [spec for spec in specs if "msm/table_0" in spec])):
        assert cli.main(["tables", command, "--spec", *chosen, *given]) == 0
    tables, today = folder / "results/tables", [str(spec) for spec in every if spec.parent.name == TODAY]
    command = ["tables", "all_tables", "--name", "today_tables", "--spec", *today, *given]
    assert cli.main([*command, "--figures", str(tables / "today/figure_01.svg")]) == 0
    return {path.relative_to(tables).as_posix(): path.as_uri() for path in tables.rglob("*.html")}


def _open_popover(browser):
    """The heading of the box that is open on top, None when none is."""
    return browser.evaluate("[...document.querySelectorAll(':popover-open h3')].map(e => e.textContent).pop() ?? null")


def test_every_page_opens_without_complaint_or_request_and_fits(browser, pages):
    wanted = {"all_tables.html", "today_tables.html", "today.html", "msm/table_05.html"}
    assert wanted | {f"{paper}.html" for paper in papers_in()} <= pages.keys()
    browser.check_pages(pages.values())


def test_the_card_of_an_adaptation_fits_a_phone(browser, tmp_path):
    """Its lines of code did not."""
    page = tmp_path / "card.html"
    page.write_text(card_text("adaptation", make_card(VERDICT), ".html"), encoding="utf-8")
    browser.size(*PHONE)
    browser.open(page.as_uri())
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_long_label_without_spaces_stays_in_its_column(browser, bench):
    """It ran over the numbers beside it."""
    table = bench.spec(**{"label: Second": f"label: {'own_encoder_' * 6}"})
    page = bench.folder / "page.html"
    page.write_text(table_page(draw(filled(bench, table), root=".."), index=""), encoding="utf-8")
    for size in (PHONE, DESK):
        browser.size(*size)
        browser.open(page.as_uri())
        inside = "[...document.querySelectorAll('.side th.stub')].every(e => e.scrollWidth <= e.clientWidth)"
        assert browser.evaluate(inside), size


def test_figures_are_in_their_page_with_their_words_and_large_enough_to_read(browser, pages):
    shown = {
        "all_tables.html": ["cell_map"],
        "ccp.html": ["f01"],
        "clir_lm.html": ["f01", "f04", "f05"],
        "msm.html": [],
        "today.html": ["f01"],
    }
    for name, figures in shown.items():
        browser.size(*PHONE)
        browser.open(pages[name])
        assert browser.evaluate("[...document.querySelectorAll('figure')].map(e => e.id)") == figures
        for figure in figures:
            image = f"document.querySelector('#{figure} img')"
            browser.evaluate(f"{image}.decode()")  # fails where it is no picture
            sizes = f"[{image}.clientWidth, {image}.alt, {image}.closest('.scroll').clientWidth]"
            wide, alt, box = browser.evaluate(sizes)
            assert wide >= 7 * 96 > PHONE[0] > box, "its 7 points are 7 points; it scrolls in its box"
            assert len(alt) > 60 and ("not built" in alt or "not run" in alt or "measured" in alt)
    browser.open(pages["all_tables.html"])
    links = browser.evaluate("[...document.querySelectorAll('a[href*=\"#f\"]')].map(e => e.getAttribute('href'))")
    assert links == ["ccp.html#f01", "clir_lm.html#f01", "clir_lm.html#f04", "clir_lm.html#f05"]
    assert browser.problems == []


def test_wide_tables_scroll_in_their_box_and_labels_stay(browser, pages):
    browser.size(*PHONE)
    browser.open(pages["msm.html"])
    table = "document.querySelector('#t02 .scroll')"
    assert browser.evaluate(f"{table}.scrollWidth > {table}.clientWidth")
    browser.evaluate(f"{table}.scrollLeft = 200")
    stub = f"{table}.querySelector('th.stub')"
    left = browser.evaluate(f"{stub}.getBoundingClientRect().x - {table}.getBoundingClientRect().x")
    assert 0 <= left < 3


def test_a_click_unfolds_a_cell_and_leads_on_to_what_it_was_made_from(browser, pages):
    browser.size(*DESK)
    browser.open(pages["msm.html"])
    numbers = "[...document.querySelectorAll('#t02 .side td button')]"
    measured = browser.evaluate(f"{numbers}.find(e => e.textContent == '50.0').getAttribute('popovertarget')")
    assert _open_popover(browser) is None
    browser.click(f"#t02 .side button[popovertarget='{measured}']")
    assert _open_popover(browser).endswith("MSM · MRR@100 · AR")
    assert "measured" in browser.evaluate(f"document.getElementById('{measured}').innerText")
    browser.click(f"#{measured} button.record")
    assert _open_popover(browser) == "mrtydi / msm / zero_shot_marco"
    browser.click(":popover-open dl button.record")
    assert _open_popover(browser) == "b2"
    for expected in ("mrtydi / msm / zero_shot_marco", "MSM · MRR@100 · AR", None):
        browser.press("Escape", 27)
        assert (_open_popover(browser) or "").endswith(expected or "")
    assert _open_popover(browser) is None and browser.problems == []


def test_a_key_unfolds_a_cell_too(browser, pages):
    browser.open(pages["msm/table_05.html"])
    for key, code in (("Enter", 13), (" ", 32)):
        browser.evaluate("document.querySelector('.side td button').focus()")
        browser.press(key, code)
        assert _open_popover(browser)
        browser.press("Escape", 27)
        assert _open_popover(browser) is None
        assert browser.evaluate("document.activeElement == document.querySelector('.side td button')"), "and goes back"


def test_the_copy_button_puts_the_command_on_the_clipboard(browser, pages):
    browser.open(pages["msm.html"])
    browser("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click("#t02 .side td button")
    command = browser.evaluate("document.querySelector(':popover-open code').textContent")
    assert command.startswith("snakemake ")
    browser.click(":popover-open button.copy")
    read = "new Promise(done => setTimeout(() => done(navigator.clipboard.readText()), 100))"
    assert browser.evaluate(read) == command
    assert browser.evaluate("document.querySelector(':popover-open button.copy').textContent") == "copied"


def test_the_views_are_chosen_without_a_script(browser, pages):
    browser.open(pages["msm.html"])
    shown = "[...s.querySelectorAll('.view')].filter(e => e.offsetParent)"
    for choice, view in (("#ours", "ours"), ("#paper", "printed"), ("#difference", "difference"), ("#side", "side")):
        browser.click(choice)
        assert browser.evaluate(f"(s => {shown}[0].classList[1])(document.querySelector('#t02'))") == view
        each = f"[...document.querySelectorAll('section:has(.view)')].every(s => {shown}.length == 1)"
        assert browser.evaluate(each), "each table is shown once"


def test_a_dark_screen_and_paper_have_their_own_colours(browser, pages):
    browser.open(pages["msm/table_05.html"])
    background = "getComputedStyle(document.body).backgroundColor"
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = browser.evaluate(background)
    browser("Emulation.setEmulatedMedia", media="print")
    assert dark != browser.evaluate(background) == "rgb(255, 255, 255)"
    assert browser.evaluate("getComputedStyle(document.querySelector('.views')).display") == "none"
    parts = "[...document.querySelectorAll('main>section, main>figure')].map(e => getComputedStyle(e).breakBefore)"
    assert browser.evaluate(parts) == ["auto"], "its title is on the page of the table"
    browser.open(pages["clir_lm.html"])
    assert browser.evaluate(parts) == ["auto", *["page"] * 11], "claims, 8 tables, 3 figures"
    tallest = "Math.max(...[...document.querySelectorAll('img')].map(e => e.offsetHeight))"
    assert 500 < browser.evaluate(tallest) < 19 / 2.54 * 96, "on one page of 19 cm"
    folds = "[...document.querySelectorAll('details')].filter(e => e.checkVisibility())"
    assert browser.evaluate(f"{folds}.length > 0 && {folds}.every(e => e.open)"), "open folds are printed"
    browser("Emulation.setEmulatedMedia", media="", features=[])

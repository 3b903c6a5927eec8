"""Cells of a diverged pretraining: measured and counted, but they read `fail`; our number is one click away."""

import csv
import io
import json

import numpy as np
import pytest
from lxml import html as parser
from rendering import filled, render
from test_table_significance import put

from stele.artifacts.results import RunKey
from stele.tables.cells import count_states
from stele.tables.render import formats, pages
from stele.tables.render.formats import COLUMNS, to_csv
from stele.tables.render.layout import build, delta_of
from stele.tables.values.lookup import Results
from stele.tables.values.significance import rank
from tests.sealed import write_sealed

WHY = "ccp: loss 3.900 over the last tenth of the steps, above chance (3.466)"


def diverge(path, runs):
    """Makes a result one of the seeds of `runs`, name -> why its pretraining diverged, None where it did not."""
    pairs = [{"pretraining": int(name[2]), "finetuning": int(name[-1])} for name in runs]
    facts = {"seeds": pairs, "diverged": {name: why for name, why in runs.items() if why}}
    write_sealed(path, json.loads(path.read_text()) | facts)


@pytest.fixture
def failed(bench):
    """The better of two models diverged; the paper prints numbers for both."""
    bench.result("second", {"ar": 0.4, "sw": 0.2})
    diverge(bench.result("first", {"ar": 0.51234, "sw": 0.3}, labels=["diverged pretraining"]), {"pt0-ft0": WHY})
    return bench


def listed(bench, table):
    lines = csv.DictReader(io.StringIO(render(to_csv, bench, table)))
    assert tuple(lines.fieldnames) == COLUMNS
    return list(lines)


def test_it_counts_as_measured_and_is_neither_marked_nor_held_against_the_paper(failed):
    cells = failed.cells(failed.spec())
    assert {cell.outcome.state for cell in cells.values()} == {"measured"}
    assert count_states(list(cells.values()))[1] == ["msm", 1, 6, 6]
    cell = cells["first/value/ar"]
    assert cell.outcome.value == 0.51234 and cell.outcome.reason == f"pretraining diverged: {WHY}"
    assert delta_of(cell) is None and delta_of(cells["second/value/ar"]) is not None
    assert rank(cells.values()) == {}, "the other row is alone then, and one row alone is not marked"


def test_it_is_not_tested_for_significance(bench):
    rng = np.random.default_rng(0)
    worse = {code: rng.random(60) / 2 for code in ("ar", "sw")}
    put(bench, "first", {code: values + 0.4 for code, values in worse.items()})
    put(bench, "second", worse)
    table = bench.spec()
    assert len(filled(bench, table).tests.cells) == 3
    diverge(Results(bench.results_dir).path(RunKey("mrtydi", "first", "zero_shot_marco")), {"pt0-ft0": WHY})
    assert filled(bench, table).tests.cells == {}


@pytest.mark.parametrize("view", ["side", "difference", "ours"])
def test_every_view_of_ours_reads_fail(failed, view):
    lines = build(filled(failed, failed.spec()), view).sections[0].lines
    whose = {"ours": ["ours"] * 2}.get(view, ["ours", "paper", "ours", "paper", "diff."])
    assert len(lines) == len(whose)
    assert [box.text for box in lines[0].boxes] == ["fail"] * 3
    assert not any(box.bold or box.underlined for box in lines[0].boxes)
    assert [box.raised for box in lines[0].boxes] == ["(51.2)", "(30.0)", "(40.6)"]


def test_markdown_and_latex_say_why_once_and_our_numbers_in_the_cells(failed):
    table = failed.spec()
    for to in (formats.to_markdown, formats.to_latex):
        page = render(to, failed, table)
        assert page.count("fail") >= 3 and "(51.2)" in page and page.count(WHY[:20]) == 1
        assert "diverged pretraining (3 of the 6 measured cells)" in page


def test_csv_reads_fail_too_and_the_reason_has_our_number(failed):
    first = listed(failed, failed.spec())[0]
    shown = [first[key] for key in ("measured", "printed", "difference", "state")]
    assert shown == ["fail", "40.0", "", "measured"]
    assert first["reason"] == f"pretraining diverged: {WHY}; our number: 51.234"


def test_an_html_cell_unfolds_to_our_number_and_why(failed):
    page = pages.table_page(pages.draw(filled(failed, failed.spec()), root=".."), index="../all_tables.html")
    button = next(one for one in parser.fromstring(page).iter("button") if one.text_content() == "fail")
    box = parser.fromstring(page).get_element_by_id(button.get("popovertarget")).text_content()
    assert "fail: 51.2 (unrounded 0.51234)" in box and f"pretraining diverged: {WHY}" in box and "40.0" in box


# --- seeds ------------------------------------------------------------------------------------------------------------
def test_an_average_of_which_one_seed_diverged_is_a_number_with_the_reason(bench):
    values = {"languages": {"ar": [0.4, 0.6], "sw": [0.2, 0.4]}}
    path = bench.result("first", {"ar": 0.5, "sw": 0.3}, values=values)
    diverge(path, {"pt0-ft0": None, "pt1-ft0": WHY})
    cell = bench.cells(bench.spec())["first/value/ar"]
    assert cell.shows_number and delta_of(cell) is not None
    assert cell.outcome.reason == f"pretraining diverged in 1 of 2 seeds: pt1-ft0: {WHY}"
    assert listed(bench, bench.spec())[0]["measured"] == "50"
    diverge(path, {"pt0-ft0": WHY, "pt1-ft0": WHY})
    cell = bench.cells(bench.spec())["first/value/ar"]
    assert not cell.shows_number and "in 2 of 2 seeds: pt0-ft0: " in cell.outcome.reason


def test_a_table_s_own_seeds_are_told_apart(bench):
    table = bench.spec(**{"stub: Method": "stub: Method\nseeds: {pretraining: [0, 1]}"})
    for seed, why in (("pt0-ft0", None), ("pt1-ft0", WHY)):
        made = bench.result("first", {"ar": 0.5, "sw": 0.3})
        diverge(made, {seed: why})
        content = json.loads(made.read_text())
        (by_seed := made.with_suffix("")).mkdir(exist_ok=True)
        write_sealed(by_seed / f"{seed}.json", content | {"seeds": content["seeds"][0]})
    cell = bench.cells(table)["first/value/ar"]
    assert cell.shows_number and "in 1 of 2 seeds: pt1-ft0: " in cell.outcome.reason

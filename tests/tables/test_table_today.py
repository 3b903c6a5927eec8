"""Tables of today's encoders: published numbers beside ours with verdicts, several sources, and what was seen."""

import csv
import io
import json

import pytest
from lxml import html as parser
from rendering import render
from specs import TODAY

from stele.artifacts.records import GENERATED
from stele.catalogue.schema.published import PublishedScore
from stele.command import cli
from stele.tables.render.formats import to_csv, to_latex, to_markdown
from stele.tables.render.pages import draw, table_page
from tests.sealed import write_sealed

HUB, REVISION = "intfloat/multilingual-e5-small", "a" * 40


def score(value=0.5, subset="ko", **more):
    given = {"split": "test", "tolerance": 0.01, "source": "paper", "locator": "table 1", "status": "read"}
    given |= {"model": HUB, "benchmark": "mrtydi", "metric": "mrr@100", "model_revision": REVISION}
    return PublishedScore(**given | {"subset": subset, "value": value} | more)


@pytest.fixture
def said(monkeypatch):
    """Takes the published numbers that a test gives in place of those of references.tsv."""

    def says(*scores):
        monkeypatch.setattr("stele.published.verdicts.published", lambda: {"mrtydi": scores})

    return says


def measured(bench, languages, labels=(), revision=REVISION, model="me5_small"):
    """A result of E5 small as it is, with the record that says which checkpoint it is of."""
    path = bench.result(model, languages, setting="direct", labels=labels)
    checkpoint = {"job": "sources checkpoint", "model": model, "repository": HUB, "revision": revision}
    write_sealed(path, json.loads(path.read_text()) | {"ancestry": {"a": checkpoint}})


def lines_of(page):
    """Whose numbers -> the cells of that line, of the first row of a Markdown page."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    start = next(place for place, row in enumerate(rows) if row[0] == "mE5-small")
    of_row = [rows[start], *(row for row in rows[start + 1 : start + 3] if not row[0])]
    return {row[1]: row[2:] for row in of_row}


def note(page, mark):
    return next(line for line in page.splitlines() if line.startswith(f"- {mark}"))


# --- verdicts ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ours", "shown"),
    [(0.49, "−1.0<sup>OK</sup>"), (0.52, "+2.0<sup>near</sup>"), (0.5201, "**+2.0**<sup>FAIL</sup>")],
)
def test_a_difference_bears_its_verdict_to_the_edge_of_the_tolerance(bench, said, ours, shown):
    said(score())
    measured(bench, {"ko": ours})
    lines = lines_of(render(to_markdown, bench, bench.spec(TODAY)))
    assert lines["published"] == ["50.0", "", ""] and lines["diff."] == [shown, "", ""]


def test_what_may_move_a_number_is_said_beside_the_verdict(bench, said):
    said(score())
    measured(bench, {"ko": 0.5}, revision="b" * 40)
    page = render(to_markdown, bench, bench.spec(TODAY))
    assert lines_of(page)["diff."][0] == "0.0<sup>OK*</sup>".replace("*", r"\*")
    assert f"published of revision {'a' * 12}, ours is {'b' * 12} (mE5-small)." in note(page, r"\*")


def test_a_table_with_seeds_of_its_own_is_judged_by_them(bench, said):
    said(score(), score(subset="sw"))
    measured(bench, {"ko": 0.505, "sw": 0.4})
    path = bench.results_dir / "mrtydi/me5_small/direct.json"
    path.with_suffix("").mkdir()
    path.rename(path.with_suffix("") / "pt0-ft1.json")  # no file has the mean over the configuration's seeds
    table = bench.spec(TODAY, **{"stub: Model": "stub: Model\nseeds: {finetuning: [1]}"})
    cells = bench.cells(table)
    assert [cells[f"me5_small/value/{code}"].published[0].state for code in ("ko", "sw")] == ["OK", "FAIL"]


def test_what_is_of_something_else_has_no_difference_and_says_why(bench, said):
    said(score())
    measured(bench, {"ko": 0.5}, [GENERATED])
    page = render(to_markdown, bench, bench.spec(TODAY))
    assert lines_of(page) == {"ours": ["50.0<sup>†</sup>", "—<sup>n</sup>", "50.0<sup>1/2 †</sup>"],
                              "published": ["50.0<sup>≠</sup>", "", ""]}  # fmt: skip
    assert note(page, "≠") == "- ≠: not comparable: the data are generated (mE5-small)."


def test_a_row_of_your_own_stands_beside_the_numbers_published_of_its_checkpoint(bench, said):
    said(score())
    measured(bench, {"ko": 0.5201}, model="own")
    added = [{"model": "own", "label": "mE5-small"}, {"model": "other", "label": "Other"}]
    page = render(to_markdown, bench, bench.spec(TODAY, **{"[me5_small, msm]": "[msm]"}), extra_rows=added)
    first, published = page[: page.index("As published")], page[page.index("As published") :]
    lines = lines_of(first.replace("mE5-small<sup>+</sup>", "mE5-small"))
    assert lines["published"] == ["50.0", "", ""] and lines["diff."] == ["**+2.0**<sup>FAIL</sup>", "", ""]
    assert "mE5-small" in published and "Other" not in published and "MSM" not in published


def test_a_number_that_is_none_is_a_damaged_result_and_no_verdict(bench, said):
    said(score())
    measured(bench, {"ko": 0.5})
    path = bench.results_dir / "mrtydi/me5_small/direct.json"
    path.write_text(path.read_text().replace('"ko": 0.5', '"ko": NaN'))
    cell = bench.cells(bench.spec(TODAY))["me5_small/value/ko"]
    assert cell.outcome.state == "unreadable" and [one.state for one in cell.published] == ["not measured"]


def test_generated_data_have_a_difference_only_where_every_one_is_asked_for(bench, said):
    said(score())
    measured(bench, {"ko": 0.6}, [GENERATED])
    assert lines_of(render(to_markdown, bench, bench.spec(TODAY), view="difference"))["diff."] == ["+10.0", "", ""]


def test_a_row_that_nobody_published_has_no_empty_lines(bench, said):
    said()
    measured(bench, {"ko": 0.5})
    assert lines_of(render(to_markdown, bench, bench.spec(TODAY))).keys() == {"ours"}


def test_a_footnote_of_a_cell_that_nobody_published_stands_at_ours(bench, said):
    said()
    measured(bench, {"ko": 0.5})
    notes = 'footnotes: [{text: Odd., at: ["all/me5_small/value/ko", "all/me5_small/value/sw"]}]'
    page = render(to_markdown, bench, bench.spec(TODAY, **{"stub: Model": f"stub: Model\n{notes}"}))
    assert lines_of(page)["ours"][:2] == ["50.0<sup>†,1</sup>", "—<sup>n,1</sup>"]
    assert note(page, "—<sup>n</sup>").startswith("- —<sup>n</sup> **not run**") and "\n1. Odd." in page


# --- sources ----------------------------------------------------------------------------------------------------------
def test_the_source_that_is_shown_does_not_depend_on_our_number(bench, said):
    others = score(0.57, status="secondary"), score(0.58, model_revision="b" * 40)
    said(*others, score(0.59, tolerance=0.02), score(0.50, tolerance=0.001))
    for ours in (0.50, 0.57, 0.58, 0.59):
        measured(bench, {"ko": ours})
        cell = bench.cells(bench.spec(TODAY))["me5_small/value/ko"]
        assert [one.published.value for one in cell.published] == [0.50, 0.59, 0.58, 0.57]
        assert lines_of(render(to_markdown, bench, bench.spec(TODAY)))["published"][0] == "50.0<sup>×4</sup>"


def test_all_sources_stand_in_the_page_and_in_the_csv_each_with_its_verdict(bench, said):
    said(score(), score(0.53, source="model card"), score(0.47, source="a blog", status="unverified"))
    measured(bench, {"ko": 0.5})
    page = parser.fromstring(render(_page, bench, bench.spec(TODAY)))
    (box,) = page.xpath("//div[h3[.='mE5-small · KO']]")
    values = [value.xpath("string(text() | span/text())") for value in box.xpath(".//dd")]  # without explanations
    facts = dict(zip(box.xpath(".//dt/text()"), values, strict=True))
    assert "tolerance 0.01): OK, 0.0; paper; table 1" in facts["published 1"]
    assert "FAIL, -3.0" in facts["published 2"] and "unverified, so no verdict" in facts["published 3"]
    rows = list(csv.DictReader(io.StringIO(render(to_csv, bench, bench.spec(TODAY)))))
    korean = [row for row in rows if row["language"] == "ko" and "mE5" in row["row"]]
    assert [(row["published"], row["difference"], row["verdict"], row["source"]) for row in korean] == [
        ("50", "0", "OK", "paper"), ("53", "-3", "FAIL", "model card"), ("47", "3", "context", "a blog"),
    ]  # fmt: skip
    assert {row["verdict"] for row in rows if row["language"] == "sw"} == {""}, "a line where nothing is published"


def _page(filled):
    return table_page(draw(filled, root="../.."), index="../today_tables.html")


def test_a_number_at_second_hand_is_grey_in_every_format_and_judges_nothing(bench, said):
    said(score(status="secondary"))
    measured(bench, {"ko": 0.5})
    page = render(to_markdown, bench, bench.spec(TODAY))
    assert lines_of(page)["published"][0] == "*50.0*" and lines_of(page)["diff."][0] == "*0.0*"
    assert "OK" not in page and note(page, "Grey")
    assert r"\stelegrey{50.0}" in render(to_latex, bench, bench.spec(TODAY))
    assert '<i class="dim">50.0</i>' in render(_page, bench, bench.spec(TODAY))


def test_a_mean_that_is_published_by_language_only_is_taken_where_a_source_has_each(bench, said):
    other = {"source": "model card", "status": "read"}
    said(score(0.4), score(0.6, "sw", tolerance=0.02), score(0.9, **other))
    cell = bench.cells(bench.spec(TODAY))["me5_small/value/avg"]
    (one,) = cell.published
    assert one.published.value == pytest.approx(0.5) and one.published.tolerance == 0.02
    assert one.published.note == "mean of 2 published numbers, computed here"


# --- questions that a model saw ---------------------------------------------------------------------------------------
def test_a_cross_marks_models_that_saw_the_training_questions_and_a_note_names_them(bench, said):
    said()
    measured(bench, {"ko": 0.5})
    bench.result("msm", {"ko": 0.4}, setting="direct")
    page = render(to_markdown, bench, bench.spec(TODAY))
    assert "50.0<sup>†</sup>" in page.replace("**", "") and "40.0 " in page
    assert note(page, "†") == "- †: the model saw training questions of mrtydi, miracl: mE5-small."


# --- pages ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def together(bench, root):
    """The pages of all tables of today's encoders, over one result."""
    measured(bench, {"ko": 0.5})
    specs = sorted(map(str, (root / "paper_tables/today").glob("table_*.yaml")))
    given = ["--spec", *specs, "--results-dir", str(bench.results_dir)]
    assert cli.main(["tables", "table", *given]) == 0
    assert cli.main(["tables", "all_tables", "--name", "today_tables", *given]) == 0
    return bench.results_dir / "tables"


def test_they_stand_together_in_files_of_their_own(together):
    names = {path.name for path in together.iterdir() if path.is_file()}
    assert names == {*(f"today_tables.{ending}" for ending in ("md", "tex", "bib", "html")), "today.html"}
    index = parser.fromstring((together / "today_tables.html").read_text())
    links = {link.partition("#")[0] for link in index.xpath("//a/@href")}
    assert all((together / link).is_file() for link in links) and "today/table_01.md" in links
    table = parser.fromstring((together / "today/table_01.html").read_text())
    assert table.xpath("//nav/a/@href") == ["../today_tables.html"]
    for name in ("today_tables.md", "today.html", "today/table_07.md"):
        text = (together / name).read_text().lower()
        assert "published" in text and "the paper's" not in text and "the paper prints" not in text


def test_commands_that_go_through_specs_take_their_folder(together, root, capsys):
    specs, results = str(root / "paper_tables/today"), ["--results-dir", str(together.parent)]
    assert cli.main(["tables", "check", "--specs", specs]) == 0
    assert "all: 0 cells of 7 tables" in capsys.readouterr().out
    assert cli.main(["tables", "cells", "--specs", specs, *results]) == 0
    assert capsys.readouterr().out.splitlines()[2].replace("|", " ").split()[:2] == ["today", "7"]
    assert cli.main(["tables", "cells", "--specs", specs, *results, "--format", "csv"]) == 0
    listed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["paper"] for row in listed} == {"today"} and any(row["state"] == "not run" for row in listed)
    assert cli.main(["tables", "cells", "--specs", specs, *results, "--map", str(together / "map.svg")]) == 0
    assert "Today's encoders" in (together / "map.svg").read_text()

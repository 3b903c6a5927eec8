"""Rendered tables: what a reader sees in Markdown and CSV, escaped; the command, the same bytes every time."""

import csv
import io
import json
import re

from rendering import NASTY, render

from stele.artifacts.records import content_digest
from stele.command import cli
from stele.files.formats import csv_text
from stele.papers.table import load_spec
from stele.tables.render import formats, markdown
from stele.tables.render.formats import COLUMNS, to_csv, to_markdown
from stele.tables.render.summary import by_rows, merged, without_paths


def _pipe_rows(page):
    """The cells of all pipe tables of a page, as a Markdown reader splits them."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


# --- Markdown ---------------------------------------------------------------------------------------------------------
def test_ours_the_papers_and_the_difference_side_by_side(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["generated data", "stand-in checkpoint"])
    page = render(formats.to_markdown, bench, bench.spec(), scale="miniature", view="difference")
    rows = _pipe_rows(page)
    assert rows[0] == ["Method", "", "AR", "SW", "AVG"]
    assert rows[2:5] == [
        ["First", "ours", "50.0", "10.0", "30.0"],
        ["", "paper", "40.0", "20.0", "30.0"],
        ["", "diff.", "+10.0", "−10.0", "0.0"],
    ]
    assert rows[5] == ["Second", "ours", *["—<sup>n</sup>"] * 3]
    assert rows[6][1] == "paper" and rows[7][0] == "Method", "no line of differences where there is none"
    labels = "generated data; stand-in checkpoint; not a reproduction of the paper's numbers: scale miniature."
    assert f"**Labels: {labels}**" in page
    assert "**The 6 cells:** 3 measured, 3 not run." in page
    assert "snakemake " + (bench.results_dir / "tables/msm/table_99.md").as_posix() in page
    assert "snakemake " + (bench.results_dir / "mrtydi/second/zero_shot_marco.json").as_posix() in page


def test_a_difference_agrees_with_the_two_numbers_above_it(bench):
    bench.result("first", {"ar": 0.3995, "sw": 0.2005})
    rows = _pipe_rows(render(formats.to_markdown, bench, bench.spec()))
    assert [row[2:4] for row in rows[2:5]] == [["40.0", "20.1"], ["40.0", "20.0"], ["0.0", "+0.1"]]
    (line, *_) = csv.DictReader(io.StringIO(render(to_csv, bench, bench.spec())))
    assert (line["measured"], line["difference"]) == ("39.95", "-0.05"), "unrounded"


def test_real_data_with_a_real_checkpoint_never_reads_miniature(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=[])
    page = render(formats.to_markdown, bench, bench.spec(), scale="miniature")
    assert "Labels" not in page and "not a reproduction" not in page


def test_generated_data_and_stand_ins_have_a_difference_only_when_asked_for(bench):
    bench.result("first", {"ar": 0.5}, labels=["generated data"])
    bench.result("second", {"ar": 0.5})
    page = render(formats.to_markdown, bench, bench.spec(), scale="miniature")
    whose = [row[1] for row in _pipe_rows(page)[2:7]]
    assert whose == ["ours", "paper", "ours", "paper", "diff."], "real data beside them keep theirs"
    assert "Differences from the paper are not shown for generated data" in page


def test_a_borrowed_row_takes_one_line_though_its_parameters_are_counted(bench, root):
    table = load_spec(root / "paper_tables/kept/table_02.yaml")
    bench.result("mbert", {"all": 1.0}, benchmark="parameters", setting="direct", metric="parameters")
    whose = [(row[0], row[2]) for row in _pipe_rows(render(formats.to_markdown, bench, table))]
    at = next(place for place, (label, _) in enumerate(whose) if label.startswith("mBERT"))
    assert [name for _, name in whose[at : at + 2]] == ["paper", "paper"] and whose[at + 2][0], "one line a metric"


def test_pipes_and_specials_stay_inside_their_cells(bench):
    spec = bench.spec()
    page = render(formats.to_markdown, bench, spec, extra_rows=[{"model": "own", "label": NASTY}])
    rows = _pipe_rows(page)
    assert {len(row) for row in rows} == {5, 4}, "side by side has five columns, the folded views four"
    shown = next(row[0] for row in rows if "a\\|b" in row[0])
    own = shown.removesuffix("<sup>+</sup>").removeprefix('<span dir="auto">').removesuffix("</span>")
    assert own != shown.removesuffix("<sup>+</sup>"), "a label with Arabic letters has a direction of its own"
    plain = re.sub(r"\\(.)", r"\1", own)
    assert plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == NASTY
    assert "<f>" not in page


def test_footnotes_are_numbered_where_they_belong(bench, msm):
    page = render(formats.to_markdown, bench, msm[8])
    assert "44.7**<sup>2</sup>" in page and "44.9<sup>2</sup>" in page
    assert "2. The paper sets 44.7 in bold although four layers reach 44.9. (I08)" in page


def test_a_label_that_begins_like_a_list_is_none_below_the_table(bench):
    spec = bench.spec(**{"label: First": 'label: "+ RR"', "label: Second": 'label: "2. Second"'})
    page = render(formats.to_markdown, bench, spec)
    assert "\n- \\+ RR: `" in page and "\n- 2\\. Second: `" in page
    assert "| + RR " in page, "in a cell there are no lists"


def test_markdown_code_spans_hold_backticks():
    assert markdown.code("a`b") == "``a`b``" and markdown.code("`") == "`` ` ``"


def test_a_difference_that_the_paper_prints_stands_behind_its_number(bench):
    spec = bench.spec(**{"printed: [40.0, 20.0, 30.0]": "printed: [{value: 40.0, difference: -10.0}, 20.0, 30.0]",
                         "groups:": "differences_from: all/second\ngroups:"})  # fmt: skip
    assert "40.0<sup>(−10.0)</sup>" in render(formats.to_markdown, bench, spec)


# --- CSV --------------------------------------------------------------------------------------------------------------
def _csv(bench, table, **context):
    return list(csv.DictReader(io.StringIO(render(to_csv, bench, table, **context))))


def test_csv_has_one_line_a_cell(bench, msm):
    about = {"benchmark": "xor_retrieve", "setting": "zero_shot_nq", "metric": "r@2kt"}
    bench.result("msm", {"te": 0.5}, **about, labels=["limited"])
    lines = _csv(bench, msm[3])
    assert len(lines) == 80 and tuple(lines[0]) == COLUMNS
    line = next(x for x in lines if x["row"] == "MSM / R@2k" and x["column"] == "TE")
    path = (bench.results_dir / "xor_retrieve/msm/zero_shot_nq.json").as_posix()
    assert line == {
        "paper": "msm", "table": "3", "row": "MSM / R@2k", "column": "TE", "language": "te", "printed": "47.9",
        "printed_under": "AR",
        "measured": "50", "difference": "2.1", "state": "measured", "reason": "",
        "labels": "limited", "target": path,
        "command": f"snakemake {path} --config results_dir={bench.results_dir}",
    }  # fmt: skip
    average = next(x for x in lines if x["row"] == "MSM / R@2k" and x["column"] == "AVG")
    shown = [average[key] for key in ("language", "difference", "labels")]
    assert shown == ["average", "", "limited; average of 1 of 7 languages"]


def test_labels_are_no_formulas_and_turn_nothing_around(bench):
    """A row's label may come from a colleague's folder of results, which no configuration has checked."""
    rows_added = [{"model": "mine", "label": '=HYPERLINK("http://a.org")'}, {"model": "yours", "label": "+ R\u202eR\0"}]
    text = render(to_csv, bench, bench.spec(), extra_rows=rows_added)
    rows = [line["row"] for line in csv.DictReader(io.StringIO(text))]
    assert {'\'=HYPERLINK("http://a.org")', "'+ R\ufffdR\ufffd"} <= set(rows)
    assert [csv_text(row) for row in rows if row.startswith("'=")] == ['=HYPERLINK("http://a.org")'] * 3
    for form in (formats.to_markdown, formats.to_latex, to_csv):
        page = render(form, bench, bench.spec(), extra_rows=rows_added)
        assert "\u202e" not in page and "\0" not in page and "202E" not in page


# --- the command ------------------------------------------------------------------------------------------------------
def _command(bench, root, *more):
    specs = [root / f"paper_tables/msm/table_{number:02d}.yaml" for number in (9, 3)]
    return cli.main(["tables", "table", "--spec", *map(str, specs), "--results-dir", str(bench.results_dir), *more])


def test_the_command_writes_many_tables_and_the_same_bytes_every_time(bench, root):
    bench.result("msm", {"ar": 0.5, "en": 0.25})
    context = bench.folder / "context.json"
    context.write_text(json.dumps({"scale": "miniature"}))
    contents = []
    for run in ("one", "two"):
        assert _command(bench, root, "--context", str(context), "--output-dir", str(bench.folder / run)) == 0
        contents.append({p.relative_to(bench.folder / run): p.read_bytes() for p in (bench.folder / run).rglob("*.*")})
    tables, again = ({path: text for path, text in content.items() if path.suffix != ".json"} for content in contents)
    assert tables == again  # records alone hold times
    kinds = ("csv", "html", "json", "md", "tex")
    names = [f"msm/table_{number}.{suffix}" for number in ("03", "09") for suffix in kinds]
    assert sorted(path.as_posix() for path in contents[0]) == names, "and nothing half-written stays"


def test_a_tables_record_names_the_results_that_stand_in_it(bench, root):
    path = bench.result("msm", {"ar": 0.5, "en": 0.25}, labels=["generated data"])
    assert _command(bench, root) == 0
    record = json.loads((bench.results_dir / "tables/msm/table_09.json").read_text())  # in the results, by default
    assert record["table"] == "msm/9" and record["labels"] == ["generated data"]
    assert record["results"] == {path.as_posix(): content_digest(path)}
    assert record["inputs"].keys() == {"spec"} and record["significance"]["cells"] == {}


def test_a_table_drawn_by_hand_keeps_the_rows_that_the_last_run_added(bench, root):
    """Snakemake takes the table for the one it built, and would not draw it again."""
    added = {"extra_rows": [{"model": "own", "label": "My model", "tables": ["msm/9"]}]}
    (bench.results_dir / "tables").mkdir(parents=True)
    (bench.results_dir / "tables/context.json").write_text(json.dumps(added))
    assert _command(bench, root) == 0
    assert "My model" in (bench.results_dir / "tables/msm/table_09.md").read_text()


def test_the_command_refuses_what_it_cannot_do(bench, root, capsys):
    context = bench.folder / "context.json"
    context.write_text('{"scales": "x"}')
    assert _command(bench, root, "--context", str(context)) == 1
    assert "unknown key 'scales'; did you mean 'scale'?" in capsys.readouterr().err
    assert not (bench.results_dir / "tables").exists()


# --- reasons under a table: alike ones once, in words of rows, without paths ------------------------------------------
def test_alike_reasons_are_said_once_with_ranges_and_lists_and_others_stay_apart():
    signs = ["cosine 1.000, found 0.015 of the times", "cosine 0.985, found 0.016 of the times"]
    assert merged([*signs, "the loss is 18.3", "the loss is 4.7"]) == [
        "cosine 0.985 to 1.000, found 0.015 to 0.016 of the times",
        "the loss is 4.7 to 18.3",
    ]
    assert merged(["KNRM has none", "DRMM has none"]) == ["KNRM has none", "DRMM has none"], "a subject is no list"
    assert merged(["a b c", "a x c", "a b y"]) == ["a b, x c", "a b y"], "texts that differ at two places are no list"
    rows = {"no vectors of de-es": ("KNRM",), "no vectors of de-fr": ("KNRM",), "no vectors of en-es": ("DRMM",)}
    assert by_rows(rows) == {"no vectors of de-es, de-fr": ("KNRM",), "no vectors of en-es": ("DRMM",)}


def test_an_error_has_no_path_of_a_file():
    why = "First and Second: results/a/queries.parquet: lacks 8 queries that /x/b/queries.parquet has, for example 'q'"
    assert without_paths(why) == "First and Second: lacks 8 queries that the other has, for example 'q'"
    assert without_paths("r/a.json: no file r/a/queries.parquet, where") == "no file queries.parquet, where"


def test_rows_of_one_label_are_told_apart_by_their_groups(bench, msm):
    """MSM, table 9 has the same three rows twice: what holds for three of the six held for all rows."""
    unavailable = {"state": "unavailable", "reason": "no data"}
    settings, models = ("zero_shot_marco", "multilingual"), ("mbert", "xlmr", "msm")
    rows = {f"{model}/{setting}/mrtydi": unavailable for setting in settings for model in models}
    group = "Cross-lingual zero-shot transfer (models are fine-tuned on English data)"
    two = f"mBERT under {group}, XLMR under {group}"
    for count, said in ((2, two), (3, f"all rows under {group}"), (6, "all rows")):
        page = render(to_markdown, bench, msm[9], rows=dict([*rows.items()][:count]))
        assert f"**unavailable**: no run can give this number. {said}: no data." in page


def test_what_a_state_means_does_not_contradict_its_reason(bench, msm):
    """A checkpoint without a stand-in was called a language that this run leaves out."""
    why = {"state": "not in scale", "reason": "no stand-in for its checkpoint"}
    page = render(to_markdown, bench, msm[9], rows={"mbert/zero_shot_marco/mrtydi": why})
    (note,) = [line for line in page.splitlines() if "**not in scale**" in line]
    assert note.endswith("no stand-in for its checkpoint.") and "language" not in note

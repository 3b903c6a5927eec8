"""Rendered tables: what a reader sees in Markdown, LaTeX and CSV, escaped, the same bytes every time."""

import csv
import io
import json
import re
import shutil
import subprocess

import pytest

from stele import cli
from stele.tables import latex, markdown, render
from stele.tables.cells import Results, table_cells
from stele.tables.context import Context

NASTY = 'a|b_c*d`e<f>g&h#i%j$k~l^m\\n{o}[p] é ß Ж ท ع ąǆ α ± "q" don\'t'


def _render(to, bench, table, **context):
    context, results = Context(**context), Results(bench.results_dir)
    return to(table, table_cells(table, context, results), context, results)


def _pipe_rows(page):
    """The cells of all pipe tables of a page, as a Markdown reader splits them."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


# --- Markdown ---------------------------------------------------------------------------------------------------------
def test_ours_the_papers_and_the_difference_side_by_side(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["generated data", "stand-in checkpoint"])
    page = _render(render.to_markdown, bench, bench.spec(), scale="miniature")
    rows = _pipe_rows(page)
    assert rows[0] == ["Method", "", "AR", "SW", "AVG"]
    assert rows[2:5] == [
        ["First", "ours", "50.0", "10.0", "30.0"],
        ["", "paper", "40.0", "20.0", "30.0"],
        ["", "diff.", "+10.0", "−10.0", "0.0"],
    ]
    assert rows[5] == ["Second", "ours", *["—<sup>n</sup>"] * 3]
    assert rows[6][1] == "paper" and rows[7][0] == "Method", "no line of differences where there is none"
    assert "**Labels: generated data; stand-in checkpoint; not the paper's numbers: miniature.**" in page
    assert "**The 6 cells:** 3 measured, 3 not run." in page
    assert "snakemake " + (bench.results_dir / "tables/msm/table_99.md").as_posix() in page
    assert "snakemake " + (bench.results_dir / "mrtydi/second/zero_shot_marco.json").as_posix() in page


def test_real_data_with_a_real_checkpoint_never_reads_miniature(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=[])
    page = _render(render.to_markdown, bench, bench.spec(), scale="miniature")
    assert "Labels" not in page and "not the paper's numbers" not in page


def test_a_label_of_some_cells_says_of_how_many(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["limited"])
    bench.result("second", {"ar": 0.5, "sw": 0.1})
    page = _render(render.to_markdown, bench, bench.spec(), scale="miniature")
    assert "limited (3 of the 6 measured cells)" in page and "not the paper's numbers" not in page


def test_missing_is_never_zero(bench, msm):
    for table in msm.values():
        page = _render(render.to_markdown, bench, table)
        assert not any(cell.strip("*") == "0.0" for row in _pipe_rows(page) for cell in row)
        assert all(line["measured"] == "" for line in _csv(bench, table))


def test_pipes_and_specials_stay_inside_their_cells(bench):
    spec = bench.spec()
    page = _render(render.to_markdown, bench, spec, extra_rows=[{"model": "own", "label": NASTY}])
    rows = _pipe_rows(page)
    assert {len(row) for row in rows} == {5, 4}, "side by side has five columns, the folded views four"
    shown = next(row[0] for row in rows if row[0].startswith("a"))
    plain = re.sub(r"\\(.)", r"\1", shown.removesuffix("<sup>+</sup>"))
    assert plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == NASTY
    assert "<f>" not in page


def test_every_table_has_as_many_cells_in_every_row(bench, msm):
    for number, table in msm.items():
        page = _render(render.to_markdown, bench, table)
        for view in page.split("\n\n"):
            assert len({len(row) for row in _pipe_rows(view)}) <= 1, f"table {number}"


def test_best_marks_are_ours_and_bold_of_the_paper_stays_in_its_line(bench, msm):
    for model, value in {"msm": 0.1, "msm_neg_256": 0.3, "msm_neg_1024": 0.2}.items():
        languages = msm[6].columns[0].target.average
        bench.result(model, dict.fromkeys(languages, value), setting="zero_shot_nq")
    rows = {tuple(row[:2]): row[2] for row in _pipe_rows(_render(render.to_markdown, bench, msm[6])) if len(row) == 6}
    assert rows["256", "ours"] == "**30.0**" and rows["1024", "ours"] == "<ins>20.0</ins>"
    assert rows["512<sup>1</sup>", "ours"] == "10.0" and rows["", "paper"]
    assert "**34.0**" in _render(render.to_markdown, bench, msm[6])


def test_exchanged_columns_as_meant_and_as_printed(bench, msm):
    page = _render(render.to_markdown, bench, msm[3])
    side, _, printed = page.partition("As the paper prints it")
    assert "The columns AR and TE are exchanged" in side
    as_meant = next(row for row in _pipe_rows(side) if row[2] == "paper")
    assert as_meant[3:] == ["29.1", "26.6", "38.5", "32.4", "38.6", "24.9", "31.1", "31.6"]
    as_printed = next(row for row in _pipe_rows(printed) if row[0] == "mBERT")
    assert as_printed[2:] == ["31.1", "26.6", "38.5", "32.4", "38.6", "24.9", "29.1", "31.6"]


def test_footnotes_are_numbered_where_they_belong(bench, msm):
    page = _render(render.to_markdown, bench, msm[8])
    assert "44.7**<sup>2</sup>" in page and "44.9<sup>2</sup>" in page
    assert "2. The paper sets 44.7 in bold although four layers reach 44.9. (I08)" in page


# --- CSV --------------------------------------------------------------------------------------------------------------
def _csv(bench, table, **context):
    return list(csv.DictReader(io.StringIO(_render(render.to_csv, bench, table, **context))))


def test_csv_has_one_line_a_cell(bench, msm):
    bench.result(
        "msm", {"te": 0.5}, benchmark="xor_retrieve", setting="zero_shot_nq", metric="r@2kt", labels=["limited"]
    )
    lines = _csv(bench, msm[3])
    assert len(lines) == 80 and tuple(lines[0]) == render.CSV_COLUMNS
    line = next(x for x in lines if x["row"] == "MSM / R@2k" and x["column"] == "AR")
    path = (bench.results_dir / "xor_retrieve/msm/zero_shot_nq.json").as_posix()
    assert line == {
        "paper": "msm", "table": "3", "row": "MSM / R@2k", "column": "AR", "language": "te", "printed": "47.9",
        "measured": "50", "difference": "2.1", "state": "measured", "labels": "limited", "target": path,
        "command": f"snakemake {path}",
    }  # fmt: skip
    average = next(x for x in lines if x["row"] == "MSM / R@2k" and x["column"] == "AVG")
    assert (average["language"], average["difference"], average["labels"]) == (
        "average",
        "",
        "limited; average of 1 of 7 languages",
    )


# --- LaTeX ------------------------------------------------------------------------------------------------------------
def test_specials_are_escaped():
    assert latex.escape("100% of a_b & #1 {x} $") == r"100\% of a\_b \& \#1 \{x\} \$"
    assert latex.escape("é α ‡") == r"\'{e} $\alpha$ $\ddagger$"
    assert latex.escape("Ж") == r"\steleunicode{0416}{Ж}"


def test_markdown_code_spans_hold_backticks():
    assert markdown.code("a`b") == "``a`b``" and markdown.code("`") == "`` ` ``"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_all_tables_compile_alone_and_together_in_every_view(bench, msm):
    """The packages that the first line of a file names, and nothing else; nasty labels and every view."""
    bench.result("msm", {"ar": 0.5, "sw": 0.123}, labels=["generated data"])
    names = []
    for number, table in msm.items():
        added = {"extra_rows": [{"model": "own", "label": NASTY}], "scale": "my_scale%"}
        (bench.folder / f"t{number}.tex").write_text(_render(render.to_latex, bench, table, **added), encoding="utf-8")
        names.append(f"t{number}")
    views = [
        rf"\def\steleview{{{view}}}" + "".join(rf"\input{{{n}}}\clearpage" for n in names)
        for view in ("side", "ours", "paper")
    ]
    document = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n%s\n\\end{document}\n"
    (bench.folder / "all.tex").write_text(document % "\n".join(views), encoding="utf-8")
    (bench.folder / "one.tex").write_text(document % r"\input{t9}", encoding="utf-8")
    for name, pages in (("one", 1), ("all", 48)):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, errors="replace", check=False)
        log = (bench.folder / f"{name}.log").read_text(errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        assert f"({pages} page" in log.replace("\n", ""), "every table takes one page at most"
        assert "Overfull \\hbox" not in log and "too large for page" not in log


# --- the command ------------------------------------------------------------------------------------------------------
def test_the_command_writes_the_same_bytes_every_time(bench, root, capsys):
    bench.result("msm", {"ar": 0.5, "en": 0.25})
    (bench.folder / "context.json").write_text(json.dumps({"scale": "miniature"}))
    contents = []
    for run in ("one", "two"):
        out = bench.folder / run
        arguments = [
            "--spec",
            str(root / "paper_tables/msm/table_09.yaml"),
            "--context",
            str(bench.folder / "context.json"),
        ]
        arguments += ["--results-dir", str(bench.results_dir)]
        arguments += [
            x for suffix in ("md", "tex", "csv") for x in (f"--output-{suffix}", str(out / f"table.{suffix}"))
        ]
        assert cli.main(["tables", "table", *arguments]) == 0
        contents.append([(out / f"table.{suffix}").read_bytes() for suffix in ("md", "tex", "csv")])
    assert contents[0] == contents[1]
    assert not list(bench.folder.glob("*/.*")), "nothing half-written stays"


def test_the_command_refuses_what_it_cannot_do(bench, root, capsys):
    spec = str(root / "paper_tables/msm/table_09.yaml")
    assert cli.main(["tables", "table", "--spec", spec]) == 1
    assert "--output-md" in capsys.readouterr().err
    context = bench.folder / "context.json"
    context.write_text('{"scales": "x"}')
    arguments = [
        "tables",
        "table",
        "--spec",
        spec,
        "--output-md",
        str(bench.folder / "x.md"),
        "--context",
        str(context),
    ]
    assert cli.main(arguments) == 1
    assert "unknown key 'scales'; did you mean 'scale'?" in capsys.readouterr().err
    assert not (bench.folder / "x.md").exists()

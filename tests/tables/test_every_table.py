"""What holds in every table and format: a header names what its numbers are of, and notes explain the marks there."""

import csv
import io
import json
import math
import re

import pytest
from lxml import html as parser
from rendering import measure_everything, render

from stele.command import cli
from stele.files.formats import csv_text
from stele.papers.table import TableCell, footnote_numbers, load_specs
from stele.papers.table_parts import Target, merge, resolve
from stele.tables.check import printed_cells
from stele.tables.render import latex, markdown
from stele.tables.render.formats import to_markdown
from stele.tables.values import numbers
from stele.tables.values.cell import count_text, counted, table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results

EXCHANGED = {"clir_lm/5", "msm/3", "msm/10", "msm/15", "kept/4", "kept/5"}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory, root):
    """The folder of all tables, rendered from results of which no two numbers are the same, and those results."""
    folder = tmp_path_factory.mktemp("all") / "results"
    measure_everything(folder, root / "paper_tables", root / "paper_tables/today")
    rows = {"recompute": "all", "scale": "test"}
    (folder / "context.json").write_text(json.dumps(rows), encoding="utf-8")
    specs = [str(path) for path in sorted((root / "paper_tables").glob("*/table_*.yaml"))]
    arguments = ["--context", str(folder / "context.json"), "--results-dir", str(folder)]
    assert cli.main(["tables", "table", "--spec", *specs, *arguments]) == 0
    return folder


def _tables(root):
    return [*load_specs(root / "paper_tables"), *load_specs(root / "paper_tables/today")]


def _number(text):
    """The first number of a text of any format, without commas, None where there is none."""
    found = re.search(r"[-−+]?\d[\d,]*(\.\d+)?", text)
    return found and found[0].replace(",", "").replace("−", "-")


def _expected(folder, table):
    """(heading, row, line, header) -> (our number, the printed number) as text, read from the spec and the results.

    Ours by the column's own target; the printed one from the place in the row that `relabel` leads to.
    """
    cells = {}
    for group, row in table.rows():
        exchanged = table.relabel if row.relabel is None else row.relabel
        for line in table.lines:
            entries = dict(zip([c.key for c in table.columns], row.cells(line.key) or [], strict=False))
            for column in table.columns:
                report = column.report or line.report or table.report
                reference, ours = TableCell(table, group, row, line, column).reference, None
                if reference and table.kind == "result":
                    path = folder / reference.benchmark / reference.model / f"{reference.setting}.json"
                    values = json.loads(path.read_text(encoding="utf-8"))["metrics"][reference.metric]["languages"]
                    mean = math.fsum(values[code] for code in reference.languages) / len(reference.languages)
                    counts = (column.direction or line.direction or table.direction) == "none"
                    ours = (numbers.count if counts else numbers.ours)(mean, report)
                under = next((key for key in entries if exchanged.get(key, key) == column.key), None)
                value = getattr(entries.get(under), "value", entries.get(under))
                printed = numbers.printed(value, report) if isinstance(value, float) else None
                key = (group.label, row.label, line.label, f"{column.group} {column.header}".strip())
                assert key not in cells, f"{table.id}: two cells are called {key}"
                cells[key] = ours, printed
    return cells


def _csv_cells(text):
    """(what a line says of row and column) -> (measured, printed)."""
    for line in csv.DictReader(io.StringIO(text)):
        printed = line.get("printed", line.get("published"))
        yield csv_text(line["row"]), csv_text(line["column"]), line["measured"], printed


# --- the grids of Markdown, LaTeX and HTML: (heading, headers, lines of cells), marks taken away ----------------------
def _markdown_grids(text):
    heading = ""
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        if lines:
            rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
            plain = [[re.sub(r"<sup>.*?</sup>", "", cell).replace("<br>", " ").strip() for cell in row] for row in rows]
            yield heading, plain[0], plain[2:]
        heading = block[1:-1] if re.fullmatch(r"\*[^*\n].*\*", block) else ""


def _latex_grids(text):
    for block in re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, flags=re.DOTALL):
        head, *body = block.split("\\midrule\n")
        head = head.split("\\toprule\n")[1].rstrip("\n\\ ").split("\n")
        headers = [_plain(cell) for cell in head[-1].split(" & ")]
        if len(head) > 1:
            cells = [cell.rstrip(" \\") for cell in head[0].split(" & ")]
            spans = [re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}", cell) for cell in cells]
            above = [name for span in spans for name in ([span[2]] * int(span[1]) if span else [""])]
            headers = [f"{group} {name}".strip() for group, name in zip(above, headers, strict=True)]
        for section in body:
            found = re.search(r"\\stelelabel\*\{\d+pt\}\{\\textit\{(.*)\}\}\} \\\\|\\textit\{(.*)\}\} \\\\", section)
            heading = (found[1] or found[2]) if found else ""
            lines = [line for line in section.split("\n") if " & " in line]
            yield heading, headers, [[_plain(cell) for cell in _cells(line)] for line in lines]


def _cells(line):
    return line.removesuffix(r" \\").split(" & ")


def _plain(text):
    """A box of LaTeX without marks and the box of a long label."""
    text = re.sub(r"\\stele(raised|mark)\{.*", "", text.removeprefix("{}"))
    text = re.sub(r"^\\stelelabel\*?\{\d+pt\}\{(.*?)\}?$", r"\1", text)
    return text.replace("$-$", "-")


def _html_grids(text, view):
    page = parser.fromstring(text)
    (table,) = page.xpath(f"//div[contains(concat(' ', @class, ' '), ' view ') and contains(@class, '{view}')]//table")
    for mark in table.xpath(".//sup"):
        mark.drop_tree() if mark.tail is None else mark.getparent().remove(mark)
    head = table.xpath("./thead/tr")
    stubs = head[0].xpath("./th[not(@colspan)]") if len(head) > 1 else []
    names = [*stubs, *head[-1].xpath("./th")]
    above = [name for th in head[0].xpath("./th[@colspan]") for name in [th.text_content()] * int(th.get("colspan"))]
    groups = [""] * len(stubs) + above if len(head) > 1 else [""] * len(names)
    headers = [f"{group} {th.text_content()}".strip() for group, th in zip(groups, names, strict=True)]
    for body in table.xpath("./tbody"):
        lines, label = [], ""
        for tr in body.xpath("./tr[td]"):
            cells = [" ".join(cell.text_content().split()) for cell in tr.xpath("./th|./td")]
            lines.append(cells if len(cells) == len(headers) else [label, *cells])
            label = ""
        yield "".join(body.xpath("./tr[@class='heading']//span/text()")), headers, lines


def _of_grids(table, grids, escape, view):
    """(heading, row, line, header, whose) -> number, as a reader takes it from a grid."""
    with_lines = any(line.label for line in table.lines)
    read = {}
    for heading, headers, lines in grids:
        stubs = len(headers) - len([h for h in headers if h in {_header(c, escape) for c in table.columns}])
        label = line_label = ""
        for cells in lines:
            label = cells[0] or label
            line_label = (cells[1] or line_label) if with_lines else ""
            whose = cells[stubs - 1] if view == "side" and table.kind == "result" else "paper"
            for header, cell in zip(headers[stubs:], cells[stubs:], strict=True):
                read[heading, label, line_label, header, whose] = _number(cell)
    return read


def _header(column, escape):
    return " ".join(filter(None, (escape(column.group), escape(column.header))))


@pytest.mark.parametrize("format_read", ["csv", "md", "tex", "html"])
def test_what_a_header_names_is_what_its_numbers_are_of_in_every_table(rendered, root, format_read):
    escape = {"md": markdown.escape, "tex": latex.escape}.get(format_read, str)
    compared = 0
    for table in _tables(root):
        expected = _expected(rendered, table)
        text = (rendered / f"tables/{table.file}.{format_read}").read_text(encoding="utf-8")
        if format_read == "csv":
            by_name = {(" / ".join(filter(None, key[:3])), key[3]): cell for key, cell in expected.items()}
            assert len(by_name) == len(expected), f"{table.id}: two lines of the CSV are called alike"
            for row, column, measured, printed in _csv_cells(text):
                ours, paper = by_name[row, column]
                compared += 1
                assert not table.of_today or printed in ("", "-") or _number(printed)
                assert table.of_today or (_number(printed) if paper else None) == paper, (table.id, row, column)
                assert not (ours and measured) or abs(float(measured) - float(ours)) <= 0.5 * 10 ** -len(
                    ours.partition(".")[2]
                ), (table.id, row, column)
            continue
        for view in ("side", "paper") if table.kind == "result" and not table.of_today else ("side",):
            if format_read == "md":
                side, _, rest = text.partition("<details>")
                part = side if view == "side" else rest.partition("As the paper prints it")[2]
                grids = _markdown_grids(part)
            elif format_read == "tex":
                part = text.split(rf"\edef\stelethis{{{view}}}")[1].split(r"\edef\stelethis")[0]
                grids = _latex_grids(part)
            else:
                grids = _html_grids(text, {"paper": "printed"}.get(view, view))
            read = _of_grids(table, grids, escape, view)
            for (heading, row, line, header), (ours, paper) in expected.items():
                place = tuple(escape(text) for text in (heading, row, line))
                names = [name for name in read if name[:3] == place]
                assert names, (table.id, view, place, list(read)[:3])
                number = read.get((*place, _escaped(table, header, escape), "paper"))
                assert paper is None or (number or "").lstrip("+") == paper, (table.id, view, place, header)
                mine = read.get((*place, _escaped(table, header, escape), "ours"))
                assert ours is None or mine in (None, ours), (table.id, view, place, header, mine, ours)
                compared += 1
    assert compared > 2800


def _escaped(table, header, escape):
    return next(_header(c, escape) for c in table.columns if f"{c.group} {c.header}".strip() == header)


def test_columns_that_a_paper_exchanged_are_named_and_explained(root):
    exchanged = set()
    for table in load_specs(root / "paper_tables"):
        noted = footnote_numbers(table)
        for cell in table_cells(table, Context(), Results(root / "nothing")):
            key = cell.address.rpartition("/")[2]
            own = cell.row.targets.get(key, Target())
            target = merge([table.target, cell.group.target, cell.row.target, cell.line.target,
                            next(c for c in table.columns if c.key == key).target, own])  # fmt: skip
            assert cell.reference == resolve(target), f"{table.id} {cell.address}"
            if cell.printed_under != cell.column:
                exchanged.add(table.id)
                assert noted[f"*/*/*/{key}"] or noted[cell.address], f"{table.id} {cell.address}: no footnote"
    assert exchanged == EXCHANGED


# --- notes ------------------------------------------------------------------------------------------------------------
SIGNS = {  # how a note on a mark begins -> the mark in a table's lines
    "- ◆: ": "◆", "- ±: ": "±", "- k/n: ": r"<sup>[^<]*\d/\d", "- +: ": r"<sup>\+", "- fail: ": r"\| +fail\b",
    "- ×n: ": "×\\d", "- †: ": "†(?!</sup> *\\| *(paper|published))", "- ≠: ": "≠",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory, root, kept_study):
    """The tables of the kept results, which have values per query, deviations and added rows."""
    folder, kept = tmp_path_factory.mktemp("study"), kept_study
    specs = [str(path) for path in sorted((root / "paper_tables").glob("*/table_*.yaml"))]
    given = ["--results-dir", str(kept), "--context", str(kept / "tables/context.json"), "--output-dir", str(folder)]
    assert cli.main(["tables", "table", "--spec", *specs, *given]) == 0
    return folder


@pytest.mark.parametrize("results", ["all measured", "the study"])
def test_notes_explain_the_marks_that_stand_in_the_table_and_no_others(results, rendered, study, root):
    folder = rendered / "tables" if results == "all measured" else study
    explained_in_all = set()
    for table in _tables(root):
        text = (folder / f"{table.file}.md").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.startswith("|")]
        drawn, notes = "\n".join(lines), [line for line in text.splitlines() if line.startswith("- ")]
        ours = "\n".join(line for line in lines if re.search(r"\| ours +\|", line))
        ours += text.partition("Ours alone")[2].partition("</details>")[0]
        states = {found[1] for note in notes if (found := re.match(r"- —<sup>([a-z])</sup> ", note))}
        assert states == set(re.findall(r"—<sup>([a-z])</sup>", drawn)), table.id
        for begins, sign in SIGNS.items():
            if table.of_today or begins not in ("- ×n: ", "- †: ", "- ≠: "):
                explained = any(note.startswith(begins) for note in notes)
                where = ours if begins == "- fail: " else drawn  # CCP prints the word, too
                assert explained == bool(re.search(sign, where)), f"{table.id}: {begins}"
                explained_in_all |= {begins} if explained else set()
        ranks = next((note for note in notes if note.startswith("- Ours: ")), "")
        assert ("bold is best" in ranks, "underlined" in ranks) == ("**" in ours, "<ins>" in ours), table.id
        assert "where the header says so" not in text
        printed = {cell.printed.marks for cell in printed_cells(table)}
        for mark, meaning in table.marks.items():
            stands = any(mark in (marks, *marks) for marks in printed)
            assert (f"{markdown.escape(mark)} {markdown.escape(meaning)}" in text) == stands, f"{table.id}: {mark}"
        assert not re.search(r"the row [a-z]+\\_", text), f"{table.id}: a model's key in place of its row's label"
    assert explained_in_all >= {"- ±: ", *(("- ◆: ", "- k/n: ", "- +: ") if results == "the study" else ())}


def test_a_table_has_one_count_of_its_cells_everywhere(study, kept_study, root, capsys):
    tables = load_specs(root / "paper_tables")
    for table in tables:
        size = len(list(table.cells())) if table.counted else 0
        for suffix in ("md", "tex", "html") if size else ():
            text = (study / f"{table.file}.{suffix}").read_text(encoding="utf-8")
            (states,) = re.findall(rf"The {size} cells(?: \([^)]*\))?:(?:\*\*|</b>)? ([^.]*)\.", text)
            assert sum(int(state.split(" ")[0]) for state in states.split(", ")) == size, f"{table.file}.{suffix}"
    assert "The 192 cells (without 24 in added rows):" in (study / "msm/table_02.md").read_text(encoding="utf-8")
    kept = ["--results-dir", str(kept_study), "--specs", str(root / "paper_tables/msm")]
    assert cli.main(["tables", "cells", *kept]) == 0
    msm = sum(len(list(table.cells())) for table in tables if table.paper == "msm")
    assert capsys.readouterr().out.splitlines()[2].replace("|", " ").split()[:3] == ["msm", "16", str(msm)]


def test_a_label_and_the_log_count_the_cells_of_added_rows_apart(bench, capsys):
    table, added = bench.spec(), [{"model": "own", "label": "Mine"}]
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["generated data", "stand-in checkpoint"])
    bench.result("own", {"ar": 0.5, "sw": 0.1}, labels=["generated data"])
    cells = [*bench.cells(table, extra_rows=added).values()]
    assert count_text(cells) == "6 cells (without 3 in added rows)" and len(counted(cells)) == 6
    page = render(to_markdown, bench, table, extra_rows=added, scale="tiny")
    assert "**The 6 cells (without 3 in added rows):** 3 measured, 3 not run." in page
    assert "stand-in checkpoint (3 of the 3 measured cells, 0 of the 3 in added rows)" in page
    assert "Labels: generated data; stand-in" in page

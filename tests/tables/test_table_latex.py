"""Tables as LaTeX: what is escaped, how a table is fitted to the page; compiled, alone and all together."""

import json
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest
from rendering import NASTY, measure_everything, nasty_context, render
from specs import PAPERS

from stele.command import cli
from stele.papers.paper import TODAY, Paper, papers_in
from stele.papers.table import load_specs
from stele.papers.table_parts import Column
from stele.tables import all_tables_pdf
from stele.tables.render import bibliography, direction, latex, page_fit
from stele.tables.render.formats import latex_page, to_latex
from stele.tables.render.layout import Box, Grid, GridLine, Section
from stele.tables.values.lookup import STATES
from stele.tables.values.significance import BETTER

missing = [tool for tool in (*all_tables_pdf.TOOLS, "pdftotext", "pdfinfo", "fc-list") if not shutil.which(tool)]
if not missing and not subprocess.run(["fc-list", "FreeSerif"], capture_output=True, check=False).stdout:
    missing.append("FreeSerif")
needs_tex = pytest.mark.skipif(bool(missing), reason=f"needs TeX and poppler: no {', '.join(missing)}")


def drawn(grid):
    return latex_page("grid", grid=grid)


# --- letters ----------------------------------------------------------------------------------------------------------
def test_specials_are_escaped():
    assert latex.escape("100% of a_b & #1 {x} $") == r"100\% of a\_b \& \#1 \{x\} \$"
    assert latex.escape("é α ‡") == r"\'{e} $\alpha$ $\ddagger$"
    assert latex.escape("--spec") == r"-{}-spec", "two hyphens are no dash"


def test_other_scripts_are_left_to_a_font_one_run_at_a_time():
    assert latex.escape("Ж") == r"\steleletters{Cyrillic}{U+0416}{Ж}"
    assert latex.escape("a Да нет b") == r"a \steleletters{Cyrillic}{U+0414 U+0430 U+043D U+0435 U+0442}{Да нет} b"
    arabic = latex.escape("نص عربي")
    assert arabic.startswith(r"\steleleftwards{\steleletters{Arabic}{") and "{نص عربي}" in arabic, "in one piece"


def test_what_behind_a_command_would_be_its_argument_is_in_braces():
    """`\\\\ [2mm] x` would be a gap and `\\midrule [x]` a width; a star behind `\\\\` is eaten; `]` ends a caption."""
    assert latex.escape("[2mm] a*b ]") == "{[}2mm{]} a{*}b {]}"
    heads = [Column(key="c", header="[AR]", group="[g]")]
    rows = [GridLine([Box(label, number=False)], [Box("1.0")], True) for label in ("[mine] x", "* y", "]")]
    sections = [Section("", rows), Section("[2mm] z", rows)]
    text = drawn(Grid(["[Model]"], heads, [Box("[AR]", number=False)], sections))
    own = re.sub(r"\\addlinespace\[2pt\]", "", text)
    assert not re.findall(r"(?<!\{)[\[\]*]|[\[\]*](?!\})", own)


@pytest.mark.parametrize(
    ("text", "in_order"),
    [
        ("''a'' ,,b", "'{}'a'{}' ,{},b"), ("-- ---", "-{}- -{}-{}-"), ("–-", "--{}-"), ("“x”", "``x''"), ("’'", "'{}'"),
        ("?‘", "?{}`"),
    ],
)  # fmt: skip
def test_signs_that_tex_would_join_stay_apart(text, in_order):
    assert latex.escape(text) == in_order


@pytest.mark.parametrize(
    ("text", "seen"),
    [  # what a reader sees from left to right, by the rules of UAX #9 (Hebrew letters; each label worked out by hand)
        ("a-b 7", "a-b 7"), ("אב-גד", "דג-בא"), ("אב 7-8", "7-8 בא"), ("אב 12%", "12% בא"), ("אב, 3.5", "3.5 ,בא"),
        ("אב E5 base גד", "דג E5 base בא"), ("E5 אב גד x", "E5 דג בא x"), ("E5 אב 7 גד x", "E5 דג 7 בא x"),
        ("אב (E5) 7", "7 (E5) בא"), ("(אב) [גד]", "[דג] (בא)"), ("x (אב)", "x (בא)"), ("a אב!", "a בא!"),
        ("אב \u0627 7-8", "8-7 \u0627 בא"),  # behind an Arabic letter numbers are Arabic ones, which no hyphen joins
        ("אב ١٢ גד", "דג ١٢ בא"),
    ],
)  # fmt: skip
def test_a_label_is_seen_in_the_order_of_the_unicode_algorithm(text, seen):
    """Characters of each level turned around, from the deepest on (rule L2), brackets mirrored (L4)."""
    levels = direction.levels(text)
    line = [direction.MIRRORED.get(char, char) if level % 2 else char for char, level in zip(text, levels, strict=True)]
    order = list(range(len(text)))
    for level in range(max(levels), 0, -1):
        for deep, same in groupby(list(range(len(order))), key=lambda place: levels[order[place]] >= level):
            places = list(same)
            if deep:
                order[places[0] : places[-1] + 1] = order[places[0] : places[-1] + 1][::-1]
    assert "".join(line[place] for place in order) == seen


def test_numbers_and_words_within_a_leftward_label_are_turned_back():
    assert re.sub(r"\\steleletters\{\w+\}\{[^}]*\}", "", latex.escape("נץ 7-8 (x)")) == (
        r"\steleleftwards{{נץ} \stelerightwards{7-8} )\stelerightwards{x}(}"
    )
    arabic = latex.escape("می\u200cخواهم ۱۲")
    assert arabic.count("steleletters{Arabic}") == 2 and "U+200C" in arabic, "a joiner goes with its word"


PREPARED = {  # scripts that have fonts in the PDF, see SCRIPTS; those of European letters are in all of them
    "ARABIC", "BENGALI", "CJK", "DEVANAGARI", "HANGUL", "HEBREW", "HIRAGANA", "KATAKANA", "KHMER", "TAMIL", "TELUGU",
    "THAI", "CYRILLIC", "GREEK", "LATIN",
}  # fmt: skip


def test_every_letter_that_specs_and_labels_use_is_known(root):
    """Every character of every spec and of all words that our own code and catalogue can put into a table."""
    folders = {"paper_tables": "*/*.yaml", "src/stele": "*.py", "src/stele/tables": "*.py"}
    folders |= {"src/stele/catalogue": "**/*.yaml", "src/stele/tables/render/templates": "*.j2"}
    files = [path for folder, pattern in folders.items() for path in (root / folder).glob(pattern)]
    tables = [path for path in files if path.name.startswith("table_") and path.suffix == ".yaml"]
    counts = Counter(path.parent.name for path in tables)
    assert (sum(counts[paper] for paper in PAPERS), counts[TODAY]) == (41, 7)
    for path in files:
        for char in {*path.read_text(encoding="utf-8")} - {"\n"}:
            script = unicodedata.name(char).split()[0]
            assert latex.letter(char) is not None or script in PREPARED, f"{path}: {char!r} ({unicodedata.name(char)})"


def test_symbols_of_papers_and_our_mark_are_no_letters_of_a_script(msm, root):
    for table in load_specs(root / "paper_tables") + load_specs(root / "paper_tables" / TODAY):
        texts = [table.caption, *table.marks, *table.marks.values(), *(note.text for note in table.footnotes)]
        texts += [part.label for group in table.groups for part in (group, *group.rows)]
        texts += [column.header for column in table.columns] + [BETTER, *(state.meaning for state in STATES.values())]
        for text in texts:
            assert r"\steleletters" not in latex.escape(text), f"{table.id}: {text!r} takes a font that TeX may lack"
        assert BETTER not in table.marks, f"{table.id}: our mark of significance is printed there"


# --- fitting ----------------------------------------------------------------------------------------------------------
def _grid(rows: int, columns: int, lines: int = 3, label: str = "a row", group: str = "") -> Grid:
    boxes = [Box("100.0")] * columns
    row = [GridLine([Box(label if i == 0 else "", number=False)], boxes, i == 0) for i in range(lines)]
    heads = [Column(key=f"c{i}", header="AR", group=group) for i in range(columns)]
    return Grid(["Model"], heads, [Box("AR", number=False)] * columns, [Section("", row * rows)])


def test_a_wide_table_is_turned_and_a_long_one_goes_on_between_rows():
    _, turned = page_fit.fit(_grid(5, 30))
    parts, long_is_turned = page_fit.fit(_grid(40, 8))
    assert turned and not long_is_turned
    assert [sum(len(section.lines) for section in part.sections) for part in parts] == [60, 60], "evenly"
    assert all(part.sections[0].lines[0].starts_row for part in parts)


@pytest.mark.parametrize("group", ["", "One"])
def test_no_letter_falls_below_six_points(group):
    for columns in range(1, 80, 6):
        parts, turned = page_fit.fit(_grid(5, columns, group=group))
        across = page_fit.PAGE[1] if turned else page_fit.PAGE[0]
        assert all(page_fit.SIZE * min(1.0, across / page_fit.width(part)) >= 6 for part in parts)
        assert sum(len(part.columns) for part in parts) == columns, "each column once"


def test_a_long_label_is_broken_into_lines():
    assert page_fit.stub_lines(Box("KEPT")) == 1 and page_fit.stub_lines(Box("a label " * 12)) > 2
    assert page_fit.width(_grid(1, 8, label="a label " * 20)) < page_fit.width(_grid(1, 8)) + page_fit.STUB
    assert r"\stelelabel*{" in drawn(_grid(1, 8, lines=1, label="a label " * 12)), "room of its own"
    assert r"\stelelabel{" in drawn(_grid(1, 8, lines=6, label="a label " * 12)), "hangs down"
    assert r"a\_\allowbreak{}name\_" in drawn(_grid(1, 8, lines=6, label="a_name_" * 12)), "without a space"
    assert "allowbreak" not in drawn(_grid(1, 8, lines=6, label="w/o a, b " * 12)), "w/o stays together"


def test_a_heading_that_is_wider_than_the_table_is_broken_and_does_not_stretch_it():
    for columns, broken in ((2, True), (20, False)):
        grid = _grid(1, columns)
        grid = replace(grid, sections=[Section("encoders with parallel data " * 3, grid.lines)])
        assert (r"}{\stelelabel*{" in drawn(grid)) == broken


# --- bibliography -----------------------------------------------------------------------------------------------------
def test_every_benchmark_and_paper_has_an_entry():
    from stele import catalogue

    known, papers, datasets = bibliography.load(), papers_in(), catalogue.load("datasets")
    assert {*known["benchmarks"].values()} == known["entries"].keys()
    assert all(papers[name].citation for name in PAPERS)  # a paper of one's own may have none
    for name, entry in catalogue.load("benchmarks").items():  # a count has no source, nor has private data
        assert name in known["benchmarks"] or all(datasets[key]["wall"] == "private" for key in entry["data"]), name


def test_a_table_without_a_reference_cites_nothing(bench):
    """`\\cite{}` prints [?]."""
    assert r"\stelecite{zhang" in render(to_latex, bench, bench.spec())
    (bench.folder / "msm/paper.yaml").write_text("name: Own\n", encoding="utf-8")
    own = render(to_latex, bench, bench.spec(**{"benchmark: mrtydi": "benchmark: my_set"}))
    assert r"\stelecaption}" in own and r"\stelecite{}" not in own
    assert bibliography.of_paper(Paper(name="Own")) == "Own", "no line of a full stop alone"


def test_bibtex_keeps_capitals_and_accents():
    text = bibliography.bibtex([])
    assert "title = {{LAReQA: Language-Agnostic" in text and r"O{\u{g}}uz, Barlas" in text
    assert "author = {{Forum for Information Retrieval Evaluation}}" in text and "editor = {Harman, Donna K.}" in text


def test_bibtex_takes_names_of_every_script_and_braces_in_a_title():
    citation = {"key": "own2026", "type": "misc", "title": "A {B} of 中 文", "year": 2026}
    citation["authors"] = ["张, 三", "Mu\u0308ller, Jörg"]
    text = bibliography.bibtex([Paper.model_validate({"name": "own", "citation": citation})])
    entry = text[text.index("@misc{own2026,") :].partition("\n}\n")[0] + "\n}"
    cjk, han = r"{\steleletters{Cjk}{U+5F20}{张}}", r"{\steleletters{Cjk}{U+4E2D U+6587}{中 文}}"
    assert f"{cjk}, " in entry and r"M{\"{u}}ller, J{\"{o}}rg" in entry
    assert rf"title = {{{{A {{\textbraceleft{{}}}}B{{\textbraceright{{}}}} of {han}}}}}" in entry
    assert entry.count("{") == entry.count("}")  # as BibTeX counts them


@pytest.fixture
def named(bench):
    """The LaTeX of all tables of a paper with a hostile name."""
    bench.spec()
    (bench.folder / "msm/paper.yaml").write_text(f"name: '{HOSTILE}'\n", encoding="utf-8")
    given = ["--spec", str(bench.folder / "msm/table_99.yaml"), "--results-dir", str(bench.results_dir)]
    assert [cli.main(["tables", command, *given]) for command in ("table", "all_tables")] == [0, 0]
    return bench.results_dir / "tables/all_tables.tex"


HOSTILE = "A :) & <b> 5% a_b שלום Медь"


def test_an_outline_has_plain_words_and_other_engines_skip_what_they_lack(named):
    text = named.read_text(encoding="utf-8")
    words = re.findall(r"\\(?:stelebookmark\{1\}|renewcommand\{\\steleoutlined\})\{FEFF(\w+)\}", text)
    assert [bytes.fromhex(digits).decode("utf-16-be") for digits in words] == [HOSTILE, f"Table {HOSTILE} 99"]
    head = text[: text.index(r"\begin{document}")]
    assert head.index(r"\newif\ifstelefound") < head.index(r"\ifdefined\XeTeXversion")
    assert r"\def\steleleftwards" in head, "the paper's name stands before the first table"
    assert "\n1 table: 6 not run. Each of our numbers stands beside the paper's.\n" in text, "no difference is promised"


# --- compiled ---------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tables_compile_alone_in_every_view(bench, msm):
    """With the packages that the first line of a file names and nothing else, in pdfLaTeX; nasty labels included."""
    bench.result("msm", {"ar": 0.5, "sw": 0.123}, labels=["generated data"])
    names = []
    for number, table in msm.items():
        added = {"extra_rows": [{"model": "own", "label": NASTY}], "scale": "my_scale%"}
        (bench.folder / f"t{number}.tex").write_text(render(to_latex, bench, table, **added), encoding="utf-8")
        names.append(f"t{number}")
    tables = "".join(rf"\input{{{name}}}\clearpage" for name in names)
    views = [rf"\def\steleview{{{view}}}{tables}" for view in ("side", "ours", "paper")]
    document = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n%s\n\\end{document}\n"
    (bench.folder / "all.tex").write_text(document % "\n".join(views), encoding="utf-8")
    (bench.folder / "one.tex").write_text(document % r"\input{t9}", encoding="utf-8")
    for name in ("one", "all"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, errors="replace", check=False)
        log = (bench.folder / f"{name}.log").read_text(errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Overfull \\hbox" not in log and "too large for page" not in log


@pytest.fixture(scope="module")
def whole(tmp_path_factory, root):
    """All tables of all papers, every cell measured by three seeds, as one PDF; its text, and the log's complaints."""
    folder = tmp_path_factory.mktemp("whole")
    measure_everything(folder / "results", root / "paper_tables")
    context = nasty_context(folder / "context.json", ["msm/2", "msm/9"])
    specs = sorted(map(str, (root / "paper_tables").glob("*/table_*.yaml")))
    for command in ("table", "all_tables"):
        given = ["--spec", *specs, "--context", str(context), "--results-dir", str(folder / "results")]
        assert cli.main(["tables", command, *given]) == 0
    return folder / "results/tables/all_tables.tex"


def _smallest(pdf) -> float:
    """The size in points of the smallest letters of tables: a line of words has the height of its letters."""
    boxes = subprocess.run(["pdftotext", "-bbox", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    place = r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(?:ours|diff\.)<'
    return min(min(float(x1) - float(x0), float(y1) - float(y0)) for x0, y0, x1, y1 in re.findall(place, boxes))


@needs_tex
@pytest.mark.slow
def test_all_tables_are_one_document_without_anything_sticking_out(whole, root, caplog, tmp_path):
    caplog.set_level("WARNING")
    assert cli.main(["tables", "all_tables_pdf", "--tex", str(whole)]) == 0
    widths = [float(width) for width in re.findall(r"Overfull .hbox \(([\d.]+)pt", caplog.text)]
    assert not [width for width in widths if width > 3], caplog.text
    assert "too large" not in caplog.text and "Missing character" not in caplog.text
    assert "undefined" not in caplog.text, "references and citations have targets"
    pdf = whole.with_suffix(".pdf")
    output = subprocess.run(["pdfinfo", str(pdf)], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^Title: +All tables$", output, re.M), "a reader's window shows it"
    tables = len(list((root / "paper_tables").glob("*/table_*.yaml")))
    assert tables / 2 <= int(re.search(r"Pages:\s+(\d+)", output)[1]) <= 2 * tables
    text = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    text = unicodedata.normalize("NFKC", text)  # a font's own shapes of Arabic letters are read as such
    assert all(letters in text for letters in ("Медь", "ทดสอบ", "μ = 0.5", "my_scale%", "generated data"))
    assert "عربي" in text or "يبرع" in text, "read from the left or from the right"
    assert "Modeling Sequential Sentence Relation" in text and "Roy, Noah Constant" in text
    assert _smallest(pdf) >= 6
    assert not list(whole.parent.glob("all_tables.a*")), "LaTeX's own files are not left"
    assert cli.main(["tables", "all_tables_pdf", "--tex", str(whole), "--output", str(tmp_path / "again.pdf")]) == 0
    assert (tmp_path / "again.pdf").read_bytes() == pdf.read_bytes(), "same tables, same bytes"


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["xelatex", "pdflatex"])
def test_all_tables_of_a_paper_with_any_name_compile_in_every_engine(named, engine):
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", named.name]
    done = subprocess.run(command, cwd=named.parent, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    reader = ["pdftohtml", "-xml", "-i", "-stdout", str(named.with_suffix(".pdf"))]
    said = subprocess.run(reader, capture_output=True, text=True, check=True).stdout
    outline = re.findall("<item .*>(.*)</item>", said)
    expected = [HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")]
    expected.append(f"Table {expected[0]} 99")
    assert outline == (expected if engine == "xelatex" else [])


def _as_pdf(bench, labels, **replace):
    """The PDF of all tables of which the only one has added rows with these labels."""
    context = bench.folder / "context.json"
    rows = [{"model": f"m{n}", "label": label} for n, label in enumerate(labels)]
    context.write_text(json.dumps({"extra_rows": rows}), encoding="utf-8")
    bench.spec(**replace)
    given = ["--spec", str(bench.folder / "msm/table_99.yaml"), "--context", str(context)]
    for command in ("table", "all_tables"):
        assert cli.main(["tables", command, *given, "--results-dir", str(bench.results_dir)]) == 0
    tex = bench.results_dir / "tables/all_tables.tex"
    assert cli.main(["tables", "all_tables_pdf", "--tex", str(tex)]) == 0
    return str(tex.with_suffix(".pdf"))


SCRIPTS = {  # a language's word for "model", or its name
    "Noto Naskh Arabic": "نموذج", "Noto Serif Bengali": "মডেল", "Noto Serif Telugu": "నమూనా",
    "Noto Serif Thai": "แบบจำลอง", "Noto Serif Devanagari": "हिन्दी", "Noto Serif Hebrew": "מודל",
    "Noto Serif Khmer": "ខ្មែរ", "Noto Serif Tamil": "தமிழ்", "WenQuanYi Micro Hei": "中文检索模型 日本語モデル 한국어",
}  # fmt: skip


@needs_tex
@pytest.mark.slow
def test_labels_in_all_scripts_come_out_in_letters_or_in_codes(bench, msm, caplog):
    """By the font of their script where there is one; by their codes, so that nothing is lost, where there is none."""
    caplog.set_level("WARNING")
    fonts = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True).stdout
    there = {text for font, text in SCRIPTS.items() if font in fonts}
    pdf = _as_pdf(bench, [*SCRIPTS.values(), "Ŝ ế 10⁻³", "\U0010fffd"])
    assert "Missing character" not in caplog.text
    output = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout
    used = subprocess.run(["pdffonts", pdf], capture_output=True, text=True, check=True).stdout
    for font, text in SCRIPTS.items():
        if text in there:
            assert font.replace(" ", "") in used or "NotoSerifCJK" in used, f"{text} is set in {font}"
            assert f"U+{ord(text[0]):04X}" not in output
    assert "U+10FFFD" in output


@needs_tex
@pytest.mark.slow
def test_an_error_of_latex_is_named_and_leaves_no_pdf(tmp_path, capsys):
    (tmp_path / "all_tables.tex").write_text("\\documentclass{article}\\begin{document}\\nonsense\\end{document}")
    assert cli.main(["tables", "all_tables_pdf", "--tex", str(tmp_path / "all_tables.tex")]) == 1
    assert "Undefined control sequence" in capsys.readouterr().err
    assert not (tmp_path / "all_tables.pdf").exists()


@needs_tex
def test_a_folder_of_any_name_is_set(tmp_path):
    """TeX expands braces, commas, `$` and `~` in the folders where it looks for files."""
    tables = tmp_path / "a b {x},$HOME~&%/tables"
    (tables / "msm").mkdir(parents=True)
    (tables / "all.tex").write_text("\\documentclass{article}\n\\begin{document}\\input{msm/part}\\end{document}\n")
    (tables / "msm/part.tex").write_text("hello")
    for _ in range(2):  # a PDF of its own is replaced
        assert cli.main(["tables", "all_tables_pdf", "--tex", str(tables / "all.tex")]) == 0
    assert (tables / "all.pdf").read_bytes().startswith(b"%PDF")


def test_without_tex_the_error_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["tables", "all_tables_pdf", "--tex", "all_tables.tex"]) == 1
    assert "latexmk" in (message := capsys.readouterr().err) and "apt-get install" in message


@needs_tex
@pytest.mark.slow
def test_labels_with_brackets_stars_and_leftward_scripts_come_out_as_they_are(bench):
    """Compiled: nothing is eaten, and words stand where readers of their script have them."""
    labels = ["[mine] E5", "[2mm] E5", "* star", "] x [", "אבג-דהו 77", "זחט E5x basis כלמ"]
    caption = {"caption: Two systems & their scores.": 'caption: "Two [systems] and ] their scores."'}
    pdf = _as_pdf(bench, labels, **caption, **{"header: AR,": 'header: "[AR]",', "stub: Method": 'stub: "[Method]"'})
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    for label in (*labels[:4], "[Method]", "[AR]", "Two [systems] and ] their scores."):
        assert label in text, label
    boxes = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, text=True, check=True).stdout
    places = {"".join(sorted(word)): float(x) for x, word in re.findall(r'xMin="([\d.]+)"[^>]*>([^<]*)<', boxes)}
    for words in (["77", "אבג-דהו"], ["כלמ", "E5x", "basis", "זחט"]):
        in_line = [places["".join(sorted(word))] for word in words]  # letters of a word come in either order
        assert in_line == sorted(in_line), words

"""Tables as HTML: what a reader sees and unfolds, escaped, the same bytes every time (in a browser: tests of pages)."""

import json
import re

from lxml import html as parser
from rendering import NASTY, filled

from stele.command import cli
from stele.tables.render import formats, html, pages
from stele.tables.render.cell_details import HIDDEN, row_targets, shown
from stele.tables.render.formats import to_csv
from stele.tables.render.pictures import Picture, pictures
from tests.sealed import write_sealed

FIGURES = {"msm/figure_01.svg": "MSM, figure 1", "cell_map.svg": "All cells by state"}


def _draw(bench, table, **context):
    return pages.draw(filled(bench, table, **context), root="../..")


def _page(bench, table, **context):
    return parser.fromstring(pages.table_page(_draw(bench, table, **context), index="../all_tables.html"))


def _rows(page, view="side"):
    rows = page.xpath(f"//div[contains(@class, '{view}')]//tr[td]")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


def _unfolded(page, row, column):
    """The facts of the cell in a place of the side-by-side view, name -> text, without explanations of their words."""
    button = page.xpath("//div[contains(@class, 'side')]//tr[td]")[row].xpath("./td")[column].find(".//button")
    box = page.get_element_by_id(button.get("popovertarget"))
    for tip in box.xpath(".//span[@class='tip']"):
        tip.drop_tree()
    names, values = box.xpath("./dl/dt"), box.xpath("./dl/dd")
    return box, {name.text_content(): value.text_content() for name, value in zip(names, values, strict=True)}


# --- what is shown ----------------------------------------------------------------------------------------------------
def test_the_difference_of_generated_data_is_shown_when_asked_for(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["generated data", "stand-in checkpoint"])
    page = _page(bench, bench.spec(), scale="miniature")
    assert [row[0] for row in _rows(page)] == ["First", "paper", "Second", "paper"]
    assert _rows(page, "difference")[2] == ["diff.", "+10.0", "−10.0", "0.0"], "one press away"
    assert page.xpath("//th[@rowspan='3']")[0].text_content() == "First", "a label spans the lines of its row"
    assert page.xpath("//input[@checked]/@id") == ["side"] and "mean nothing" in page.text_content()
    page = _page(bench, bench.spec(), scale="miniature", view="difference")
    assert page.xpath("//input[@checked]/@id") == ["difference"] and "mean nothing" not in page.text_content()


def test_each_view_is_there_once_and_the_side_by_side_one_stands_in(bench, msm):
    views = _page(bench, bench.spec()).xpath("//div[@class[starts-with(., 'view')]]/@class")
    classes = [view.split() for view in views]
    assert classes == [["view", "side", "difference", "ours"], ["view", "printed"]], "nothing of ours yet"
    assert [*_draw(bench, msm[13]).views] == ["side difference ours printed"], "a stated table"
    choices = [_page(bench, table).xpath("//fieldset[@hidden]") for table in (msm[13], bench.spec())]
    assert [len(hidden) for hidden in choices] == [1, 0], "there is nothing to choose"
    bench.result("first", {"ar": 0.5, "sw": 0.1})
    assert [*_draw(bench, bench.spec()).views] == ["side difference", "ours", "printed"]
    bench.result("first", {"ar": 0.5, "sw": 0.1}, labels=["generated data"])
    assert [*_draw(bench, bench.spec()).views] == ["side", "difference", "ours", "printed"]


def test_best_and_second_best_and_room_for_marks(bench, msm):
    for model, value in {"msm": 0.1, "msm_neg_256": 0.3, "msm_neg_1024": 0.2}.items():
        bench.result(model, dict.fromkeys(msm[6].columns[0].target.average[:5], value), setting="zero_shot_nq")
    page = _page(bench, msm[6])
    cell = page.xpath("//div[contains(@class, 'side')]//td[.//b]")[0]
    assert cell.find(".//b").text == "30.0" and cell.find("./sup").get("class") == "w4", "5/11 takes four letters"
    assert page.xpath("//u")[0].text == "20.0"
    column = page.xpath("//div[contains(@class, 'side')]//tr/td[1]")
    assert all(cell.find("./sup").get("class") == "w4" for cell in column), "in every cell, so that decimals line up"


# --- what unfolds -----------------------------------------------------------------------------------------------------
def test_a_cell_unfolds_to_what_it_is_and_its_command(bench):
    path = bench.result("first", {"ar": 0.5}, labels=["generated data"])
    box, facts = _unfolded(_page(bench, bench.spec()), 0, 0)
    assert facts == {
        "state": "measured: our number, from the results folder", "ours": "50.0 (unrounded 0.5)", "paper": "40.0",
        "difference": "+10.0", "benchmark": "mrtydi", "model": "first", "setting": "zero_shot_marco",
        "metric": "mrr@100", "language": "ar", "labels": "generated data",
    }  # fmt: skip
    assert box.find("./h3").text == "First · AR"
    assert box.find(".//code").text == f"snakemake {path} --config results_dir={bench.results_dir}"
    assert box.find(".//a").get("href") == "../../mrtydi/first/zero_shot_marco.json"
    missing = _unfolded(_page(bench, bench.spec()), 2, 0)[0]
    assert missing.find(".//a") is None and "mrtydi/second/zero_shot_marco.json" in missing.text_content()
    average = _unfolded(_page(bench, bench.spec()), 0, 2)[1]
    assert average["average of"] == "ar, sw" and average["not in this average"] == "sw"
    outside, facts = _unfolded(_page(bench, bench.spec(), languages_in_scale={"mrtydi": ["ar"]}), 2, 1)
    assert facts["state"].startswith("not in scale") and outside.find(".//code") is None, "no command builds it"


def test_a_cell_of_seeds_whose_mean_was_not_written_has_no_link_that_leads_nowhere(bench):
    path = bench.result("first", {"ar": 0.5})
    path.with_suffix("").mkdir()
    path.rename(path.with_suffix("") / "pt0-ft1.json")
    table = bench.spec(**{"stub: Method": "stub: Method\nseeds: {finetuning: [1]}"})
    box, facts = _unfolded(_page(bench, table), 0, 0)
    assert facts["ours"] == "50.0 (unrounded 0.5)" and "first/zero_shot_marco/pt0-ft1.json" in box.text_content()
    assert box.find(".//a") is None
    bench.result("first", {"ar": 0.75})  # of the configuration's seeds: another number
    box, facts = _unfolded(_page(bench, table), 0, 0)
    assert facts["ours"] == "50.0 (unrounded 0.5)" and box.find(".//a") is None
    assert box.find(".//code").text.startswith(f"snakemake {path.with_suffix('') / 'pt0-ft1.json'} --config")


def test_a_table_with_seeds_of_its_own_builds_the_files_of_these_seeds(bench):
    filled_table = filled(bench, bench.spec(**{"stub: Method": "stub: Method\nseeds: {finetuning: [0, 1]}"}))
    files = [f"{bench.results_dir}/mrtydi/first/zero_shot_marco/pt0-ft{seed}.json" for seed in (0, 1)]
    command = f"snakemake {' '.join(files)} --config results_dir={bench.results_dir}"
    assert row_targets(filled_table.cells, filled_table.results)[0].command == command
    assert f",{' '.join(files)},{command}\n" in to_csv(filled_table)


def test_a_cell_names_the_guess_and_the_spread_in_the_unit_of_its_number(bench):
    guess = {"languages": {"ar": 0.02}, "errors": {"ar": 0.125}}
    bench.result("first", {"ar": 0.5}, guess=guess, values={"languages": {"ar": [0.25, 0.75]}})
    facts = _unfolded(_page(bench, bench.spec()), 0, 0)[1]
    assert facts["a guess"] == "2.0 (standard error of our distance from it: 12.5)"
    assert facts["deviation over seeds"] == "35.4 (unrounded 0.3535533905932738)"


def test_every_cell_unfolds_once_in_every_table(bench, msm):
    for number, table in msm.items():
        drawn = _draw(bench, table)
        page = parser.fromstring(pages.table_page(drawn, "index.html"))
        buttons = page.xpath("//div[contains(@class, 'side')]//td//button/@popovertarget")
        assert sorted(buttons) == sorted(cell.id for cell in drawn.cells), f"table {number}"
        boxes = page.xpath("//div[@popover]/@id")
        assert len(set(boxes)) == len(boxes) and {*page.xpath("//@popovertarget")} == {*boxes}


def test_a_cell_of_an_exchanged_column_says_where_its_number_is_printed(bench, msm):
    facts = _unfolded(_page(bench, msm[3]), 0, 0)[1]
    assert facts["language"] == "ar" and facts["paper"].endswith("(printed under TE)")


def test_a_result_unfolds_to_its_records_and_their_ancestors_without_circumstances(bench):
    path = bench.result("first", {"ar": 0.5})
    circumstances = dict.fromkeys(HIDDEN, "circumstance")
    ancestry = {"aa11": {"job": "finetune", "inputs": {"encoder": "bb22"}, **circumstances}, "bb22": {"job": "base"}}
    record = json.loads(path.read_text()) | {"inputs": {"retrieval": "aa11"}, "commit": "c0ffee", "ancestry": ancestry}
    record["seeds"] = [{"pretraining": 0, "finetuning": 0}]
    write_sealed(path, record | circumstances)
    seed = path.with_suffix("") / "pt0-ft0.json"
    seed.parent.mkdir()
    write_sealed(seed, {"command": "python -m stele x", "encoding": {"pooling": "mean", "host": "box"}})
    page = _page(bench, bench.spec())
    box, _ = _unfolded(page, 0, 0)
    made = page.get_element_by_id(box.find("./p/button").get("popovertarget"))
    text = " ".join(made.text_content().split())
    assert "c0ffee" in text and "pt0-ft0.json" in text and "mean" in text
    assert "circumstance" not in parser.tostring(page).decode() and "box" not in text
    assert "python -m stele x" in [code.text for code in made.iter("code")], "a record's command can be copied too"
    steps = []
    while links := made.xpath(".//dl//button[@popovertarget]"):
        made = page.get_element_by_id(links[0].get("popovertarget"))
        steps.append(made.find("./h3").text)
    assert steps == ["aa11", "bb22"], "the way back from a result to what it began with"


def test_records_are_cut_to_a_length_for_reading():
    cut = shown({"a": None, "b": [], "c": True, "wall_seconds": 3, "d": {"device": "x", "e": 0}})
    assert cut == {"c": "yes", "d": {"e": 0}}
    assert shown(list(range(100)))[-1] == "… (100 in all)" and len(shown("x" * 1000)) < 300


# --- escaping ---------------------------------------------------------------------------------------------------------
def test_specials_stay_text(bench):
    added = [{"model": "own", "label": NASTY}]
    text = pages.table_page(_draw(bench, bench.spec(), extra_rows=added, scale="<i>&"), "index.html")
    page = parser.fromstring(text)
    label = page.xpath("//th[@class='stub'][contains(., 'a|b')]")[0]
    assert label.text_content() == f"{NASTY}+" and [child.tag for child in label] == ["bdi", "sup"]
    assert len(page.xpath("//script")) == 1 and "<script>x" not in text and "<i>" not in text
    assert html.escape("\"'<>&") == "&quot;&#x27;&lt;&gt;&amp;" and html.escape("a\x00b\ud800") == "a\ufffdb\ufffd"


def test_text_of_a_result_and_its_record_is_escaped_in_html(bench):
    path = bench.result("first", {"ar": 0.5}, labels=["<b>label"])
    write_sealed(path, json.loads(path.read_text()) | {"<img src=x>": {"command": '"><script>1</script>'}})
    text = pages.table_page(_draw(bench, bench.spec()), "index.html")
    assert "&lt;b&gt;label" in text and "<b>label" not in text
    assert "<img" not in text and len(re.findall("<script", text)) == 1


def test_a_page_allows_itself_its_own_style_and_script_only(bench):
    page = _page(bench, bench.spec())
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert not page.xpath("//*[@style]") and not page.xpath("//@src") and not page.xpath("//@onclick")
    assert {*page.xpath("//link/@href")} == {"data:,"}


# --- pages ------------------------------------------------------------------------------------------------------------
def test_links_lead_to_what_is_written(bench, msm):
    drawn = [pages.draw(filled(bench, table), root="..") for table in msm.values()]
    figures = [Picture(file, title, "what it shows", "data:,") for file, title in FIGURES.items()]
    papers = pages.by_paper(drawn, figures)
    paper = parser.fromstring(pages.paper_page(*papers, "all_tables.html"))
    index = parser.fromstring(pages.index_page(papers, figures[1:], ["md", "csv"]))
    files, of_all = ({f"{name}.svg", f"{name}.pdf"} for name in ("msm/figure_01", "cell_map"))
    places = {"f01", *(f"t{number:02d}" for number in msm)}
    written = {f"msm/table_{number:02d}.{suffix}" for number in msm for suffix in ("md", "csv")}
    together = {"all_tables.md", "all_tables.tex", "all_tables.bib", "msm.html"}
    assert _links(paper) == {"all_tables.html"} | files
    assert _links(index) == written | {f"msm.html#{place}" for place in places} | together | files | of_all
    inside = {link[1:] for link in paper.xpath("//nav//a/@href") if link.startswith("#")}
    assert inside | places <= {*paper.xpath("//@id")}
    for page in (paper, index):  # a figure of a paper on its page, the others on the list
        assert page.xpath("//figure//img/@alt") == ["what it shows"]


def _links(page):
    return {link for link in page.xpath("//a/@href") if not link.startswith(("https:", "#", "../"))}


def test_a_damaged_figure_says_so_in_its_place(tmp_path):
    (tmp_path / "msm").mkdir()
    (tmp_path / "msm/figure_01.svg").write_text("<svg><g>", encoding="utf-8")
    (tmp_path / "cell_map.svg").write_text("<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hosts'>]><svg>&a;</svg>")
    damaged, other, missing = pictures([tmp_path / name for name in (*FIGURES, "none.svg")], tmp_path)
    assert damaged.problem.startswith(f"{tmp_path / 'msm/figure_01.svg'}: not a readable SVG") and damaged.data == ""
    assert (damaged.paper, damaged.id, other.paper, other.id) == ("msm", "f01", "", "cell_map")
    assert not other.problem and "no such file" in missing.problem
    page = parser.fromstring(pages.index_page([], [missing], []))
    assert "no such file" in page.xpath("//figure")[0].text_content() and not page.xpath("//img")


def test_a_page_drawn_by_hand_shows_a_figure_only_while_it_has_a_spec(bench):
    bench.spec()
    tables, spec = bench.results_dir / "tables", bench.folder / "msm/figure_01.yaml"
    (tables / "msm").mkdir(parents=True)
    for name, title in FIGURES.items():
        (tables / name).write_text(f"<svg><title>{title}</title></svg>", encoding="utf-8")
    line = ["tables", "all_tables", "--spec", str(bench.folder / "msm/table_99.yaml")]
    for has_spec in (True, False):
        spec.touch() if has_spec else spec.unlink()
        assert cli.main([*line, "--results-dir", str(bench.results_dir)]) == 0
        shown = [(tables / page).read_text(encoding="utf-8") for page in ("msm.html", "all_tables.html")]
        assert [file in text for file in FIGURES for text in shown] == [has_spec, has_spec, False, True]


def test_a_table_tells_of_what_it_is_made_from_and_of_nothing_else_in_the_folder(bench):
    borrowed = {"label: Second,": "label: Second, borrowed: other,"}
    table = bench.spec(**borrowed, groups="sources: {other: {text: a report}}\ngroups")
    path = bench.result("first", {"ar": 0.5})
    result = json.loads(path.read_text())
    seeds = path.with_suffix("")
    seeds.mkdir()

    def seed(name, number):
        (seeds / name).mkdir()
        changed = result | {"seeds": {"pretraining": 0, "finetuning": number}, "commit": f"seed {number}"}
        write_sealed(seeds / f"{name}.json", changed)
        write_sealed(seeds / name / "retrieval.json", {"commit": f"retrieval {number}"})

    write_sealed(path, result | {"seeds": [{"pretraining": 0, "finetuning": 0}]})
    seed("pt0-ft0", 0)
    before = [writer(filled(bench, table)) for writer in (formats.to_markdown, formats.to_latex, to_csv)]
    page = pages.table_page(_draw(bench, table), index="i.html")
    assert "seed 0" in page and "retrieval 0" in page
    seed("pt0-ft2", 2)  # of another table, which asks for more seeds
    bench.result("second", {"ar": 0.9}, commit="a stranger's")  # of another table, which measures what this one borrows
    assert [writer(filled(bench, table)) for writer in (formats.to_markdown, formats.to_latex, to_csv)] == before
    assert pages.table_page(_draw(bench, table), index="i.html") == page

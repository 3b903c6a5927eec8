"""A spec with anything wrong in it is refused, with the place and the nearest valid key; the schema is in sync."""

import json
import re
import shutil
from pathlib import Path

import pytest
from specs import PAPERS
from specs import TODAY as OF_TODAY

from stele.catalogue import entries, load, models
from stele.catalogue.models import seen_questions
from stele.catalogue.references import languages_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model
from stele.command import cli
from stele.command.cli import commands
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.papers.claims import Claims
from stele.papers.figure import Figure
from stele.papers.paper import TODAY, Paper, papers_in
from stele.papers.table import Table, load_spec, load_specs, matches
from stele.plan.plan import Plan
from stele.tables.values.lookup import STATES


@pytest.mark.parametrize(
    ("name", "model", "files"),
    [
        ("schema", Table, "table_*"), ("figure.schema", Figure, "figure_*"), ("paper.schema", Paper, "paper"),
        ("claims.schema", Claims, "claims"),
    ],
)  # fmt: skip
def test_the_schemas_are_the_models_and_named_in_each_file(root, name, model, files):
    written = json.loads((root / f"paper_tables/{name}.json").read_text(encoding="utf-8"))
    assert written == model.json_schema(), "run `python -m stele tables schema`"
    paths = [path for path in (root / "paper_tables").glob(f"*/{files}.yaml") if path.parent.name in {*PAPERS, TODAY}]
    for path in paths:
        assert path.read_text(encoding="utf-8").startswith(f"# yaml-language-server: $schema=../{name}.json\n"), path


def test_a_spec_that_changes_is_read_again_and_a_missing_one_is_an_error(bench):
    before = bench.spec()
    assert before is load_spec(bench.folder / "msm/table_99.yaml"), "the same bytes are read once"
    assert bench.spec(**{"Two systems": "Three systems"}).caption != before.caption
    path = bench.folder / "msm/table_99.yaml"
    (bench.folder / "kept").mkdir()
    (bench.folder / "kept/table_99.yaml").write_bytes(path.read_bytes())
    with pytest.raises(SteleError, match="belongs at msm/table_99"):
        load_spec(bench.folder / "kept/table_99.yaml")
    path.unlink()
    with pytest.raises(SteleError, match=r"table_99\.yaml"):
        load_spec(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("caption:", "capton:", r"unknown key 'capton'; did you mean 'caption'\?"),
        ("{language: sw}", "{langage: sw}", r"unknown key 'columns.1.target.langage'; did you mean 'language'\?"),
        ("[40.0, 20.0, 30.0]", "[40.0, 20.0]", r"row all/first, line value: 2 printed cells for 3 columns"),
        ("[40.0, 20.0, 30.0]", "[40.05, 20.0, 30.0]", "all/first/value/ar: 40.05 has more digits than its"),
        ("[40.0, 20.0, 30.0]", "['40.0*', 20.0, 30.0]", r"/ar: '40.0\*' is read as words; want a number"),
        ("[40.0, 20.0, 30.0]", "[−4.2, 20.0, 30.0]", "all/first/value/ar: '−4.2' is read as words"),
        ("[40.0, 20.0, 30.0]", "[—, 20.0, 30.0]", "'—' is read as words; want .* null for a dash"),
        ("{key: sw,", "{key: ar,", "column 'ar' is given twice"),
        ("label: Second", "label: Second, borrowed: nobody", "source 'nobody' is not in `sources`"),
        ("stub: Method", "stub: Method\nrelabel: {ar: sw}", "must exchange columns"),
        ("stub: Method", 'stub: Method\nfootnotes: [{text: x, at: ["all/third/*/*"]}]', "no cell has the address"),
        ("[40.0, 20.0, 30.0]", "[{value: 40, marks: †}, 20.0, 30.0]", "mark '†' is not explained"),
        ("printed: [40.0, 20.0, 30.0]", "unavailable: {xx: y}", "`printed` must have the lines value"),
        ("stub: Method", "stub: Method\nstub: Model", "key 'stub' is given twice"),
        ("{average: [ar, sw]}", "{average: [ar, ar]}", "columns.2.target.average: ar is given twice"),
        ("{average: [ar, sw]}", "{average: [ar, sw], language: ar}", "one `language` or an `average`, not both"),
        ("stub: Method", "stub: Method\nseeds: {finetuning: [1, 1]}", "seeds.finetuning: 1 is given twice"),
        ("stub: Method", "stub: Method\nseeds: {pretraining: [-1]}", "seeds.pretraining.0: .* greater than or equal"),
        ("stub: Method", "stub: Method\nreport: {scale: 0}", "report.scale: Input should be greater than 0"),
        ("number: 99", "number: 98", "belongs at msm/table_98.yaml"),
        ("paper: msm", "paper: mms", "belongs at mms/table_99.yaml"),
    ],
)
def test_a_wrong_spec_is_refused(bench, old, new, message):
    with pytest.raises(SteleError, match=message) as error:
        bench.spec(**{old: new})
    assert "table_99.yaml" in str(error.value), "the error names the file"


def test_a_missing_spec_and_an_empty_folder_are_named(tmp_path):
    with pytest.raises(SteleError, match="no such file"):
        load_spec(tmp_path / "table_01.yaml")
    with pytest.raises(SteleError, match="no table_NN"):
        load_specs(tmp_path)


def test_addresses_match_part_by_part():
    assert matches("all/msm/mrr/ar", ["*/msm/*/a?"])
    assert not matches("all/msm/mrr/ar", ["*/ms/*/ar"])
    assert not matches("all/msm/mrr/ar", ["all*ar"]), "a star stays within its part"


# --- today's encoders -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("models: [me5_small, msm]}", "rows: [{key: a, label: A, printed: [1, 2, 3], target: {model: a}}]}",
         "row all/a: published numbers stand in references.tsv"),
        ("models: [me5_small, msm]}", "rows: [{key: a, label: A}]}", "row all/a, column ko: a benchmark, model"),
        ("models: [me5_small, msm]}", "models: [me5_smal]}", r"unknown model 'me5_smal'; did you mean 'me5_small'\?"),
        ("models: [me5_small, msm]}", "models: [msm], rows: [{key: a, label: A}]}", "want `rows`, or `models`"),
        ("key: all, models: [me5_small, msm]", "key: all", "group all: want `rows`, or `models`"),
        ("stub: Model", "stub: Model\nmarks: {x: y}", "`marks` describes a printed table, but no paper prints"),
        ("stub: Model", "stub: Model\nkind: stated", "tables of 'today' must have kind `result`"),
        ("metric: mrr@100}", "metric: mrr@100, averge: [ko]}", "unknown key 'target.averge'; did you mean 'average'"),
        ("number: 99", "number: 98", "belongs at today/table_98.yaml"),
    ],
)  # fmt: skip
def test_a_wrong_spec_of_today_is_refused(bench, old, new, message):
    with pytest.raises(SteleError, match=message):
        bench.spec(OF_TODAY, **{old: new})


def test_a_paper_s_table_prints_its_rows(bench):
    with pytest.raises(SteleError, match="row all/me5_small: `printed` must have the lines value"):
        bench.spec(OF_TODAY, **{"paper: today": "paper: msm"})


def test_today_is_every_encoder_that_is_used_as_it_is(bench):
    table = bench.spec(OF_TODAY, **{"models: [me5_small, msm]": "models: today"})
    today = [(key, model.label) for key, model in entries(Model).items() if model.trained_on is not None]
    assert [(row.key, row.label) for _, row in table.rows()] == today and len(today) >= 19


def test_the_papers_specs_are_read_without_those_of_today(root):
    assert {table.paper for table in load_specs(root / "paper_tables")} == {*papers_in()}
    assert [table.number for table in load_specs(root / "paper_tables/today")] == [*range(1, 8)]


def test_belebele_s_directions_are_the_means_that_sources_print(root):
    table = load_spec(root / "paper_tables/today/table_05.yaml")
    means = {column.key: column.target.average for column in table.columns}
    for key, subset in (
        ("same", "same language (122)"),
        ("to_en", "passages X, questions English (121)"),
        ("from_en", "passages English, questions X (121)"),
    ):
        assert {*means[key]} == {*languages_of("belebele", subset)}
    assert sorted(means["all"]) == sorted(entries(Benchmark)["belebele"].languages)
    assert sorted([*means["same"], *means["to_en"], *means["from_en"], *means["scripts"]]) == sorted(means["all"])
    others = means.keys() - {"all", "same", "to_en", "from_en", "scripts"}
    scripts = [code for key in others for code in means[key]]
    assert sorted(scripts) == sorted(means["same"]), "each variant in one script"


def test_hard_negatives_scripts_hold_every_language_once_but_for_scripts_of_one_language(root):
    table = load_spec(root / "paper_tables/today/table_03.yaml")
    averages = {column.key: column.target.average for column in table.columns if column.target.average}
    scripts = {key: codes for key, codes in averages.items() if key != "avg"}
    languages, kinds = entries(Benchmark)["miracl_hard_negatives"].languages, entries(Language)
    assert sorted([*(code for codes in scripts.values() for code in codes), "ru", "hi", "th"]) == sorted(languages)
    assert {kinds[code].script for code in scripts["latin"]} == {"Latin"}
    assert {kinds[code].script for code in scripts["arabic"]} == {"Arabic"}
    alone = [kinds[code].script for code in ("ru", "hi", "th")]
    assert not {*alone} & {kinds[code].script for codes in scripts.values() for code in codes}


@pytest.mark.parametrize(
    ("benchmark", "model", "setting", "seen"),
    [
        ("miracl", "arctic_l_v2", "direct", ("miracl",)),
        ("mrtydi", "arctic_l_v2", "direct", ("miracl",)),  # MIRACL's questions are Mr. TyDi's
        ("miracl", "mcontriever_marco", "direct", ()),
        ("miracl", "msm", "zero_shot_marco", ()),
        ("miracl", "msm", "multilingual", ("miracl",)),
        ("belebele", "me5_small", "direct", ()),
        ("lareqa", "me5_small", "direct", ("xquad",)),
        ("nq", "own_model", "supervised", ("nq",)),
    ],
)
def test_what_a_model_saw_is_of_its_training_and_of_its_fine_tuning(benchmark, model, setting, seen):
    assert seen_questions(benchmark, model, setting) == seen


def test_a_recipe_that_ends_in_a_language_saw_the_questions_of_its_training_set(monkeypatch):
    settings = {"settings": {"mrtydi": {"swahili": {"kind": "dense", "recipe": "mrtydi-sw"}}}}
    monkeypatch.setattr(models, "load", lambda name: settings if name == "settings" else load(name))
    assert seen_questions("mrtydi", "msm", "swahili") == ("mrtydi",)


# --- the examples of docs/tables.md and docs/adding/table.md ----------------------------------------------------------
@pytest.fixture(scope="module")
def page(root):
    return (root / "docs/tables.md").read_text(encoding="utf-8")


def test_the_worked_example_asks_for_what_the_text_says(page, bench):
    table = bench.spec(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    bench.result("xlmr", {"sw": 0.25, "te": 0.5}, setting="zero_shot_nq")
    cells = bench.cells(table)
    first = cells["xlmr/mrr/sw"]
    assert first.reference.result == ("mrtydi", "xlmr", "zero_shot_nq") and first.reference.metric == "mrr@100"
    assert first.printed.value == 21.0 and first.outcome.value == 0.25
    assert cells["xlmr/mrr/avg"].outcome.value == 0.375
    assert cells["elsewhere/recall/te"].outcome.state == "borrowed"
    assert cells["elsewhere/recall/sw"].printed.value == "fail"


def test_the_states_and_commands_are_those_that_exist(page):
    assert re.findall(r"^\| ([a-z ]+) \| ", page, re.MULTILINE)[1:] == list(STATES)
    named = set(re.findall(r"^stele tables (\w+)", page, re.MULTILINE))
    assert named <= commands("tables").keys()


def test_the_table_and_the_figure_of_the_adding_page_are_planned_checked_and_drawn(root, tmp_path, monkeypatch, capsys):
    shutil.copytree(root / "paper_tables", tmp_path / "paper_tables")
    page = (root / "docs/adding/table.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["tables", "check", "--specs", "paper_tables/msm"]) == 0
    assert "msm/90: 6 cells: 6 numbers" in capsys.readouterr().out
    assert cli.main(["tables", "table", "--spec", "paper_tables/msm/table_90.yaml"]) == 0
    assert "| XLM-R " in Path("results/tables/msm/table_90.md").read_text(encoding="utf-8")
    assert cli.main(["tables", "figure", "--spec", "paper_tables/msm/figure_90.yaml", "--output", "figure.svg"]) == 0
    assert "MSM, figure 90" in Path("figure.svg").read_text(encoding="utf-8")
    plan = Plan(parse_config({"scale": "miniature", "papers": ["msm"]}))
    rows = {f"mrtydi/{model}/direct" for model in ("xlmr", "msm")}
    assert {row.path for row in plan.tables.rows_of("msm/90")} == rows
    assert "results/tables/msm/figure_90.svg" in plan.figures.files()

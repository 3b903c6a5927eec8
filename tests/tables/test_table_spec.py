"""A spec with anything wrong in it is refused, with the place and the nearest valid key; the schema is in sync."""

import json

import pytest
from specs import PAPERS

from stele.errors import SteleError
from stele.papers.claims import Claims
from stele.papers.figure import Figure
from stele.papers.paper import TODAY, Paper
from stele.papers.table import Table, load_spec, load_specs, matches


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

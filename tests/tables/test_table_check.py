"""The check of the papers' tables against themselves and each other: it recomputes, and only listed deviations pass."""

import re

import pytest
from figure_files import CURVES, DISTRIBUTION
from specs import PAPERS, write_spec

from stele.command import cli
from stele.errors import SteleError
from stele.papers.names import unknown_names
from stele.papers.table import load_specs
from stele.tables import check

# a paper of its own, in fractions; its rows are those that other small tables say they copied
ORIGIN = """
    paper: ccp
    number: 98
    caption: Where the numbers come from.
    stub: Method
    report: {scale: 1, decimals: 3}
    target: {benchmark: mrtydi, setting: zero_shot_nq_ccp, metric: mrr@100}
    columns:
    - {key: ar, header: AR, target: {language: ar}}
    - {key: bn, header: BN, target: {language: bn}}
    - {key: sw, header: SW, target: {language: sw}}
    - {key: te, header: TE, target: {language: te}}
    groups:
    - key: all
      rows:
      - {key: first, label: First, target: {model: first}, printed: [0.401, 0.202, 0.303, 0.504]}
      - {key: second, label: Second, target: {model: second}, printed: [0.411, 0.212, 0.313, 0.514]}
"""
# columns in another order, percent, and one more column
BORROWING = """
    paper: kept
    number: 97
    caption: Numbers from elsewhere.
    stub: Method
    target: {benchmark: mrtydi, setting: zero_shot_nq, metric: mrr@100}
    sources:
      ccp: {text: "CCP, Table 98", table: ccp/98, row: all/first}
    columns:
    - {key: te, header: TE, target: {language: te}}
    - {key: sw, header: SW, target: {language: sw}}
    - {key: bn, header: BN, target: {language: bn}}
    - {key: ar, header: AR, target: {language: ar}}
    - {key: th, header: TH, target: {language: th}}
    groups:
    - key: all
      rows:
      - key: copy
        label: First
        target: {model: first}
        borrowed: {ar: ccp, bn: ccp, sw: ccp, te: ccp}
        printed: [50.4, 30.3, 20.2, 40.1, 60.1]
      - {key: own, label: Own, target: {model: own}, printed: [50.3, 30.2, 20.1, 40.0, 60.0]}
"""


@pytest.fixture(scope="module")
def papers(root):
    return load_specs(root / "paper_tables")


@pytest.fixture
def write(bench):
    """Writes a small spec at its place, with replacements, and reads it."""
    return bench.spec


def _said(tables):
    return [(d.table, d.address, d.kind, d.says) for d in check.deviations(tables)]


# --- the papers' tables -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("average: [ar, sw]", "average: [ar, swa]", "avg: mrtydi: unknown language 'swa'; did you mean 'sw'"),
        ("benchmark: mrtydi", "benchmark: mrtidy", "ar: unknown benchmark 'mrtidy'; did you mean 'mrtydi'"),
        ("model: first", "model: mbertt", "ar: mrtydi: unknown model 'mbertt'; did you mean 'mbert'"),
        ("metric: mrr@100", "metric: mrr@10", "ar: mrtydi: unknown metric 'mrr@10'; did you mean 'mrr@100'"),
        ("marco", "marko", "ar: mrtydi: unknown setting 'zero_shot_marko'; did you mean 'zero_shot_marco'"),
        # the short name of a mean's file; zero_shot_nq is nearer and would be another row
        ("zero_shot_marco", "zero_shot", "ar: mrtydi: unknown setting 'zero_shot'; did you mean 'zero_shot_marco'"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error(bench, capsys, old, new, message):
    """An average would be measured over its other languages, and look like any other number."""
    bench.spec(**{old: new})
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 1
    assert f"msm/99 all/first/value/{message}" in capsys.readouterr().err


def test_the_models_and_benchmarks_of_config_yaml_are_known(bench, monkeypatch, capsys):
    bench.spec(**{"model: first": "model: my_first", "model: second": "model: mbert"})
    (bench.folder / "config.yaml").write_text("models: {my_first: {checkpoint: my/first}}\n")
    monkeypatch.chdir(bench.folder)
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 0, capsys.readouterr().err


def test_a_benchmark_that_is_evaluated_in_all_languages_of_its_data_has_them_all(write):
    """Tatoeba's own 14 languages are those of the papers' tables; Basque is one of the other 98."""
    changes = {"benchmark: mrtydi, setting: zero_shot_nq_ccp, metric: mrr@100": "benchmark: tatoeba, setting: direct"}
    changes |= {"setting: direct": "setting: direct, metric: accuracy", "language: ar": "average: [ar, eu, xx]"}
    said = unknown_names(check.sources([write(ORIGIN, **changes)]), ["first", "second"])
    assert ["unknown language 'xx'" in message for message in said] == [True]


def test_the_names_in_a_figure_are_checked_too(bench, root, capsys):
    """A curve's metric, and a distribution's file: `lengths` is no metric, but a file beside the result."""
    bench.spec(**{"model: first": "model: mbert", "model: second": "model: msm"})
    for old, new, message in (
        ("metric: ap_judged", "metric: ap_juged", "clef: unknown metric 'ap_juged'; did you mean 'ap_judged'"),
        ("model: start", "model: mbertt", "clef: unknown model 'mbertt'; did you mean 'mbert'"),
    ):
        spec = CURVES.replace("model: one_5", "model: mbert").replace("model: one_10", "model: mbert")
        write_spec(bench.folder, spec.replace("model: two_10", "model: mbert").replace(old, new))
        assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 1
        assert f"clir_lm/figure_98.yaml: {message}" in capsys.readouterr().err
    (bench.folder / "clir_lm/figure_98.yaml").unlink()
    write_spec(bench.folder, DISTRIBUTION)
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 0
    write_spec(bench.folder, DISTRIBUTION, **{"metric: lengths": "metric: lenghts"})
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 1
    said = "clir_lm/figure_98.yaml: statistics: unknown metric 'lenghts'; did you mean 'lengths'"
    assert said in capsys.readouterr().err


def test_the_model_that_rows_are_tested_against_is_checked_too(bench, capsys):
    models = {"model: first": "model: mbert", "model: second": "model: msm"}
    for against, status in (("mbert", 0), ("{mrtydi: mbert}", 0), ("mbertt", 1), ("{mrtydi: mbertt}", 1)):
        bench.spec(**models, **{"stub: Method": f"stub: Method\nsignificance: {{against: {against}}}"})
        assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == status
    assert "msm/99: `significance`: unknown model 'mbertt'; did you mean 'mbert'" in capsys.readouterr().err


def test_the_columns_that_two_papers_exchanged_are_compared_as_meant(papers):
    pairs = {(c.table.id, c.address): (c, origin) for c, origin in check.borrowed_cells(papers)}
    cell, origin = pairs["kept/4", "r2k/msm_base/value/ar"]
    assert (cell.printed_under.key, origin.address.rpartition("/")[2]) == ("te", "ar")
    assert (cell.printed.value, origin.printed.value) == (34.0, 34.0)


# --- small tables -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("replace", "message"),
    [
        ({"30.0]}": "30.2]}"}, "msm/99 all/first/value/avg: average: prints 30.2, the mean of its 2 cells is 30.000"),
        ({"[40.0,": "[{value: 40.0, bold: true},"}, "all/first/value/ar: bold: 40 is bold, Second has 50"),
        ({"model: second": "model: first"}, "same target"),
        (
            {"stub: Method": "stub: Method\ndeviations: [{at: all/first/value/avg, kind: average, why: none}]"},
            "is listed in `deviations` but does not occur",
        ),
    ],
)
def test_an_unknown_deviation_and_a_stale_one_fail(bench, capsys, replace, message):
    bench.spec(**replace)
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 1
    assert message in capsys.readouterr().err


def test_the_command_lists_counts_and_reasons(root, capsys):
    assert cli.main(["tables", "check", "--specs", str(root / "paper_tables")]) == 0
    out = capsys.readouterr().out
    assert "msm/2: 192 cells: 188 numbers, 4 dashes" in out
    assert "kept/2: 286 cells: 284 numbers, 2 words" in out
    assert "ccp/5: 24 cells: 20 numbers, 4 words" in out
    counts = re.findall(r"^(\w+)/\d+: (?:(\d+) cells|not counted)", out, re.MULTILINE)
    cells = [int(number or 0) for paper, number in counts if paper in PAPERS]
    assert (sum(cells), len(cells)) == (2825, 41)
    assert "borrowed: 444 cells of 28 rows compared" in out
    assert "NOT EXPLAINED" not in out
    assert "all/gmt_path/r2k/avg: average: prints 58.2, the mean of its 7 cells is 55.714" in out
    kinds = {"average", "same target", "bold", "copied row"}
    assert set(re.findall(r"^  \S+: ([a-z ]+): ", out, re.MULTILINE)) == kinds


def test_a_mean_that_rounds_to_the_print_is_no_deviation(bench):
    table = bench.spec(**{"[50.0, 30.0, 40.0]": "[50.0, 30.1, 40.1]"})  # mean 40.05, printed 40.1
    assert check.deviations([table]) == []


def test_a_bold_number_is_the_best_of_its_own_metric(bench):
    """Rows of recall below those of MRR: 50 and 30 are the best, though recall is higher."""
    bold = "[{value: 50.0, bold: true}, {value: 30.0, bold: true}, 40.0]}"
    recall = "- {key: recall, label: Recall, target: {model: second, metric: recall@100}, printed: [90.0, 80.0, 85.0]}"
    table = bench.spec(**{"[50.0, 30.0, 40.0]}": f"{bold}\n  {recall}"})
    assert check.deviations([table]) == []


def test_a_borrowed_cell_is_compared_with_the_cell_of_its_own_setting(write):
    """The origin's last column is its first in another setting."""
    second = "- {key: direct, header: AR, target: {setting: direct, language: ar}}\ngroups:"
    origin = {"groups:": second, "0.303, 0.504]": "0.303, 0.504, 0.7]", "0.313, 0.514]": "0.313, 0.514, 0.8]"}
    tables = [write(ORIGIN, **origin), write(BORROWING, **{"setting: zero_shot_nq,": "setting: zero_shot_nq_ccp,"})]
    assert check.deviations(tables) == []


def test_an_average_is_of_the_cells_of_its_own_metric(write):
    """By hand: (.401 + .202) / 2 = .3015 and (.8 + .7) / 2 = .75, beside each other as in many papers."""
    columns = (
        "- {key: avg, header: AVG, target: {average: [ar, bn]}}",
        "- {key: recall_ar, header: AR, target: {metric: recall@100, language: ar}}",
        "- {key: recall_bn, header: BN, target: {metric: recall@100, language: bn}}",
        "- {key: recall_avg, header: AVG, target: {metric: recall@100, average: [ar, bn]}}",
        "groups:",
    )
    changes = {"0.504]": "0.504, 0.302, 0.8, 0.7, 0.75]", "0.514]": "0.514, 0.312, 0.8, 0.7, 0.77]"}
    changes["groups:"] = "\n".join(columns)
    says = "prints 0.77, the mean of its 2 cells is 0.750"
    assert _said([write(ORIGIN, **changes)]) == [("ccp/98", "all/second/value/recall_avg", "average", says)]


def test_a_borrowed_row_is_compared_with_its_origin(write):
    origin, copy = write(ORIGIN), write(BORROWING)
    assert _said([origin, copy]) == []
    addresses = [f"all/copy/value/{column}" for column in ("te", "sw", "bn", "ar")]
    assert [c.address for c, _ in check.borrowed_cells([origin, copy])] == addresses


@pytest.mark.parametrize(
    ("old", "new", "address", "says"),
    [
        ("[50.4, 30.3", "[50.4, 30.2", "sw", "prints 30.2, ccp/98 all/first/value/sw prints 0.303"),
        ("[50.4, 30.3", "[50.4, null", "sw", "prints a dash, ccp/98 all/first/value/sw prints 0.303"),
        ("[50.4, 30.3", "[fail, 30.3", "te", "prints fail, ccp/98 all/first/value/te prints 0.504"),
        ("te: ccp}", "te: ccp, th: ccp}", "th", "the row it was taken from has no such cell"),
    ],
)
def test_a_cell_borrowed_differently_is_found_and_can_be_listed(write, old, new, address, says):
    origin, copy = write(ORIGIN), write(BORROWING, **{old: new})
    assert _said([origin, copy]) == [("kept/97", f"all/copy/value/{address}", "borrowed differently", says)]
    assert check.unexplained([origin, copy], check.deviations([origin, copy])) != []
    known = f"\ndeviations:\n- {{at: all/copy/value/{address}, kind: borrowed differently, why: x, tables: [ccp/98]}}"
    copy = write(BORROWING, **{old: new, "caption: Numbers from elsewhere.": f"caption: Numbers.{known}"})
    assert check.unexplained([origin, copy], check.deviations([origin, copy])) == []
    assert check.unexplained([copy], check.deviations([copy])) == [], "alone it cannot be seen, and is not stale"


def test_a_paper_alone_is_compared_with_the_tables_that_it_borrows_from(bench, monkeypatch, capsys):
    bench.spec(ORIGIN)
    bench.spec(BORROWING, **{"[50.4, 30.3": "[50.4, 30.2"})
    monkeypatch.setattr(check, "PAPER_TABLES", bench.folder)
    assert cli.main(["tables", "check", "--specs", str(bench.folder / "kept")]) == 1
    out, err = capsys.readouterr()
    assert "kept/97 all/copy/value/sw: borrowed differently: prints 30.2, ccp/98 all/first" in err
    assert "borrowed: 4 cells of 1 row compared" in out and "ccp/98:" not in out


def test_digits_that_only_one_table_has_are_no_difference(write):
    rounded = {"[50.4, 30.3, 20.2, 40.1, 60.1]": "[50, 30, 20, 40, 60]"}
    rounded |= {"[50.3, 30.2, 20.1, 40.0, 60.0]": "[51, 31, 21, 41, 61]"}
    copy = write(BORROWING, **rounded, **{"stub: Method": "stub: Method\nreport: {decimals: 0}"})
    assert _said([write(ORIGIN), copy]) == []


def test_a_number_printed_again_in_percent_or_with_fewer_digits_is_the_same(write):
    text = ORIGIN.replace("number: 98", "number: 97").replace("scale: 1, decimals: 3", "scale: 100, decimals: 0")
    text = text.replace("[0.411, 0.212, 0.313, 0.514]", "[41, 21, 31, 51]")
    again = write(text, **{"[0.401, 0.202, 0.303, 0.504]": "[40, 20, 30, 50]"})
    assert _said([write(ORIGIN), again]) == []
    other = write(text, **{"[0.401, 0.202, 0.303, 0.504]": "[41, 20, 30, 50]"})
    says = "0.401 in ccp/98 all/first/value/ar, 41 in ccp/97 all/first/value/ar"
    assert _said([write(ORIGIN), other]) == [(f"ccp/{n}", "all/first/value/ar", "same target", says) for n in (97, 98)]


def test_a_source_that_names_no_row_is_an_error(write):
    tables = [write(ORIGIN), write(BORROWING, **{"row: all/first": "row: all/fist"})]
    with pytest.raises(SteleError, match="ccp/98: unknown row 'all/fist'; did you mean 'all/first'"):
        check.deviations(tables)
    with pytest.raises(SteleError, match="`table` and `row` go together"):
        write(BORROWING, **{", row: all/first": ""})


def test_a_row_under_another_model_is_a_copy_in_one_table_and_in_two(write):
    borrowed = "    borrowed: {ar: ccp, bn: ccp, sw: ccp, te: ccp}\n"
    renamed = write(BORROWING, **{borrowed: "", "target: {model: first}": "target: {model: other}"})
    assert _said([write(ORIGIN), renamed]) == [
        ("ccp/98", "all/first/*/*", "copied row", "the same numbers: 4 of kept/97 all/copy (other)"),
        ("kept/97", "all/copy/*/*", "copied row", "the same numbers: 4 of ccp/98 all/first (first)"),
    ]
    twice = write(ORIGIN, **{"[0.411, 0.212, 0.313, 0.514]": "[0.401, 0.202, 0.303, 0.504]"})
    assert _said([twice]) == [
        ("ccp/98", "all/first/*/*", "copied row", "the same numbers: 4 of ccp/98 all/second (second)"),
        ("ccp/98", "all/second/*/*", "copied row", "the same numbers: 4 of ccp/98 all/first (first)"),
    ]


@pytest.mark.parametrize(
    "replace",
    [
        {"[0.411, 0.212, 0.313, 0.514]": "[0.401, 0.202, 0.303, 0.505]"},  # one of four differs
        {"[0.411, 0.212, 0.313, 0.514]": "[0.401, 0.202, 0.303, null]"},  # three are too few
        {"model: second": "model: first", "[0.411, 0.212, 0.313, 0.514]": "[0.401, 0.202, 0.303, 0.504]"},  # one model
        {
            "[0.411, 0.212, 0.313, 0.514]": "[fail, fail, fail, fail]",
            "[0.401, 0.202, 0.303, 0.504]": "[fail, fail, fail, fail]",
        },
    ],
)
def test_a_row_that_is_no_copy_is_not_reported_as_one(write, replace):
    assert [kind for _, _, kind, _ in _said([write(ORIGIN, **replace)])] == []


def test_a_copy_is_seen_where_each_cell_has_a_model_of_its_own(write):
    """As in an ablation over rows and columns, where all cells are the same language's."""
    one_language = {f"language: {code}": "language: fr" for code in ("ar", "bn", "sw", "te")}
    cells = [", ".join(f"{c}: {{model: {row}_{c}}}" for c in ("ar", "bn", "sw", "te")) for row in ("a", "b")]
    table = write(
        ORIGIN,
        **one_language,
        **{"target: {model: first}": f"targets: {{{cells[0]}}}", "target: {model: second}": f"targets: {{{cells[1]}}}"},
        **{"[0.411, 0.212, 0.313, 0.514]": "[0.401, 0.202, 0.303, 0.504]"},
    )
    assert {d.address for d in check.deviations([table])} == {"all/first/*/*", "all/second/*/*"}
    assert [c.reference.model for c in check.printed_cells(table)][:2] == ["a_ar", "a_bn"]


def test_printed_differences_are_recomputed(write):
    spec = {"stub: Method": "stub: Method\ndifferences_from: all/first"}
    right = write(ORIGIN, **spec, **{"[0.411, ": "[{value: 0.411, difference: 0.010}, "})
    assert _said([right]) == []
    wrong = write(ORIGIN, **spec, **{"[0.411, ": "[{value: 0.411, difference: -0.010}, "})
    says = "prints -0.01, the numbers differ by 0.010"
    assert _said([wrong]) == [("ccp/98", "all/second/value/ar", "difference", says)]
    with pytest.raises(SteleError, match="name the row it is from in `differences_from`"):
        write(ORIGIN, **{"[0.411, ": "[{value: 0.411, difference: 0.010}, "})
    with pytest.raises(SteleError, match="`differences_from`: no row 'all/third'"):
        write(ORIGIN, **{"stub: Method": "stub: Method\ndifferences_from: all/third"})

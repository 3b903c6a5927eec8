"""Best and second-best: on our unrounded numbers, ties all marked, only among what can be compared."""

import pytest
from rendering import filled, render
from specs import write_result

from stele.tables.check import bold_marks, counts, printed_cells
from stele.tables.render.cell_details import row_targets
from stele.tables.render.formats import to_markdown
from stele.tables.render.layout import build
from stele.tables.values.cell import table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import _comparisons, compare_rows, rank

ROWS = """
    paper: msm
    number: 99
    caption: Four systems.
    stub: Method
    target: {benchmark: mrtydi, setting: zero_shot_marco, metric: mrr@100}
    columns:
    - {key: ar, header: AR, target: {language: ar}}
    - {key: avg, header: AVG, target: {average: [ar, sw]}}
    groups:
    - key: one
      rows:
      - {key: a, label: A, target: {model: a}, printed: [1.0, 1.0]}
      - {key: b, label: B, target: {model: b}, printed: [99.0, 99.0]}
    - key: two
      rows:
      - {key: c, label: C, target: {model: c}, printed: [1.0, 1.0]}
      - {key: d, label: D, target: {model: d}, printed: [1.0, 1.0]}
"""


def _ranks(bench, values, **replace):
    for model, of_model in values.items():
        bench.result(model, of_model if isinstance(of_model, dict) else {"ar": of_model})
    ranks = rank(table_cells(bench.spec(ROWS, **replace), Context(), Results(bench.results_dir)))
    return {tuple(address.split("/")[1::2]): actual for address, actual in ranks.items()}


TABLE = {"stub: Method": "stub: Method\ncompare: table"}


LOWER = {"target: {language: ar}": "direction: lower, target: {language: ar}"}
FULL = {"a": {"ar": 0.1, "sw": 0.1}, "b": {"ar": 0.2, "sw": 0.2}}
RANKED = {  # values of the rows, changes of the spec, the column, the marks of its rows
    "unrounded values decide, not the paper": (
        *({"a": 0.44701, "b": 0.44699, "c": 0.44700}, TABLE, "ar"),
        {"a": "best", "c": "second"},
    ),
    "a row alone": ({"a": 0.5}, {}, "ar", {}),
    "ties, whatever the last bit of a mean says": (  # of .1, .2, .3 and of .2, .2, .2
        *({"a": 0.19999999999999998, "b": 0.20000000000000004, "c": 0.1, "d": 0.1}, TABLE, "ar"),
        {"a": "best", "b": "best", "c": "second", "d": "second"},
    ),
    "groups apart": ({"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}, {}, "ar", {"a": "best", "c": "best"}),
    "lower is better": ({"a": 0.5, "b": 0.4, "c": 0.6}, TABLE | LOWER, "ar", {"b": "best", "a": "second"}),
    "averages over the same languages alone": (FULL | {"c": {"ar": 0.9}}, TABLE, "avg", {"b": "best"}),
    "a language that all have": (FULL | {"c": {"ar": 0.9}}, TABLE, "ar", {"c": "best", "b": "second"}),
    "the larger of two sets that as many rows have": (
        *(FULL | {"c": {"sw": 0.9}, "d": {"sw": 0.8}}, TABLE, "avg"),
        {"b": "best"},
    ),
}


@pytest.mark.parametrize(("values", "replace", "column", "marks"), RANKED.values(), ids=RANKED)
def test_the_best_and_the_second_best_that_can_be_compared_are_marked(bench, values, replace, column, marks):
    ranks = _ranks(bench, values, **replace)
    assert {row: mark for (row, name), mark in ranks.items() if name == column} == marks


def test_numbers_of_different_metrics_or_benchmarks_are_not_ranked_against_each_other(bench):
    bench.result("b", {"ar": 0.9}, metric="recall@100")
    bench.result("c", {"ar": 0.3}, benchmark="xor_retrieve")
    others = {"model: b}": "model: b, metric: recall@100}", "model: c}": "model: c, benchmark: xor_retrieve}"}
    assert _ranks(bench, {"a": 0.5}, **others, **TABLE) == {}
    assert _ranks(bench, {"d": 0.4}, **others, **TABLE) == {("a", "ar"): "best", ("a", "avg"): "best"}


def test_a_line_of_which_lower_is_better_is_named_and_not_its_columns_alone(bench):
    for model, distance in (("a", 0.9), ("b", 0.7)):
        metrics = {"alignment": {"languages": {"ar": distance}}, "r@2kt": {"languages": {"ar": 1 - distance}}}
        write_result(bench.results_dir, ("mrtydi", model, "zero_shot_marco"), metrics)
    lines = """stub: Method
    lines:
    - {key: distance, label: Distance, direction: lower, target: {metric: alignment}}
    - {key: recall, label: R@2kt, target: {metric: r@2kt}}"""
    text = ROWS.replace("stub: Method", lines)
    for row in ("[1.0, 1.0]", "[99.0, 99.0]"):
        text = text.replace(f"printed: {row}", f"printed: {{distance: {row}, recall: {row}}}")
    page = render(to_markdown, bench, bench.spec(text, **{"header: AR": "header: AR, group: One"}))
    assert "marked (lower is better: Distance One AR, Distance AVG)." in page


# --- no row above a guess ---------------------------------------------------------------------------------------------
def _guessed(bench, values, **replace):
    """Ranks in ar, page and tests of rows with (value, guess, error); a row without a guess has its value alone."""
    for model, (value, *guess) in values.items():
        given = {"guess": {"languages": {"ar": guess[0]}, "errors": {"ar": guess[1]}}} if guess else {}
        bench.result(model, {"ar": value}, **given)
    table, results = bench.spec(ROWS, **TABLE, **replace), Results(bench.results_dir)
    cells = table_cells(table, Context(), results)
    ranks = {address.split("/")[1]: actual for address, actual in rank(cells).items() if address.endswith("/ar")}
    return ranks, render(to_markdown, bench, table), compare_rows(cells, results)


def test_nothing_is_marked_where_no_row_is_above_a_guess_and_a_note_says_so(bench):
    """The best is .028 - .02 = .008 away, less than one standard error of .01; and the average is of ar alone."""
    rows = {"a": (0.028, 0.02, 0.01), "b": (0.02, 0.02, 0.01), "c": (0.012, 0.02, 0.01)}
    ranks, page, tests = _guessed(bench, rows)
    assert not ranks and not tests.cells and not tests.untested
    assert "none is marked, in AR (2.0), AVG (2.0)." in page and "**2.8**" not in page and "<ins>" not in page
    assert "bold is best" not in page and "Not tested" not in page


@pytest.mark.parametrize(
    ("metric", "guess"),
    [
        ("mrr@100", "a random ranking"),
        ("r@5kt", "the rankings of other questions"),
        ("f1", "the answers to other questions"),
    ],
)
def test_the_note_names_the_guess_of_the_metric(bench, metric, guess):
    at_guess = {"languages": {"ar": 0.02}, "errors": {"ar": 0.01}}
    for model in ("a", "b"):
        bench.result(model, {"ar": 0.02}, metric=metric, guess=at_guess)
    page = render(to_markdown, bench, bench.spec(ROWS, **TABLE, **{"metric: mrr@100": f"metric: {metric}"}))
    assert f"No row is significantly above {guess} (score in brackets), so none is marked, in AR (2.0)" in page


def test_the_bound_is_two_standard_errors_and_more_with_the_number_of_rows(bench):
    """One-sided normal quantiles of .025 / m: 2.24 standard errors for two rows, 2.39 for three."""
    others = {"b": (0.02, 0.02, 0.01)}
    assert _guessed(bench, {"a": (0.0423, 0.02, 0.01)} | others)[0] == {}
    assert _guessed(bench, {"a": (0.0425, 0.02, 0.01)} | others)[0] == {"a": "best"}
    others |= {"c": (0.01, 0.02, 0.01)}
    assert _guessed(bench, {"a": (0.0438, 0.02, 0.01)} | others)[0] == {}
    assert _guessed(bench, {"a": (0.0441, 0.02, 0.01)} | others)[0] == {"a": "best", "b": "second"}


def test_the_error_of_an_average_is_the_mean_of_its_languages_errors(bench):
    """They may ask the same questions: two standard errors of each are two of their average, not 2.8."""
    guess = {"languages": {"ar": 0.02, "sw": 0.02}, "errors": {"ar": 0.01, "sw": 0.01}}
    for model, value in (("a", 0.04), ("b", 0.02)):
        bench.result(model, {"ar": value, "sw": value}, guess=guess)
    assert not rank(table_cells(bench.spec(ROWS, **TABLE), Context(), Results(bench.results_dir)))


def test_where_the_guess_of_a_row_is_not_known_marks_stand_as_elsewhere(bench):
    assert _guessed(bench, {"a": (0.02, 0.02, 0.01), "b": (0.01,)})[0] == {"a": "best"}


def test_a_column_of_which_lower_is_better_has_no_guess(bench):
    assert _guessed(bench, {"a": (0.02, 0.02, 0.01), "b": (0.01, 0.02, 0.01)}, **LOWER)[0] == {"b": "best"}


# --- no plain comparison: counts, lists of words, a baseline for each benchmark ---------------------------------------
TWO_BENCHMARKS = """
    paper: msm
    number: 99
    caption: Two collections.
    stub: Method
    target: {setting: zero_shot_marco, metric: mrr@100}
    significance: {against: {mrtydi: first, xor_retrieve: second}}
    columns:
    - {key: one, header: One, target: {benchmark: mrtydi, language: ar}}
    - {key: two, header: Two, target: {benchmark: xor_retrieve, language: ar}}
    groups:
    - key: all
      rows:
      - {key: first, label: First, target: {model: first}, printed: [40.0, 20.0]}
      - {key: second, label: Second, target: {model: second}, printed: [50.0, 30.0]}
      - {key: third, label: Third, target: {model: third}, printed: [60.0, 40.0]}
"""


def _measured(bench, table):
    for benchmark in ("mrtydi", "xor_retrieve"):
        for number, model in enumerate(("first", "second", "third")):
            bench.result(model, {"ar": 0.1 + number / 10, "sw": 0.2}, benchmark=benchmark)
    return table_cells(table, Context(), Results(bench.results_dir))


def test_each_benchmark_has_its_own_baseline(bench):
    table = bench.spec(TWO_BENCHMARKS)
    pairs = _comparisons(_measured(bench, table), table.significance)
    assert sorted(f"{one.address} - {other.row.key}" for one, other in pairs) == [
        "all/first/value/two - second",
        "all/second/value/one - first",
        "all/third/value/one - first",
        "all/third/value/two - second",
    ]


def test_the_command_of_a_row_leaves_out_what_this_scale_cannot_build(bench):
    """One benchmark without a language at this scale made the whole row's command fail."""
    outside = {"state": "not in scale", "reason": "the scale has no language of xor_retrieve"}
    table = bench.spec(TWO_BENCHMARKS)
    cells = filled(bench, table, rows={"first/zero_shot_marco/xor_retrieve": outside}).cells
    commands = {row.label: row.command for row in row_targets(cells, Results("results"))}
    assert commands["First"] == "snakemake results/mrtydi/first/zero_shot_marco.json"
    assert "results/xor_retrieve/second/zero_shot_marco.json" in commands["Second"]


def test_counts_have_no_best(bench):
    table = bench.spec(TWO_BENCHMARKS)
    assert rank(_measured(bench, table))
    plain = bench.spec(TWO_BENCHMARKS, **{"stub: Method": "stub: Method\ndirection: none"})
    assert rank(_measured(bench, plain)) == {}
    bold = TWO_BENCHMARKS.replace("[50.0,", "[{value: 50.0, bold: true},")
    ranked = bench.spec(bold)
    assert "- Paper: bold is as printed." in render(to_markdown, bench, ranked)
    assert [d.says for d in bold_marks(ranked, printed_cells(ranked))] == ["50 is bold, Third has 60"]
    unranked = bench.spec(bold, **{"stub: Method": "stub: Method\ndirection: none"})
    assert list(bold_marks(unranked, printed_cells(unranked))) == []


def test_a_list_of_words_is_not_counted(bench):
    assert counts(bench.spec()).total() == 6
    assert counts(bench.spec(**{"stub: Method": "stub: Method\nkind: stated\ncounted: false"})).total() == 0


def test_a_letter_that_says_which_row_is_beaten_is_raised_and_no_unit_of_our_number(bench):
    text = TWO_BENCHMARKS.replace("columns:", "marks: {a: better than First}\n    columns:")
    text = text.replace("[40.0,", "[fail,").replace("[50.0,", "[{value: 50.0, marks: a},").replace("[60.0,", "[fail,")
    table = bench.spec(text)
    _measured(bench, table)
    lines = [line for line in build(filled(bench, table), "side").lines if line.whose in ("ours", "paper")]
    assert [(line.boxes[0].text, line.boxes[0].raised) for line in lines[2:4]] == [("20.0", ""), ("50.0", "a")]

"""Best and second-best: on our unrounded numbers, ties all marked, only among what can be compared."""

from stele.tables.cells.best import rank
from stele.tables.cells.cell import Results, table_cells
from stele.tables.cells.context import Context

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
        bench.result(model, of_model)
    ranks = rank(table_cells(bench.spec(ROWS, **replace), Context(), Results(bench.results_dir)))
    return {tuple(address.split("/")[1::2]): actual for address, actual in ranks.items()}


TABLE = {"stub: Method": "stub: Method\ncompare: table"}


def test_unrounded_values_decide_and_the_paper_does_not(bench):
    """All three print as 44.7; only one is best, and B, which the paper has best, is not."""
    ranks = _ranks(bench, {m: {"ar": v} for m, v in {"a": 0.44701, "b": 0.44699, "c": 0.44700}.items()}, **TABLE)
    assert ranks["a", "ar"] == "best" and ranks["c", "ar"] == "second" and ("b", "ar") not in ranks


def test_ties_are_all_marked(bench):
    ranks = _ranks(bench, {m: {"ar": v} for m, v in {"a": 0.5, "b": 0.5, "c": 0.3, "d": 0.3}.items()}, **TABLE)
    assert [ranks[m, "ar"] for m in "abcd"] == ["best", "best", "second", "second"]


def test_groups_are_compared_apart_unless_the_spec_says_otherwise(bench):
    ranks = _ranks(bench, {m: {"ar": v} for m, v in {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}.items()})
    assert {m for m, column in ranks if column == "ar"} == {"a", "c"} and set(ranks.values()) == {"best"}


def test_a_row_alone_is_not_marked_best(bench):
    assert _ranks(bench, {"a": {"ar": 0.5}}) == {}


def test_where_lower_is_better(bench):
    replace = TABLE | {"target: {language: ar}": "direction: lower, target: {language: ar}"}
    ranks = _ranks(bench, {"a": {"ar": 0.5}, "b": {"ar": 0.4}, "c": {"ar": 0.6}}, **replace)
    assert ranks["b", "ar"] == "best" and ranks["a", "ar"] == "second"


def test_averages_over_other_languages_are_not_compared(bench):
    full, half = {"ar": 0.1, "sw": 0.1}, {"ar": 0.9}
    ranks = _ranks(bench, {"a": full, "b": {"ar": 0.2, "sw": 0.2}, "c": half}, **TABLE)
    assert ranks["b", "avg"] == "best" and ("c", "avg") not in ranks
    assert ranks["c", "ar"] == "best", "its language can be compared"

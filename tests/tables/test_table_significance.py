"""Marks of significance: on our numbers, by the stated test, on the values per query that stand beside the results."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from rendering import filled
from scipy import stats

from stele.command import cli
from stele.evaluation.scores import Scores
from stele.evaluation.significance import load_test
from stele.tables import all_tables
from stele.tables.values.significance import compare_rows, p_value
from tests.claims.made_results import write_system

LANGUAGES = ("ar", "sw")


def put(bench, model: str, values: dict[str, np.ndarray]) -> None:
    """A result of one seed with its values per query."""
    languages = [code for code, of_language in values.items() for _ in of_language]
    by_seed = np.concatenate([*values.values()])[None, None]
    write_system(bench.results_dir, f"mrtydi/{model}/zero_shot_marco", {"mrr@100": by_seed}, languages, labels=())


@pytest.fixture
def two(bench):
    """The second model is better by much in ar and by a hair in sw."""
    rng = np.random.default_rng(0)
    first = {code: rng.random(60) / 2 for code in LANGUAGES}
    put(bench, "first", first)
    put(bench, "second", {"ar": first["ar"] + 0.3, "sw": first["sw"] + rng.normal(0.001, 0.2, 60)})
    return bench


def compared(bench, table):
    comparisons = filled(bench, table).tests
    return {address.partition("/")[2]: one for address, one in comparisons.cells.items()}, comparisons


def test_the_best_row_is_tested_against_the_second_best(two):
    cells, actual = compared(two, two.spec())
    # whichever is the better one of a column carries the test
    assert {address.split("/")[2] for address in cells} == {"ar", "sw", "avg"}
    assert cells["second/value/ar"].better and cells["second/value/avg"].better
    assert cells["second/value/ar"].p == pytest.approx(1 / 100_001)
    (sw,) = (one for address, one in cells.items() if address.endswith("/sw"))
    assert not sw.better and sw.p > 0.05
    # Holm: the smallest of three p-values times 3
    assert cells["second/value/ar"].corrected == pytest.approx(3 / 100_001)
    assert "second-best row" in actual.method and "Holm correction over 3 tests" in actual.method


def test_the_t_test_against_a_named_row_is_scipys(two):
    table = two.spec(**{"stub: Method": "stub: Method\nsignificance: {test: t_test, against: first, correction: none}"})
    cells, actual = compared(two, table)
    read = {m: pyarrow.parquet.read_table(two.results_dir / f"mrtydi/{m}/zero_shot_marco/pt0-ft0/queries.parquet")
            for m in ("first", "second")}  # fmt: skip
    values = {m: np.array(t["mrr@100"]) for m, t in read.items()}
    kept = np.array(read["first"]["language"]) == "sw"
    expected = stats.ttest_rel(values["second"][kept], values["first"][kept]).pvalue
    assert cells["second/value/sw"].p == cells["second/value/sw"].corrected == pytest.approx(expected)
    assert set(cells) == {"second/value/ar", "second/value/sw", "second/value/avg"}
    assert "better than the row First (" in actual.method and "t-test" in actual.method


def test_languages_that_ask_the_same_questions_are_one_sample():
    """By scipy on each question's mean over eleven languages; eleven samples of 20 questions would be marked."""
    rng, languages = np.random.default_rng(13), ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")
    worth, noise = rng.normal(0.05, 0.2, 20), rng.normal(0, 0.01, (11, 20))
    keys = [(code, f"q{n}_{code}") for code in languages for n in range(20)]
    names, better = [code for code in languages for _ in range(20)], (worth + noise).reshape(1, -1)
    p = {}
    for benchmark in ("lareqa", "mrtydi"):
        both = np.zeros((1, 220)), better
        base, system = (Scores(benchmark, keys, names, {"map@20": values}, benchmark) for values in both)
        p[benchmark] = p_value(load_test("t_test"), system, base, "map@20")
    assert p["lareqa"] == pytest.approx(stats.ttest_1samp((worth + noise).mean(axis=0), 0).pvalue)
    assert p["mrtydi"] < 0.05 < p["lareqa"]


def test_a_row_that_is_worse_is_never_marked_as_better(two):
    table = two.spec(**{"stub: Method": "stub: Method\nsignificance: {against: second}"})
    cells, _ = compared(two, table)
    assert cells["first/value/ar"].corrected < 0.05
    assert not cells["first/value/ar"].better
    lower = two.spec(**{"stub: Method": "stub: Method\ndirection: lower\nsignificance: {against: second}"})
    assert compared(two, lower)[0]["first/value/ar"].better  # where lower is better


def test_results_without_values_per_query_are_not_tested_and_it_says_so(two):
    for path in two.results_dir.glob("mrtydi/first/*/*/queries.parquet"):
        path.unlink()
    cells, actual = compared(two, two.spec())
    assert not cells and not actual.method
    assert len(actual.untested) == 1 and "scores per query" in actual.untested[0]


def test_a_row_that_lacks_queries_of_one_column_is_tested_in_the_others(two):
    """Its values are 0.3 higher in ar, where it has all queries; of sw, and so of the average, 20 of 60 lack."""
    first = {code: np.linspace(0, 0.5, 60) for code in LANGUAGES}
    put(two, "first", first)
    put(two, "second", {"ar": first["ar"] + 0.3 + np.linspace(0, 0.01, 60), "sw": first["sw"][:40] + 0.3})
    cells, actual = compared(two, two.spec())
    assert cells.keys() == {"second/value/ar"} and cells["second/value/ar"].better
    assert cells["second/value/ar"].corrected == pytest.approx(1 / 100_001), "one test, so no correction"
    (why,) = actual.untested
    assert why.startswith("Second and First: ") and "lacks 20 queries" in why


def test_a_single_query_is_not_tested_and_it_says_so(bench):
    """The t-test has no p there; the other columns keep theirs, corrected over those that have one."""
    values = np.random.default_rng(0).random(60) / 2
    put(bench, "first", {"ar": values, "sw": values[:1]})
    put(bench, "second", {"ar": values + 0.3 + values / 10, "sw": values[:1] + 0.1})
    bench.spec(**{"stub: Method": "stub: Method\nsignificance: {test: t_test}"})
    line = ["tables", "table", "--results-dir", str(bench.results_dir), "--output-dir", str(bench.folder)]
    assert cli.main([*line, "--spec", str(bench.folder / "msm/table_99.yaml")]) == 0
    page = (bench.folder / "msm/table_99.md").read_text()
    assert "Holm correction over 1 test;" in page
    assert "Not tested for significance: Second and First: a language has a single query" in page


def test_equal_rows_are_no_difference(bench):
    same = {code: np.linspace(0, 1, 30) for code in LANGUAGES}
    put(bench, "first", same)
    put(bench, "second", same)
    assert not compared(bench, bench.spec())[0]


def test_the_pages_take_the_tests_from_the_tables_records_unless_something_changed(two, monkeypatch):
    two.spec()
    spec, given = two.folder / "msm/table_99.yaml", ["--results-dir", str(two.results_dir)]
    render_all = ["tables", "all_tables", "--spec", str(spec), *given]
    assert cli.main(["tables", "table", "--spec", str(spec), *given]) == 0
    tested = []
    monkeypatch.setattr(all_tables, "compare_rows", lambda *of: tested.append(of) or compare_rows(*of))
    page = two.results_dir / "tables/all_tables.md"
    assert cli.main(render_all) == 0 and not tested
    from_record = page.read_bytes()
    assert b"<sup>\xe2\x97\x86</sup>" in from_record
    record = two.results_dir / "tables/msm/table_99.json"
    written = record.read_text()
    record.write_text("{")
    assert cli.main(render_all) == 0 and len(tested) == 1 and page.read_bytes() == from_record
    record.write_text(written)
    put(two, "first", {code: np.full(60, 0.9) for code in LANGUAGES})
    assert cli.main(render_all) == 0 and len(tested) == 2 and page.read_bytes() != from_record

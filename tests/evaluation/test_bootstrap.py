"""Bootstrap intervals: coverage, scipy's, resampling within languages, and what must not change them."""

import numpy as np
import pytest
from scipy.stats import bootstrap as scipys

from stele.benchmarks.types import QuerySet
from stele.evaluation import bootstrap
from stele.evaluation.bootstrap import average_of, interval, intervals, resampled_means
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric


def test_scipys_percentile_interval():
    values = np.random.default_rng(3).normal(0.02, 0.3, 200)
    actual = interval(resampled_means({"en": values})["en"], level=0.95)
    expected = scipys((values,), np.mean, n_resamples=10_000, method="percentile", random_state=1).confidence_interval
    assert actual == pytest.approx((expected.low, expected.high), abs=0.002)  # the interval is .08 wide


def test_queries_are_drawn_within_their_language():
    """Each language is constant, so nothing varies; drawing from all 40 together would."""
    groups = {"en": np.full(30, 0.9), "sw": np.full(10, 0.1)}
    means = resampled_means(groups, resamples=200)
    assert interval(average_of(means, groups, "macro")) == pytest.approx((0.5, 0.5))
    assert interval(average_of(means, groups, "micro")) == pytest.approx((0.7, 0.7))


def test_resampled_means_depend_on_the_seed_and_on_no_order(monkeypatch):
    groups = {"en": np.random.default_rng(1).random(90), "sw": np.random.default_rng(2).random(90)}
    first = resampled_means(groups, resamples=500, seed=5)
    shuffled = {"sw": groups["sw"], "en": groups["en"][::-1]}
    again = resampled_means(shuffled, resamples=500, seed=5)
    alone = resampled_means({"sw": groups["sw"]}, resamples=500, seed=5)
    monkeypatch.setattr(bootstrap, "BLOCK", 100)
    in_small_blocks = resampled_means(groups, resamples=500, seed=5)
    for other in (again, alone, in_small_blocks):
        assert np.array_equal(first["sw"], other["sw"])
    assert np.array_equal(first["en"], again["en"])
    assert not np.array_equal(first["sw"], resampled_means(groups, resamples=500, seed=6)["sw"])
    same_values = resampled_means({"en": groups["en"], "sw": groups["en"]}, resamples=500, seed=5)
    assert not np.array_equal(same_values["en"], same_values["sw"])  # languages vary on their own


def test_few_distinct_values_are_drawn_by_their_counts_to_the_same_distribution():
    """Reciprocal ranks have few values: the counts of a resample are multinomial. Against drawing query by query."""
    values = np.array([0.0] * 150 + [0.5] * 100 + [1.0] * 50)
    (means,) = resampled_means({"sw": values}).values()
    rng = np.random.default_rng(1)
    plain = values[rng.integers(0, 300, size=(10_000, 300))].mean(axis=1)
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(300 * 10_000))
    assert interval(means) == pytest.approx(interval(plain), abs=0.004)


def test_both_directions_of_a_pair_are_drawn_together():
    values = np.random.default_rng(0).random(100)

    def found(*names):
        sets = [QuerySet(name, "fr", name) for name in names for _ in values]
        case = Case(query_sets=sets, queries=[*map(str, range(100))] * len(names))
        return intervals(case, {"r@1": load_metric("r@1")}, {"r@1": np.tile(values, len(names))}, "macro")["r@1"]

    assert found("fr-en", "en-fr")["average"] == pytest.approx(found("fr-en")["average"])


def test_the_average_of_languages_that_ask_the_same_questions_has_no_interval():
    """Drawn apart, k times the same scores would look as sure as k times as many questions."""
    values = np.random.default_rng(0).random(200)

    def widths(languages, same_questions):
        sets = [QuerySet(code, code, code) for code in languages for _ in values]
        case = Case(query_sets=sets, queries=[*map(str, range(200))] * len(languages))
        found = intervals(case, {"r@1": load_metric("r@1")}, {"r@1": np.tile(values, len(languages))},
                          "macro", same_questions)["r@1"]  # fmt: skip
        assert found["languages"].keys() == {*languages}
        return found["average"] and found["average"][1] - found["average"][0]

    alone, apart = widths(["en"], True), widths(["de", "en", "fr", "sw"], False)
    assert apart < 0.6 * alone  # a half, of what is no more than one language's
    assert widths(["de", "en", "fr", "sw"], True) is None

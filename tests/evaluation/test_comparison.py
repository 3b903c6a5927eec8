"""One system against a baseline: rows, families, tests by name."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from score_files import scores

from stele.evaluation.comparison import Choices, Comparison, compare_system, family, share_questions
from stele.evaluation.paired import stack
from stele.evaluation.scores import Scores
from stele.evaluation.significance import load_test

METRIC, TEST = "mrr@10", load_test("fisher")


def of_two_languages(source: str, values: list[float], languages=("en", "en", "en", "sw")) -> Scores:
    keys = [("all", str(i)) for i in range(len(values))]
    return Scores(source, keys, list(languages), {METRIC: np.array([values])})


def compared(ours: Scores, theirs: Scores, test="fisher", average="macro") -> list[Comparison]:
    return compare_system("a", ours, theirs, METRIC, Choices("b", [METRIC], load_test(test), average, "none", 0.05))


def test_languages_then_the_average():
    ours, theirs = of_two_languages("a", [1.0, 0.5, 0.5, 0.75]), of_two_languages("b", [0.5, 0.5, 0.75, 0.25])
    comparisons = compared(ours, theirs)
    assert [one.language for one in comparisons] == ["en", "sw", "average"]
    assert [one.queries for one in comparisons] == [3, 1, 4]
    assert [(one.win, one.tie, one.loss) for one in comparisons] == [(1, 1, 1), (1, 0, 0), (2, 1, 1)]
    assert [one.mean for one in comparisons] == pytest.approx([2 / 3, 0.75, (2 / 3 + 0.75) / 2])
    assert [one.baseline_mean for one in comparisons] == pytest.approx([1.75 / 3, 0.25, (1.75 / 3 + 0.25) / 2])
    assert [one.difference for one in comparisons] == pytest.approx([0.25 / 3, 0.5, (0.25 / 3 + 0.5) / 2])
    # average: .5/6, -.25/6, .5/2; observed .2917; |sum| with the last sign kept: .375, .2917, .2083, .125
    assert [one.p for one in comparisons] == [1.0, 1.0, 0.5]
    assert all(one.low <= one.difference <= one.high for one in comparisons[::2])
    assert np.isnan([comparisons[1].low, comparisons[1].high]).all()  # a single query tells nothing of others
    micro = compared(ours, theirs, average="micro")
    assert micro[2].mean == pytest.approx(2.75 / 4)
    assert micro[:2] == comparisons[:2]


def test_both_directions_of_a_pair_are_one_sample():
    """A sentence and its translation find each other or not: 20 pairs, not 40 queries; a user's own file may differ."""
    differences = np.random.default_rng(14).normal(0.05, 0.2, 20)
    keys = [(direction, f"{n:04}") for direction in ("fr-en", "en-fr") for n in range(20)]
    theirs = Scores("b", keys, ["fr"] * 40, {METRIC: np.zeros((1, 40))}, "tatoeba")
    ours = replace(theirs, source="a", values={METRIC: np.tile(differences, 2)[None]})
    (found,) = compared(ours, theirs, "t_test")
    assert found.p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue) and found.queries == 40
    assert found.difference == pytest.approx(differences.mean())
    width = found.high - found.low
    (alone,) = compared(halved(ours), halved(theirs), "t_test")
    assert width == pytest.approx(alone.high - alone.low)
    (unknown,) = compared(*(replace(scores, benchmark=None) for scores in (ours, theirs)), "t_test")
    assert unknown.p == pytest.approx(stats.ttest_1samp([*differences] * 2, 0).pvalue)


def halved(both: Scores) -> Scores:
    """The first of two directions."""
    values = {METRIC: both.values[METRIC][:, :20]}
    return replace(both, keys=both.keys[:20], languages=both.languages[:20], values=values)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_languages_that_ask_the_same_questions_are_one_sample(average):
    """Eleven copies of 20 questions have the interval and the p of the 20; it was narrower by the root of eleven."""
    languages, differences = "abcdefghijk", np.random.default_rng(13).normal(0.05, 0.2, 20)
    keys = [(code, f"q{n}_{code}") for code in languages for n in range(20)]
    names = [code for code in languages for _ in range(20)]
    theirs = Scores("b", keys, names, {METRIC: np.zeros((1, 220))}, "lareqa")
    ours = replace(theirs, source="a", values={METRIC: np.tile(differences, 11)[None]})
    found = {}
    for shared in (False, True):
        choices = Choices("b", [METRIC], load_test("t_test"), average, "none", 0.05, same_questions=shared)
        *_, found[shared] = compare_system("a", ours, theirs, METRIC, choices)
    assert share_questions(theirs) and not share_questions(replace(theirs, benchmark="mrtydi"))
    numbers = [(code, f"q{n}") for code, n in itertools.product(languages, range(20))]  # as of CLEF's topics
    assert all(share_questions(replace(theirs, keys=numbers, benchmark=name)) for name in ("clef", "mlqa", "xsa"))
    assert not share_questions(replace(theirs, keys=[("a", f"q{n}") for n in range(220)])), "the ids do not tell"
    assert found[True].p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue) and found[False].p < 0.001
    assert (found[True].difference, found[True].queries) == (pytest.approx(found[False].difference), 220)
    apart, together = (one.high - one.low for one in found.values())
    assert together == pytest.approx(11**0.5 * apart, rel=0.05)
    assert together == pytest.approx(2 * 1.96 * differences.std() / 20**0.5, rel=0.05)


@pytest.mark.parametrize(("raised", "known"), [([0.1, 0.1], False), ([0.1, 0.2], True), ([0.0, 0.0], True)])
def test_queries_that_all_change_alike_have_no_interval(raised, known):
    """It had no width, as if two queries told the difference for sure; rounding does not count."""
    theirs = np.array([0.2, 0.7])
    (found,) = compared(scores("a", [theirs + raised]), scores("b", [theirs]), test="t_test")
    assert (found.low <= found.difference <= found.high) == known


def test_more_seeds_of_the_same_values_are_no_more_evidence():
    rng = np.random.default_rng(0)
    theirs, ours = scores("b", [rng.random(8)]), scores("a", [rng.random(8)])
    tripled = stack([replace(ours, source=str(seed)) for seed in range(3)])
    (once,), (thrice,) = compared(ours, theirs), compared(tripled, theirs)
    assert (thrice.p, thrice.queries, thrice.low, thrice.std) == (once.p, once.queries, once.low, 0.0)
    assert once.std is None


def test_standard_deviation_over_seeds():
    ours = stack([scores("0", [[0.0, 0.5]]), scores("1", [[0.5, 1.0]])])
    (comparisons,) = compared(ours, scores("b", [[0.5, 0.5]]))
    assert (comparisons.mean, comparisons.std, comparisons.baseline_std) == (0.5, pytest.approx(math.sqrt(0.125)), None)


@pytest.mark.parametrize(("average", "wanted"), [("macro", math.log(0.2) / 2 + math.log(0.4) / 2), ("micro", -1.3863)])
def test_a_metric_that_is_no_mean_is_compared_as_a_result_has_it(average, wanted):
    """Uniformity is the logarithm of a mean: of (.1, .2, .3) and .4 by hand; the mean of all four is .25."""
    metric, keys = "uniformity_query", [("all", str(n)) for n in range(4)]
    ours, theirs = (
        Scores(name, keys, ["en", "en", "en", "sw"], {metric: values * np.array([[0.1, 0.2, 0.3, 0.4]])})
        for name, values in (("a", 1.0), ("b", 2.0))
    )
    *_, together = compare_system("a", ours, theirs, metric, Choices("b", [metric], TEST, average, "none", 0.05))
    assert together.mean == pytest.approx(wanted, abs=1e-4) and together.difference == pytest.approx(-math.log(2))
    assert np.isnan([together.low, together.high]).all() and together.p == TEST.p_value([np.ones(4)])


def test_a_correction_is_over_all_comparisons_of_a_family():
    ours, theirs = of_two_languages("a", [1.0, 0.5, 0.5, 0.75]), of_two_languages("b", [0.5, 0.5, 0.75, 0.25])
    comparisons = compared(ours, theirs)
    three = [replace(one, p=p) for one, p in zip(comparisons, [0.03, math.nan, 0.02], strict=True)]
    corrected = list(family(three, "holm", 0.05))
    assert [one.corrected_p for one in corrected] == pytest.approx([0.04, math.nan, 0.04], nan_ok=True)
    assert [one.significant for one in corrected] == [True, False, True]
    assert [one.significant for one in family(three, "bonferroni", 0.05)] == [False, False, True]
    assert [one.significant for one in family(three, "none", 0.02)] == [False, False, False]  # below, not at

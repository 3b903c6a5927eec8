"""Verdicts on made scores with planted effects: every state is reached, by every kind that can."""

import math
from operator import ge

import numpy as np
import pytest
from scipy import stats

from stele.claims.judging import findings
from stele.claims.judging.estimate import Estimate, Part, detectable, seeds_needed
from stele.claims.judging.family import Case, extreme, judge, judge_family
from stele.evaluation.significance import correct, levels
from tests.claims.planted import estimate, planted

BAR = 0.01


@pytest.fixture
def generator():
    return np.random.default_rng(18)


def state(finding, bar=BAR, level=0.05):
    return judge(Case(finding, bar), level).state


@pytest.mark.parametrize(
    ("effects", "wanted"),
    [
        ((0.05, 0.05, 0.05), "supported"),
        ((0.0, 0.0, 0.0), "no effect"),
        ((0.05, 0.05, 0.0), "undecided"),  # one rival is as good, which is not to say that none is worse
        ((0.05, 0.05, -0.05), "reversed"),
    ],
)
def test_best_has_to_beat_every_rival(generator, effects, wanted):
    how = {"over_seeds": 0.002, "over_queries": 0.01}
    rivals = {f"rival{n}": estimate(*planted(generator, effect, **how)) for n, effect in enumerate(effects)}
    verdict = judge(Case(findings.best(rivals), BAR))
    assert verdict.state == wanted
    assert wanted in ("supported", "no effect") or verdict.reason == "decided by rival2"


def test_the_rival_that_decides_need_not_be_the_closest():
    """Of a tight +10 and a noisy +20 the second decides, and the first has the smallest difference."""
    rivals = {"tight": Estimate(10.0, (Part(0.1, 4, 5),), 5), "noisy": Estimate(20.0, (Part(9.0, 4, 5),), 5)}
    verdict = judge(Case(findings.best(rivals), 1.0))
    assert verdict.state == "supported" and verdict.mean == 20 and verdict.rival == "noisy"
    assert verdict.closest == ("tight", 10.0) and verdict.reason.endswith("the smallest difference is +10, tight")


def test_a_difference_within_the_bar_is_not_reversed_however_sure():
    small = judge(Case(findings.greater(Estimate(-0.8, (Part(0.01, 4, 5),), 5), 1.0), 1.0))
    assert small.state == "undecided" and small.interval[1] < 0 and small.reason == "below by less than the bar"
    assert judge(Case(findings.greater(Estimate(-1.2, (Part(0.01, 4, 5),), 5), 1.0), 1.0)).state == "reversed"


def test_the_same_comparison_counts_once_in_a_family():
    one, again, other = (  # the same cells summed in another order differ in the last bits
        Case(findings.greater(Estimate(mean, (Part(variance, 4, 5),), 5)), 0.1)
        for mean, variance in ((1.0, 0.1), (1.0 + 2**-50, 0.1), (0.1, 1.0))
    )
    for procedure in ("holm", "benjamini_hochberg"):
        levels_twice = [verdict.level for verdict in judge_family([one, again, other], procedure)]
        assert levels_twice[1:] == [verdict.level for verdict in judge_family([one, other], procedure)]


def test_what_is_shown_is_as_wide_as_it_was_judged():
    """One of six rivals is better, at .041 alone: not after the correction for six, and its interval says so."""
    better, beaten = Estimate(-1.0, (Part(0.1135, 4, 5),), 5), Estimate(9.0, (Part(0.01, 4, 5),), 5)
    alone = judge(Case(findings.best({"one": better}), 0.1))
    assert alone.state == "reversed" and alone.interval[1] < 0 and alone.p == pytest.approx(0.041, abs=0.002)
    of_six = judge(Case(findings.best({"one": better, **{str(n): beaten for n in range(5)}}), 0.1))
    assert of_six.state == "undecided" and of_six.interval[0] == alone.interval[0] and of_six.interval[1] > 0
    assert of_six.p == alone.p and of_six.reason == "decided by one"
    surely = better._replace(mean=-5.0)
    assert judge(Case(findings.best({"one": surely, "two": beaten}), 0.1)).interval[1] < 0


@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_partial_conjunction_is_said_where_its_interval_lies_on_one_side(number):
    """On made estimates of four parts, at all levels: supported above 0, reversed below, else neither."""
    generator = np.random.default_rng(number)
    states = set()
    for _ in range(300):
        drawn = zip("abcd", generator.normal(0, 2, 4), generator.uniform(0.2, 0.8, 4), strict=True)
        parts = {name: findings.greater(Estimate(mean, (Part(error**2, 4, 5),), 5)) for name, mean, error in drawn}
        verdict = judge(Case(findings.at_least(number, parts), 0.0))
        low, high = verdict.interval
        assert (verdict.state == "supported", verdict.state == "reversed") == (low > 0, high < 0)
        states.add(verdict.state)
    assert states == {"supported", "reversed", "undecided"}


def test_equivalence_is_two_one_sided_tests_and_an_interval_of_90_in_100(generator):
    of_seed = generator.normal(0.005, 0.01, (6, 1))
    right = np.broadcast_to(generator.uniform(size=30), (6, 30))
    finding = findings.comparable(estimate(right + of_seed, right, ["ar"] * 30), 0.02)
    above = stats.ttest_1samp(of_seed[:, 0], -0.02, alternative="greater").pvalue
    below = stats.ttest_1samp(of_seed[:, 0], 0.02, alternative="less").pvalue
    assert finding.supports == pytest.approx(max(above, below))
    limits = stats.ttest_1samp(of_seed[:, 0], 0).confidence_interval(0.9)
    assert judge(Case(finding, 0.02)).interval == pytest.approx(tuple(limits))
    assert (finding.supports <= 0.05) == (limits.low > -0.02 and limits.high < 0.02)


def test_the_whole_family_decides_the_level(generator):
    """A p-value of .02 alone is support; among ten claims with nothing in them it is not."""
    one = Estimate(1.0, (Part(0.1135, 4, 5),), 5)
    assert findings.greater(one).p == pytest.approx(0.041, abs=0.002)
    nothing = Estimate(0.1, (Part(1.0, 4, 5),), 5)
    assert judge_family([Case(findings.greater(one), 0.1)], "holm")[0].state == "supported"
    cases = [Case(findings.greater(one), 0.1), *[Case(findings.greater(nothing), 0.1)] * 9]
    for procedure in ("holm", "benjamini_hochberg"):
        first = judge_family(cases, procedure)[0]
        assert first.state == "undecided" and first.interval[0] < 0 < first.interval[1]
    assert judge_family([cases[0], Case(None, 0.1)], "holm")[0].state == "undecided"  # the family was fixed before
    assert judge_family([cases[0], Case(None, 0.1)], "benjamini_hochberg")[0].state == "supported"


def test_the_detectable_effect_is_detected_in_80_of_100(generator):
    found = Estimate(0.0, (Part(0.02**2, 4, 5), Part(0.01**2, 200)), 5)
    effect = detectable(found, 0.05)
    limit = stats.t.ppf(0.975, found.freedom)
    assert 1 - stats.nct.cdf(limit, found.freedom, effect / found.error) == pytest.approx(0.8, abs=0.05)


def test_seeds_needed_shrink_what_seeds_can_and_nothing_else():
    found = Estimate(0.0, (Part(0.02**2, 4, 5), Part(0.002**2, 200)), 5)
    needed = seeds_needed(found, 0.02, 0.05)
    assert needed > 5 and seeds_needed(found, 0.08, 0.05) <= 5

    def with_seeds(n):
        return found._replace(parts=(Part(0.02**2 * 5 / n, n - 1, n), found.parts[1]))

    assert detectable(with_seeds(needed), 0.05) <= 0.02 < detectable(with_seeds(needed - 1), 0.05)
    assert seeds_needed(found, 0.005, 0.05) is None  # the queries alone leave more open
    many = seeds_needed(found, 0.0057, 0.05)
    assert many > 100 and detectable(with_seeds(many), 0.05) <= 0.0057 < detectable(with_seeds(many - 1), 0.05)


def test_few_seeds_may_be_enough_where_more_are_not():
    """Beside a part of one degree of freedom the sum's fall with each seed: the first that is enough is found."""
    found = Estimate(0.1, (Part(0.05, 2, 3), Part(0.01, 1)), 3)

    def enough(n):
        return detectable(found._replace(parts=(Part(0.05 * 3 / n, n - 1, n), found.parts[1])), 0.05) <= 1.0

    assert seeds_needed(found, 1.0, 0.05) == next(n for n in range(3, 50) if enough(n)) == 4


def test_one_seed_on_the_other_side_decides_no_test():
    shown = Estimate(5.0, (Part(0.01, 4, 5),), 1)
    for finding in (
        findings.significant([(0.001, 5.0)] * 3, shown),
        findings.not_significant([(0.9, 0.1)] * 3, shown, 9),
    ):
        assert judge(Case(finding, BAR)).state == "undecided"


def test_a_claim_that_no_verdict_can_come_of_makes_no_other_easier():
    border = Case(findings.greater(Estimate(2.0, (Part(0.6, 4, 5),), 5)), BAR)
    sure, null = Estimate(9.0, (Part(0.01, 4, 5),), 5), Estimate(0.0, (Part(0.6, 4, 5),), 5)
    nulls = [Case(findings.greater(null._replace(mean=n / 1000)), BAR) for n in range(10)]
    floors = [Case(findings.greater(sure._replace(mean=9.0 + n)), BAR, floor=(1.0, 5.0)) for n in range(10)]
    alone = judge_family([border, *nulls], "benjamini_hochberg")[0]
    beside = judge_family([border, *nulls, *floors], "benjamini_hochberg")
    assert (beside[0].state, beside[0].level) == (alone.state, alone.level) and beside[-1].state == "floor"


def test_a_mean_of_eleven_perfect_scores_is_at_the_ceiling():
    assert extreme([100.00000000000001, 100.0], 100, 1.0) == "ceiling"
    assert extreme([120.0, 100.0], 100, 1.0) == "", "numbers above the scale are none of it"


@pytest.mark.parametrize(
    ("p_values", "differences", "wanted"),
    [
        ([0.01, 0.02, 0.2], [1, 1, 1], "supported"),
        ([0.01, 0.03, 0.2], [1, 1, 1], "undecided"),  # twice .03 for two of three
        ([0.01, 0.02, 0.2], [-1, -1, 1], "reversed"),
        ([0.01, 0.2, 0.2], [1, 1, 1], "undecided"),
        ([0.01, 0.01], [1, 1], "undecided"),  # two seeds
        ([0.01, 0.01, 1.0, 0.2], [1, 1, 1, 1], "undecided"),  # two of four are not most
    ],
)
def test_significant_in_most_seeds(p_values, differences, wanted):
    shown = Estimate(5.0 * sum(differences), (), len(p_values))
    finding = findings.significant([*zip(p_values, differences, strict=True)], shown)
    verdict = judge(Case(finding, BAR))
    assert verdict.state == wanted and verdict.interval == (shown.mean, shown.mean)
    half = judge_family([Case(finding, BAR), Case(None, BAR)], "holm")[0]
    assert half.level == 0.025 and (half.state == "undecided" or verdict.p <= 0.025)


@pytest.mark.parametrize(
    ("mean", "p", "wanted"),
    [
        (0.1, 0.5, "supported"),
        (0.3, 0.001, "undecided"),  # significant, by less than the bar
        (3.0, 0.001, "reversed"),
        (-3.0, 0.001, "reversed"),
        (3.0, 0.2, "undecided"),  # nobody saw it, and it is not small
    ],
)
def test_what_is_claimed_not_to_be_significant_has_a_bar_and_a_family(mean, p, wanted):
    shown = Estimate(mean, (Part(0.01, 4, 5),), 5)
    case = Case(findings.not_significant([(p, mean)] * 5, shown, 1.0), 1.0)
    verdict = judge_family([case, Case(None, 1.0)], "holm")[0]
    assert (verdict.state, verdict.level, verdict.mean) == (wanted, 0.025, mean)


def test_a_count_of_wins_asks_for_the_bar_and_for_certainty():
    """Three are sure and large; the fourth decides whether it is four."""
    large, small = (Estimate(mean, (Part(0.01, 4, 5),), 5) for mean in (5.0, 0.4))
    fourth = {
        "supported": small,
        "undecided": small.reversed,  # behind by less than the bar
        "reversed": large.reversed,
    }
    for state, of_fourth in fourth.items():
        cells = [{"rival": each} for each in (large, large, large, of_fourth)]
        assert findings.count_above(cells, 1.0, 4).state == state, state
    unsure = [{"rival": each} for each in (large, large, large, Estimate(-5.0, (Part(25.0, 4, 5),), 5))]
    assert findings.count_above(unsure, 1.0, 4).state == "undecided"
    ahead = findings.count_above([{"rival": large}] * 3 + [{"rival": small}], 1.0, 3)
    assert (ahead.state, ahead.reason) == ("undecided", "4, claimed 3; 1 by less than the bar")


def test_counts_are_exact_or_limits_and_costs_within_a_quarter():
    """What is not known may decide a count."""
    exact = [findings.count(number, 11, unknown=2).state for number in (8, 9, 11, 12)]
    assert exact == ["reversed", "undecided", "undecided", "reversed"]
    limits = [findings.count(number, 11, ge, unknown=2).state for number in (8, 9, 11)]
    assert limits == ["reversed", "undecided", "supported"]
    assert [findings.count(n, 15).state for n in (15, 14)] == ["supported", "reversed"]
    assert [findings.count(n, 15, ge).state for n in (15, 14)] == ["supported", "reversed"]
    assert [findings.cost(r, 2.0).state for r in (2.5, 1.5, 2.6)] == ["supported", "supported", "reversed"]
    assert [findings.cost(r).state for r in (0.9, 1.1)] == ["supported", "reversed"]


@pytest.mark.parametrize("seed", range(20))
def test_levels_reject_what_corrected_p_values_reject(seed):
    generator = np.random.default_rng(seed)
    p_values = generator.beta(0.3, 3, 12).tolist()
    rejected = [p <= level for p, level in zip(p_values, levels(p_values, "holm"), strict=True)]
    assert rejected == [corrected <= 0.05 for corrected in correct(p_values, "holm")]
    rejected = [p <= level for p, level in zip(p_values, levels(p_values, "benjamini_hochberg"), strict=True)]
    assert rejected == (stats.false_discovery_control(p_values) <= 0.05).tolist()


def test_a_claim_without_a_p_value_counts_in_holm_s_family_alone():
    """That family was fixed before any run; of the others no share is false among claims without a verdict."""
    assert levels([0.01, math.nan, 0.02], "holm", 0.06) == pytest.approx([0.02, 0.06, 0.03])
    assert levels([0.01, math.nan, 0.02], "benjamini_hochberg", 0.05) == [0.05, 0.05, 0.05]
    assert levels([0.04, math.nan, 0.9], "benjamini_hochberg", 0.05) == [0.025, 0.05, 0.025]
    assert levels([math.nan], "holm", 0.05) == [0.05] and levels([], "benjamini_hochberg") == []

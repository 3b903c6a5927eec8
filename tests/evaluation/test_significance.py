"""Fisher's randomisation test, the paired t-test and corrected p-values: by hand, beside scipy's, and their laws."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from stele.evaluation import significance
from stele.evaluation.significance import correct, load_test

p_value = load_test("fisher").p_value


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0.5, 0.25, 0.25], 2 / 8),  # only all plus and all minus reach 1
        ([0.5, -0.25, 0.25], 6 / 8),  # |sum| is 1 twice, 0.5 four times, 0 twice; observed: 0.5
        ([0.5, 0.0, 0.25, 0.0, 0.25], 2 / 8),  # queries without a difference change nothing
        ([0.1, 0.2, -0.3], 1.0),  # 0.1 + 0.2 is not 0.3 in floats: still a sum of 0
        ([-0.4, 0.1, 0.2, 0.3], 14 / 16),  # |sum| is 0 twice; observed: .2, which others reach by rounding only
        ([0.3], 1.0),
        ([0.0, 0.0], 1.0),
    ],
)
def test_fishers_test_counts_outcomes_as_by_hand(differences, p):
    assert p_value([np.array(differences)]) == p


def test_languages_are_weighted_by_hand():
    """Macro: each query counts 1 / (2 n): -.1, .1, .05; every outcome reaches the observed |sum| of .05."""
    parts = [np.array([-0.2]), np.array([0.4, 0.2])]
    assert p_value(parts) == 1.0
    # the plain mean over queries is another test: |sum| .8 and .4 twice, 0 once, observed .4
    assert p_value([np.concatenate(parts)]) == 3 / 4


@pytest.mark.parametrize("seed", range(5))
def test_sampled_agrees_with_exact(monkeypatch, seed):
    differences = np.random.default_rng(seed).normal(0.25, 1, 18)
    exact = p_value([differences])
    monkeypatch.setattr(significance, "EXACT", 0)
    sampled = p_value([differences], permutations=100_000, seed=seed)
    assert 0 < abs(sampled - exact) < 5 * math.sqrt(exact * (1 - exact) / 100_000)


def random_strata(seed: int, *sizes: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0.1, 1, size) for size in sizes]


@pytest.mark.parametrize("sizes", [(9,), (60,), (30, 41, 3)])
def test_fishers_test_ignores_signs_and_orders(sizes):
    parts = random_strata(1, *sizes)
    given = {"permutations": 2000, "seed": 3}
    p = p_value(parts, **given)
    assert p_value([-one for one in parts], **given) == p  # which system is called the baseline
    assert p_value([one[::-1] for one in parts], **given) == p  # the order of the queries
    assert p_value(parts[::-1], **given) == p  # the order of the languages
    assert p_value([100 * one for one in parts], **given) == p  # percent or fractions
    assert p_value([1e-9 * one for one in parts], **given) == p
    assert p_value([np.append(one, 0) * (len(one) + 1) / len(one) for one in parts], **given) == p


def test_p_is_never_zero():
    clear = [np.full(50, 0.5) + 0.01 * random_strata(0, 50)[0]]
    assert p_value(clear, permutations=999) == 1 / 1000
    assert p_value([clear[0][:20]]) == 2 / 2**20


def test_a_seed_gives_the_same_bytes():
    """Pinned: the bits of PCG64 are fixed for a seed, so no version, thread or block size may change this."""
    parts = [np.arange(100) * 37 % 101 / 100 - 0.45, np.arange(33) * 7 % 31 / 30 - 0.5]
    assert p_value(parts, permutations=10_000, seed=1) == 0.6817318268173183
    assert p_value(parts, permutations=10_000, seed=2) != p_value(parts, permutations=10_000, seed=1)


@pytest.mark.parametrize("block", [1, 7, 1000, 10**6])
def test_blocks_do_not_matter(monkeypatch, block):
    parts = random_strata(7, 150)
    expected = p_value(parts, permutations=3000)
    monkeypatch.setattr(significance, "BLOCK", block)
    assert p_value(parts, permutations=3000) == expected
    monkeypatch.setattr(significance, "_BYTES", 100)
    assert p_value(parts, permutations=3000) == expected


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="finite"):
        p_value([np.array([0.1, math.nan])])


t_test = load_test("t_test").p_value


def test_the_t_test_of_one_stratum_is_scipys_ttest_rel():
    rng = np.random.default_rng(0)
    for case in range(200):
        size = int(rng.integers(2, 60))
        x = rng.random(size) if case % 2 else rng.integers(0, 3, size) / 2
        y = x + rng.normal(rng.choice([0, 0.1, 2]), 0.3, size)
        assert t_test([x - y]) == pytest.approx(ttest_rel(x, y).pvalue, rel=1e-9, abs=1e-300)


def test_the_t_test_of_two_strata_by_hand():
    """en: mean 2, variance 1 of 3; de: mean 1, variance 2 of 2. t = 3 / sqrt(1/3 + 1) = 2.598,
    freedom (4/3)^2 / ((1/3)^2 / 2 + 1^2 / 1) = 1.6842."""
    p = t_test([np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0])])
    freedom = (4 / 3) ** 2 / (1 / 18 + 1)
    assert p == pytest.approx(2 * t.sf(3 / math.sqrt(4 / 3), freedom), rel=1e-12)
    assert p != pytest.approx(t_test([np.array([1.0, 2.0, 3.0, 0.0, 2.0])]), rel=0.1)  # not the test of the plain mean


@pytest.mark.parametrize(
    ("strata", "p"),
    [
        ([[0.0, 0.0, 0.0]], 1.0),  # identical runs: scipy says NaN
        ([[0.0, 0.0], [0.0, 0.0]], 1.0),
        ([[0.25, 0.25, 0.25]], 2 / 2**3),  # as the sign test has it: scipy says 0, the limit of less and less variance
        ([[0.3 - 0.1, 0.5 - 0.3]], 2 / 2**2),
        ([[0.25, 0.25], [-0.25, -0.25]], 1.0),  # the languages cancel out
        ([[0.25, 0.25], [0.25, 0.25]], 2 / 2**4),
    ],
)
def test_a_t_test_without_variance_is_the_randomisation_test_and_gives_no_warning(strata, p):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert t_test([np.array(one) for one in strata]) == p


def test_a_single_query_cannot_be_tested():
    assert math.isnan(t_test([np.array([0.3])]))
    assert math.isnan(t_test([np.array([0.3]), np.array([0.1, 0.2])]))


def test_a_t_test_ignores_signs_and_orders():
    rng = np.random.default_rng(2)
    parts = [rng.normal(0.1, 1, 30), rng.normal(0, 2, 12)]
    p = t_test(parts)
    assert t_test([-one for one in parts]) == p
    assert t_test(parts[::-1]) == pytest.approx(p, rel=1e-12)
    assert t_test([one[::-1] for one in parts]) == pytest.approx(p, rel=1e-12)
    for scale in (100, 1e-9):
        assert t_test([scale * one for one in parts]) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("p", "holm", "bonferroni"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], [0.04, 0.16, 0.12, 0.02]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06], [0.06, 0.06, 0.06]),  # ties stay ties
        ([0.5, 0.6, 0.001], [1.0, 1.0, 0.003], [1.0, 1.0, 0.003]),
        ([0.3], [0.3], [0.3]),
        ([], [], []),
        ([0.01, math.nan, 0.02], [0.02, math.nan, 0.02], [0.02, math.nan, 0.04]),  # what has no p-value does not count
    ],
)
def test_corrections_are_those_counted_by_hand(p, holm, bonferroni):
    assert correct(p, "holm") == pytest.approx(holm, nan_ok=True)
    assert correct(p, "bonferroni") == pytest.approx(bonferroni, nan_ok=True)
    assert correct(p, "none") == pytest.approx(p, nan_ok=True)


def test_a_correction_leaves_the_p_values_given_as_they_were():
    p = [0.01, 0.04]
    given = np.array(p)
    correct(given, "holm")
    assert given.tolist() == p

"""The paired t-test against scipy's, its stratified form against arithmetic and simulation, and what does not vary."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from stele.evaluation.significance import load_test

p_value = load_test("t_test").p_value


def test_the_t_test_of_one_stratum_is_scipys_ttest_rel():
    rng = np.random.default_rng(0)
    for case in range(200):
        size = int(rng.integers(2, 60))
        x = rng.random(size) if case % 2 else rng.integers(0, 3, size) / 2
        y = x + rng.normal(rng.choice([0, 0.1, 2]), 0.3, size)
        assert p_value([x - y]) == pytest.approx(ttest_rel(x, y).pvalue, rel=1e-9, abs=1e-300)


def test_the_t_test_of_two_strata_by_hand():
    """en: mean 2, variance 1 of 3; de: mean 1, variance 2 of 2. t = 3 / sqrt(1/3 + 1) = 2.598,
    freedom (4/3)^2 / ((1/3)^2 / 2 + 1^2 / 1) = 1.6842."""
    p = p_value([np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0])])
    freedom = (4 / 3) ** 2 / (1 / 18 + 1)
    assert p == pytest.approx(2 * t.sf(3 / math.sqrt(4 / 3), freedom), rel=1e-12)
    assert p != pytest.approx(p_value([np.array([1.0, 2.0, 3.0, 0.0, 2.0])]), rel=0.1)  # not the test of the plain mean


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
        assert p_value([np.array(one) for one in strata]) == p


def test_a_single_query_cannot_be_tested():
    assert math.isnan(p_value([np.array([0.3])]))
    assert math.isnan(p_value([np.array([0.3]), np.array([0.1, 0.2])]))


def test_a_t_test_ignores_signs_and_orders():
    rng = np.random.default_rng(2)
    parts = [rng.normal(0.1, 1, 30), rng.normal(0, 2, 12)]
    p = p_value(parts)
    assert p_value([-one for one in parts]) == p
    assert p_value(parts[::-1]) == pytest.approx(p, rel=1e-12)
    assert p_value([one[::-1] for one in parts]) == pytest.approx(p, rel=1e-12)
    for scale in (100, 1e-9):
        assert p_value([scale * one for one in parts]) == pytest.approx(p, rel=1e-9)

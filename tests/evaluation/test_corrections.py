"""Corrected p-values against hand-worked ones, and the laws that make them safe to print."""

import math

import numpy as np
import pytest

from stele.errors import SteleError
from stele.evaluation.significance import correct


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


def test_corrected_values_keep_their_order_and_never_fall():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = np.round(rng.random(int(rng.integers(1, 12))) ** 3, 2)  # with ties and zeros
        holm, bonferroni = np.array(correct(p, "holm")), np.array(correct(p, "bonferroni"))
        assert (p <= holm).all() and (holm <= bonferroni).all() and (bonferroni <= 1).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(holm[order]) >= 0).all()
        assert all(holm[i] == holm[j] for i in range(len(p)) for j in range(len(p)) if p[i] == p[j])
        mixed = rng.permutation(len(p))
        assert correct(p[mixed], "holm") == holm[mixed].tolist()


def test_a_correction_leaves_the_p_values_given_as_they_were():
    p = [0.01, 0.04]
    given = np.array(p)
    correct(given, "holm")
    assert given.tolist() == p


def test_an_unknown_correction_is_refused_with_the_nearest():
    with pytest.raises(SteleError, match="unknown correction 'bonferoni'; did you mean 'bonferroni'"):
        correct([0.1], "bonferoni")

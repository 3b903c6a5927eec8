"""Corrected p-values against hand-worked ones, and the laws that make them safe to print."""

import math

import numpy as np
import pytest

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


def test_a_correction_leaves_the_p_values_given_as_they_were():
    p = [0.01, 0.04]
    given = np.array(p)
    correct(given, "holm")
    assert given.tolist() == p

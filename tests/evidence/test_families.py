"""A claim's own level rejects what the family's procedure rejects, by independent implementations."""

import math

import numpy as np
import pytest
from scipy import stats

from stele.evaluation.significance import correct
from stele.evidence.families import levels


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


def test_the_order_does_not_matter():
    p_values = [0.001, 0.04, 0.03, 0.9, 0.012]
    for procedure in ("holm", "benjamini_hochberg"):
        assert levels(p_values[::-1], procedure) == levels(p_values, procedure)[::-1]


def test_in_a_family_without_effects_holm_rarely_rejects_any():
    generator = np.random.default_rng(1)
    families = generator.uniform(size=(500, 9))
    wrong = sum(any(p <= level for p, level in zip(row, levels(row, "holm"), strict=True)) for row in families)
    assert wrong / 500 <= 0.08

"""Differences over seeds and queries: against scipy where one of the two alone varies, and coverage where both do."""

import numpy as np
import pytest
from scipy import stats

from stele.claims.judging.estimate import Estimate, Part, Term, combine, interval, p_above, scored
from stele.evaluation import bootstrap, significance
from tests.claims.planted import LANGUAGES, by_language, estimate, planted


@pytest.fixture
def generator():
    return np.random.default_rng(18)


def test_with_seeds_alone_it_is_the_t_interval_of_the_seeds(generator):
    """Each query shifts by the same, so that only D_p varies."""
    of_seed = generator.normal(0.1, 1, (6, 1))
    right = np.broadcast_to(generator.uniform(size=30), (6, 30))
    found = estimate(right + of_seed, right, ["ar"] * 10 + ["sw"] * 20)
    wanted = stats.ttest_1samp(of_seed[:, 0], 0)
    assert interval(found, 0.05) == pytest.approx(tuple(wanted.confidence_interval(0.95)))
    assert 2 * min(p_above(found), p_above(found.reversed)) == pytest.approx(wanted.pvalue)


def test_with_different_numbers_of_seeds_it_is_welch_s(generator):
    left, right = generator.normal(0.5, 1, (5, 1)), generator.normal(0, 2, (3, 1))
    queries = generator.uniform(size=30)
    found = estimate(left + queries, right + queries, ["ar"] * 30)
    wanted = stats.ttest_ind(left[:, 0], right[:, 0], equal_var=False)
    assert interval(found, 0.1) == pytest.approx(tuple(wanted.confidence_interval(0.9)))
    assert found.seeds == 3


def test_with_one_seed_it_is_the_stratified_t_test(generator):
    names = ["ar"] * 10 + ["sw"] * 25
    differences = generator.normal(0.3, 1, 35)
    found = estimate(differences[None], np.zeros((1, 35)), names)
    assert 2 * min(p_above(found), p_above(found.reversed)) == pytest.approx(
        significance.load_test("t_test").p_value([differences[:10], differences[10:]])
    )
    assert found.seeds == 1


def test_queries_that_all_change_alike_have_the_p_of_the_sign_test():
    """Two or three of them were proof, with p 0; their variance is that of rounding."""
    found = estimate(np.array([[0.3, 0.5]] * 3), np.array([[0.1, 0.3]] * 3), ["ar"] * 2)
    assert found.error == 0 and p_above(found) == 1 / 2**2 and p_above(found.reversed) == 1


def test_the_variance_over_queries_is_that_of_the_bootstrap_within_languages(generator):
    left, right, names = planted(generator, queries=100)
    found = estimate(left, right, names)
    groups = {name: (left - right).mean(axis=0)[np.array(names) == name] for name in LANGUAGES}
    resampled = bootstrap.average_of(bootstrap.resampled_means(groups, 4000), groups, "macro")
    over_queries = sum(part.variance for part in found.parts if not part.seeds)
    assert resampled.var() == pytest.approx(over_queries, rel=0.1)


def test_languages_weigh_the_same_and_orders_do_not_matter(generator):
    left, right, names = planted(generator)
    many = [index for index, name in enumerate(names) if name != "th" or index % 3 == 0]
    names = [names[index] for index in many]
    found = estimate(left[:, many], right[:, many], names)
    means = [one.mean for one in by_language(left[:, many], right[:, many], names).values()]
    assert found.mean == pytest.approx(np.mean(means))
    queries, seeds = generator.permutation(len(many)), generator.permutation(5)
    mixed = estimate(
        left[:, many][seeds][:, queries], right[:, many][seeds][:, queries], [names[index] for index in queries]
    )
    assert interval(mixed, 0.05) == pytest.approx(interval(found, 0.05))


def test_a_language_of_one_query_is_refused():
    with pytest.raises(ValueError, match="sw has a single query"):
        estimate(np.zeros((3, 3)), np.zeros((3, 3)), ["ar", "ar", "sw"])


def test_nothing_that_varies_is_certain():
    assert interval(Estimate(0.5, (Part(0.0, 4, 5),), 5), 0.05) == (0.5, 0.5)


@pytest.mark.parametrize("deviation", [0.0, 0.5, 1.0])
def test_the_interval_covers_where_seeds_of_fine_tuning_are_crossed_with_those_of_pretraining(generator, deviation):
    """Five by two seeds; deviations of what a seed of fine-tuning shares, in those of pretraining. Without it .83."""
    covered = 0
    for _ in range(600):
        by_both = generator.normal(0, 1, (5, 1)) + generator.normal(0, deviation, (1, 2))
        by_both = by_both + generator.normal(0, 0.5, (5, 2))
        queries = np.array([-1e-6, 1e-6])
        values = by_both.mean(axis=1)[:, None] + queries
        system = Term(1.0, [scored("ar", values, by_finetuning=by_both)], tuple("01234"), ("ft0", "ft1"))
        low, high = interval(combine([system]), 0.05)
        covered += low <= 0 <= high
    assert covered / 600 >= 0.91

"""Language sampling and the order of examples: exact shares, permutations, functions of (seed, step) alone."""

from collections import Counter

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training.mixing import MixedSampler
from stele.training.sampling import Sampler, Sampling, derive, generator, kind_of, language_probabilities, permuted


def test_alpha_smooths_as_by_hand():
    """Shares 1/10 and 9/10: with alpha 1/2 their roots stand 1 to 3, so 1/4 and 3/4."""
    probabilities = language_probabilities({"sw": 10, "en": 90}, 0.5)
    assert probabilities == pytest.approx({"sw": 0.25, "en": 0.75})
    assert language_probabilities({"sw": 10, "en": 90}, 1.0) == pytest.approx({"sw": 0.1, "en": 0.9})
    assert language_probabilities({"sw": 10, "en": 90}, 0.0) == pytest.approx({"sw": 0.5, "en": 0.5})


def test_a_language_without_examples_is_refused():
    with pytest.raises(SteleError, match="sw"):
        language_probabilities({"sw": 0, "en": 3}, 0.3)


@pytest.mark.parametrize("share", [0.4, 0.1, 0.35, 1 / 3])
def test_groups_of_the_second_kind_keep_their_share(share):
    kinds = [kind_of(j, share) for j in range(997)]
    for n in (1, 5, 16, 100, 997):
        assert sum(second for second, _ in kinds[:n]) == pytest.approx(share * n, abs=1)
    for wanted in (True, False):
        assert [n for second, n in kinds if second is wanted] == list(range(sum(s is wanted for s, _ in kinds)))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 100, 1025])
def test_permutations_are_permutations(size):
    for key in range(4):
        assert sorted(permuted(size, derive(key), np.arange(size)).tolist()) == list(range(size))


def test_a_permutation_can_be_read_anywhere():
    whole = permuted(1000, 7, np.arange(1000))
    assert permuted(1000, 7, np.array([3, 999, 500])).tolist() == whole[[3, 999, 500]].tolist()
    assert permuted(1000, 8, np.arange(1000)).tolist() != whole.tolist()
    assert abs(np.corrcoef(whole, np.arange(1000))[0, 1]) < 0.15


def sampler(**changes):
    settings = dict(sizes={"en": 50, "sw": 20, "xx": 3}, group=8, groups=4000, alpha=0.3, seed=1, name="msm")
    return Sampler(Sampling(**{**settings, **changes}))


def test_groups_are_one_language_without_repetition():
    made = sampler()
    for n in range(300):
        language, examples = made.group(n)
        assert len(set(examples.tolist())) == 8 and examples.min() >= 0 and examples.max() < made.sizes[language]


def test_languages_come_as_often_as_alpha_says():
    made = sampler()
    drawn = Counter(made.group(n)[0] for n in range(4000))
    expected = language_probabilities({"en": 50, "sw": 20}, 0.3)
    for language, probability in expected.items():
        deviation = (4000 * probability * (1 - probability)) ** 0.5
        assert abs(drawn[language] - 4000 * probability) < 4 * deviation
    assert made.left_out == {"xx": 3}


def test_every_example_comes_once_a_pass():
    made = sampler(sizes={"en": 48}, group=8)
    for n in range(0, 60, 6):
        seen = np.concatenate([made.group(n + i)[1] for i in range(6)])
        assert sorted(seen.tolist()) == list(range(48))


def test_a_group_depends_on_seed_and_number_only():
    first, again, shorter = sampler(), sampler(), sampler(groups=100)
    for n in (0, 17, 99):
        for other in (again, shorter):
            assert other.group(n)[0] == first.group(n)[0]
            assert other.group(n)[1].tolist() == first.group(n)[1].tolist()
    assert any(sampler(seed=2).group(n)[1].tolist() != first.group(n)[1].tolist() for n in range(5))


def test_too_small_everywhere_is_an_error():
    with pytest.raises(SteleError, match="no language has the 64 examples"):
        sampler(group=64)


def test_generators_differ_by_key():
    assert generator(0, "a").integers(1 << 40) != generator(0, "b").integers(1 << 40)
    assert generator(3, "mask", 5).random(4).tolist() == generator(3, "mask", 5).random(4).tolist()


@pytest.mark.parametrize("kind", [Sampler, MixedSampler])
def test_languages_are_drawn_by_their_true_sizes_where_stores_are_samples(kind):
    """A store that is a sample of half of its language counts as all of it; its indices stay its own."""
    settings = dict(group=8, groups=600, alpha=1.0, seed=1, name="msm")
    capped = kind(Sampling({"en": 100, "sw": 100}, **settings, in_all={"en": 900, "sw": 100}))
    assert capped.probabilities == pytest.approx({"en": 0.9, "sw": 0.1})
    drawn = [(part, index) for n in range(600) for part, indices in capped.draw(n) for index in indices]
    assert sum(part == "en" for part, _ in drawn) / len(drawn) == pytest.approx(0.9, abs=0.03)
    assert max(index for _, index in drawn) == 99
    whole = kind(Sampling({"en": 900, "sw": 100}, **settings))
    same = kind(Sampling({"en": 900, "sw": 100}, **settings, in_all={"en": 900, "sw": 100}))
    assert [str(same.draw(n)) for n in range(20)] == [str(whole.draw(n)) for n in range(20)]

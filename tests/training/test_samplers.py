"""Which examples a step sees: languages, passes and mixtures of parts."""

from collections import Counter

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training.sampling import (
    CHUNK,
    MixedSampler,
    Sampler,
    Sampling,
    derive,
    kind_of,
    language_probabilities,
    permuted,
    permuted_range,
)


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


SIZES = {"de-en": 900, "en-sw": 40, "sw-th": 7, "km-sw": 0}


def mixed_sampler(**changes):
    given = dict(sizes=SIZES, group=16, groups=3 * CHUNK, alpha=0.3, seed=1, name="clk")
    return MixedSampler(Sampling(**{**given, **changes}))


def test_groups_are_one_language_without_repetition():
    made = sampler()
    for n in range(300):
        language, examples = made.draw(n)[0]
        assert len(set(examples.tolist())) == 8 and examples.min() >= 0 and examples.max() < made.sizes[language]


@pytest.mark.parametrize(("size", "group"), [(48, 8), (2600, 100)])
def test_every_example_comes_once_a_pass(size, group):
    made, groups = sampler(sizes={"en": size}, group=group), size // group
    for n in range(0, 10 * groups, groups):
        seen = np.concatenate([made.draw(n + i)[0][1] for i in range(groups)])
        assert sorted(seen.tolist()) == list(range(size))


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


def test_a_group_has_as_many_examples_as_the_recipe_says():
    made = mixed_sampler()
    for n in (0, 1, CHUNK - 1, CHUNK, 3 * CHUNK - 1):
        drawn = made.draw(n)
        assert sum(len(indices) for _, indices in drawn) == 16
        assert len({part for part, _ in drawn}) == len(drawn) and [part for part, _ in drawn] == sorted(dict(drawn))
        assert all(0 <= i < SIZES[part] for part, indices in drawn for i in indices)
    assert made.left_out == {"km-sw": 0}


def test_numbers_of_a_group_vary_as_independent_draws_do():
    made = mixed_sampler(sizes={"en": 500, "sw": 500}, alpha=1.0)
    counts = [dict(made.draw(n)).get("en", np.zeros(0)).size for n in range(2 * CHUNK)]
    assert np.mean(counts) == pytest.approx(8, abs=0.3) and np.var(counts) == pytest.approx(4, abs=0.7)


def test_every_part_comes_in_passes():
    """Group after group, over the borders of chunks too: each pass is a permutation, and each another one."""
    made = mixed_sampler()
    stream = {part: [] for part in made.sizes}
    for n in range(CHUNK + 200):
        for part, indices in made.draw(n):
            stream[part] += indices.tolist()
    for part, size in made.sizes.items():
        passes = [stream[part][i : i + size] for i in range(0, len(stream[part]) - size + 1, size)]
        assert len(passes) >= 5
        assert all(sorted(one) == list(range(size)) for one in passes)
        assert passes[0] != passes[1]


def test_a_part_smaller_than_its_share_of_a_group_comes_again():
    made = mixed_sampler(sizes={"de-en": 30, "sw-th": 2}, alpha=0.0)
    for n in range(20):
        drawn = dict(made.draw(n))
        few, rest = drawn["sw-th"], drawn["de-en"]
        assert abs((few == 0).sum() - (few == 1).sum()) <= 1 and len(few) + len(rest) == 16


@pytest.mark.parametrize(("begin", "end"), [(0, 1), (1000, 1024), (1000, 1025), (1024, 3000), (2990, 3000)])
def test_a_range_of_a_permutation_is_cut_from_the_whole(begin, end):
    assert permuted_range(3000, 7, begin, end).tolist() == permuted(3000, 7, np.arange(3000))[begin:end].tolist()


@pytest.mark.parametrize(("new", "small"), [(sampler, {"xx": 3}), (mixed_sampler, {"km-sw": 0})])
def test_parts_come_as_often_as_alpha_says(new, small):
    made = new()
    drawn = Counter()
    for n in range(1500):
        drawn.update({part: len(indices) for part, indices in made.draw(n)})
    wanted, total = language_probabilities(made.sizes, 0.3), drawn.total()
    share = 8 if new is sampler else 1  # examples that are drawn together
    for part, probability in wanted.items():
        deviation = (share * total * probability * (1 - probability)) ** 0.5
        assert abs(drawn[part] - total * probability) < 4 * deviation
    assert made.probabilities == pytest.approx(wanted) and made.left_out == small


@pytest.mark.parametrize("new", [sampler, mixed_sampler])
def test_a_group_is_a_function_of_seed_name_and_number(new):
    """A resumed run begins anywhere, and a longer or shorter run begins alike."""
    first = [str(new().draw(n)) for n in range(5)]
    made = new(groups=CHUNK)
    made.draw(400)
    assert [str(made.draw(n)) for n in (3, 1, 4, 0, 2)] == [first[n] for n in (3, 1, 4, 0, 2)]
    for other in (new(seed=2), new(name="ilk")):
        assert any(str(other.draw(n)) != first[n] for n in range(5))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (sampler, "msm: no language has the 1000 examples"),
        (mixed_sampler, r"clk: all languages .*\(found 947\)"),
    ],
)
def test_too_little_text_is_an_error(new, message):
    with pytest.raises(SteleError, match=message):
        new(group=1000)

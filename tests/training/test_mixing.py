"""Groups of mixed parts: their numbers, passes without repeats, functions of (seed, n) alone."""

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training.mixing import CHUNK, MixedSampler
from stele.training.sampling import Sampling, language_probabilities, permuted

SIZES = {"de-en": 900, "en-sw": 40, "sw-th": 7, "km-sw": 0}


def sampler(**changes):
    given = dict(sizes=SIZES, group=16, groups=3 * CHUNK, alpha=0.3, seed=1, name="clk")
    return MixedSampler(Sampling(**{**given, **changes}))


def test_a_group_has_as_many_examples_as_the_recipe_says():
    made = sampler()
    for n in (0, 1, CHUNK - 1, CHUNK, 3 * CHUNK - 1):
        drawn = made.draw(n)
        assert sum(len(indices) for _, indices in drawn) == 16
        assert len({part for part, _ in drawn}) == len(drawn) and [part for part, _ in drawn] == sorted(dict(drawn))
        assert all(0 <= i < SIZES[part] for part, indices in drawn for i in indices)
    assert made.left_out == {"km-sw": 0}


def test_parts_come_as_often_as_alpha_says():
    made, groups = sampler(), 3 * CHUNK
    actual = dict.fromkeys(made.sizes, 0)
    for n in range(groups):
        for part, indices in made.draw(n):
            actual[part] += len(indices)
    draws = 16 * groups
    for part, probability in language_probabilities({k: v for k, v in SIZES.items() if v}, 0.3).items():
        deviation = (draws * probability * (1 - probability)) ** 0.5
        assert abs(actual[part] - draws * probability) < 4 * deviation
        assert made.probabilities[part] == pytest.approx(probability)


def test_numbers_of_a_group_vary_as_independent_draws_do():
    """Mean and variance of how many of a group's 16 examples are of one part: those of a binomial."""
    made = sampler(sizes={"en": 500, "sw": 500}, alpha=1.0)
    counts = [dict(made.draw(n)).get("en", np.zeros(0)).size for n in range(2 * CHUNK)]
    assert np.mean(counts) == pytest.approx(8, abs=0.3) and np.var(counts) == pytest.approx(4, abs=0.7)


def test_every_part_comes_in_passes():
    """Group after group, over the borders of chunks too: each pass is a permutation, and each another one."""
    made = sampler()
    stream = {part: [] for part in made.sizes}
    for n in range(CHUNK + 200):
        for part, indices in made.draw(n):
            stream[part] += indices.tolist()
    for part, size in made.sizes.items():
        passes = [stream[part][i : i + size] for i in range(0, len(stream[part]) - size + 1, size)]
        assert len(passes) >= 5
        assert all(sorted(one) == list(range(size)) for one in passes)
        assert passes[0] != passes[1]


def test_a_group_is_a_function_of_seed_and_number():
    """A resumed run begins anywhere, and a longer or shorter run begins alike."""
    first = [sampler().draw(n) for n in range(5)]
    made = sampler(groups=CHUNK)
    made.draw(400)
    for n in (3, 1, 4, 0, 2):
        for (part, indices), (other, others) in zip(made.draw(n), first[n], strict=True):
            assert part == other and indices.tolist() == others.tolist()
    changed = {name: sampler(**values) for name, values in (("seed", {"seed": 2}), ("name", {"name": "ilk"}))}
    for other in changed.values():
        assert any(str(other.draw(n)) != str(first[n]) for n in range(5))


def test_a_part_smaller_than_its_share_of_a_group_comes_again():
    made = sampler(sizes={"de-en": 30, "sw-th": 2}, alpha=0.0)
    for n in range(20):
        drawn = dict(made.draw(n))
        few, rest = drawn["sw-th"], drawn["de-en"]
        assert abs((few == 0).sum() - (few == 1).sum()) <= 1 and len(few) + len(rest) == 16


def test_too_little_text_is_an_error():
    with pytest.raises(SteleError, match=r"clk: all languages together lack the 1000 examples .*\(found 947\)"):
        sampler(group=1000)


def test_the_papers_size_costs_little(tmp_path):
    """378 language pairs, 300,000 steps of 512: kilobytes a thousand groups, and no draw is made before its time."""
    sizes = {f"{i:03}": int(s) for i, s in enumerate(np.geomspace(300, 5e7, 378))}
    made = sampler(sizes=sizes, group=512, groups=900_000)
    assert made._totals.nbytes + made._earlier.nbytes < 12e6
    drawn = made.draw(899_999)
    assert sum(len(indices) for _, indices in drawn) == 512
    assert all(len(np.unique(indices)) == len(indices) for part, indices in drawn if sizes[part] > 10_000)


def test_permutations_of_several_sizes_at_once_are_those_of_each():
    sizes, keys = np.array([1, 2, 3, 9, 1025, 5_000_000]), np.array([3, 1 << 62, 5, 7, 11, 13])
    places = np.array([0, 1, 2, 4, 1000, 4_999_999])
    expected = [permuted(int(s), int(k), np.array([p]))[0] for s, k, p in zip(sizes, keys, places, strict=True)]
    assert permuted(sizes, keys, places).tolist() == expected

"""Who shares a group is a function of (seed, number); candidates that answer a query are masked."""

import numpy as np
import pytest
from tiny_runs import RECIPE

from stele.encoders.tokens import Tokens
from stele.finetuning.dual_encoder.batches import dev_groups, first_alone, hard_negatives, make_group, training_group
from stele.finetuning.dual_encoder.examples import Examples
from stele.recipes.finetuning import parse_finetuning


def examples(positives: list[list[int]], negatives: list[list[int]], queries: list[int] | None = None) -> Examples:
    """Examples whose queries are all different; with `queries`, each has one of these tokens alone."""

    def ragged(lists):
        return np.concatenate([np.array(x, dtype=np.int64) for x in lists]), np.cumsum([0, *map(len, lists)])

    number, nothing = len(positives), Tokens(np.zeros(0, np.int32), np.zeros(1, np.int64), None)
    asked = Tokens(np.array(queries or range(number), np.int32), np.arange(number + 1), None)
    return Examples(asked, nothing, *ragged(positives), *ragged(negatives), {})


def recipe_of(**changes):
    return parse_finetuning({**RECIPE, **changes})


def test_an_epoch_holds_every_example_once_and_leaves_another_rest_out_each_time():
    """Steps of two groups of five; groups do not depend on what was asked before."""
    data = examples([[i] for i in range(103)], [[] for _ in range(103)])
    recipe = recipe_of(batch=5, accumulation=2)
    groups = np.stack([training_group(data, recipe, 7, n).queries for n in reversed(range(60))])[::-1]
    epochs = np.sort(groups.reshape(3, 100), axis=1)
    assert (np.diff(epochs, axis=1) > 0).all() and len(np.unique(epochs, axis=0)) > 1
    assert (groups[:20] != groups[20:40]).any() and (groups[20:40] != groups[40:]).any()
    assert (training_group(data, recipe, 7, 59).queries == groups[59]).all()
    assert (training_group(data, recipe, 8, 0).queries != groups[0]).any()


@pytest.mark.parametrize("wanted", [0, 1])
def test_the_first_step_whose_loss_would_end_the_run_is_known_before(wanted):
    """Of 24 questions seven have one answer, one of them with a negative, and one has a second answer."""
    lists = [[0]] * 7 + [[n] for n in range(1, 17)] + [[17, 0]]
    data = examples(lists, [[99], *[[] for _ in lists[1:]]])
    recipe = recipe_of(batch=2, hard_negatives=wanted, accumulation=2, steps=6)
    found = []
    for seed in range(30):
        alone = []
        for number in range(12):
            group = training_group(data, recipe, seed, number)
            candidates = [{*group.passages.tolist()} - {*lists[query]} for query in group.queries]
            alone += [number // 2 + 1] * (not all(candidates))
        found.append(first_alone(data, recipe, seed, 6))
        assert found[-1] == min(alone, default=None)
    assert len({*found}) > 4 and None in found
    assert first_alone(data, recipe.model_copy(update={"batch": 8, "accumulation": 1}), 0, 6) is None


def test_hard_negatives_are_drawn_anew_from_the_examples_own():
    data = examples([[0], [1]], [[10, 11, 12, 13, 14], [20]])
    drawn = [hard_negatives(data, 0, 1, 0, epoch).tolist() for epoch in range(60)]
    assert all(len(d) == 1 for d in drawn)
    assert {d[0] for d in drawn} == {10, 11, 12, 13, 14}
    assert hard_negatives(data, 1, 1, 0, 0).tolist() == [20]
    three = [tuple(hard_negatives(data, 0, 3, 0, epoch).tolist()) for epoch in range(20)]
    assert all(len(set(t)) == 3 and set(t) <= {10, 11, 12, 13, 14} for t in three)
    assert len(set(three)) > 3
    assert hard_negatives(data, 0, 9, 0, 0).tolist() == [10, 11, 12, 13, 14]


def test_a_ratio_decides_query_by_query_and_epoch_by_epoch_who_brings_hard_negatives():
    data = examples([[i] for i in range(400)], [[1000 + 2 * i, 1001 + 2 * i] for i in range(400)])

    def brought(ratio, wanted=1, seed=0):
        """By epoch and query, how many of its own hard negatives stand in its group."""
        actual = np.zeros((20, 400), dtype=int)
        recipe = recipe_of(batch=40, hard_negatives=wanted, hard_negative_ratio=ratio)
        for number in range(200):
            group = training_group(data, recipe, seed, number)
            actual[number // 10, group.queries] = np.diff([*group.positives, len(group.passages)]) - 1
            assert set(group.passages[group.passages >= 1000] // 2 - 500) <= set(group.queries)
        return actual

    tenth = brought(0.1)
    assert tenth.max() == 1 and 0.08 < tenth.mean() < 0.12  # 8,000 draws: three standard deviations are .01
    assert (tenth.sum(axis=0) > 0).mean() > 0.8  # another tenth in each epoch: 1 - .9^20 = .88
    assert np.array_equal(tenth, brought(0.1)) and not np.array_equal(tenth, brought(0.1, seed=1))
    both = brought(0.5, wanted=2)
    assert [(both == n).mean() for n in range(3)] == pytest.approx([0.25, 0.5, 0.25], abs=0.02)  # binomial
    assert (brought(1.0) == 1).all()


def test_layout_of_a_group():
    data = examples([[0], [1], [2]], [[10, 11], [], [12]])
    group = make_group(data, np.array([2, 1, 0]), [data.negatives_of(i)[:1] for i in (2, 1, 0)])
    assert group.passages.tolist() == [2, 12, 1, 0, 10]
    assert group.positives.tolist() == [0, 2, 3]
    assert not group.mask.any()


def test_copies_of_the_positive_and_other_known_positives_are_masked():
    #         query 0 knows 5 and 6, query 1 has the same positive 5, query 2's hard negative is 6
    data = examples([[5, 6], [5], [7]], [[8], [9], [6]])
    group = make_group(data, np.array([0, 1, 2]), [data.negatives_of(i) for i in range(3)])
    assert group.passages.tolist() == [5, 8, 5, 9, 7, 6]
    assert group.mask.astype(int).tolist() == [
        [0, 0, 1, 0, 0, 1],  # the other 5, and 6
        [1, 0, 0, 0, 0, 0],  # the other 5; 6 is not known to answer query 1
        [0, 0, 0, 0, 0, 0],  # 6 is its hard negative
    ]
    assert group.positives.tolist() == [0, 2, 4]


def test_what_answers_a_query_in_one_example_is_no_negative_of_it_in_another():
    """As where a training set has one line for each query and passage that answers it."""
    data = examples([[5], [6], [7]], [[8], [], [6]], queries=[3, 3, 4])
    group = make_group(data, np.array([0, 1, 2]), [data.negatives_of(i) for i in range(3)])
    assert group.passages.tolist() == [5, 8, 6, 7, 6]
    assert group.mask.astype(int).tolist() == [[0, 0, 1, 0, 1], [1, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    recipe = recipe_of(batch=2, hard_negatives=0, steps=3)
    alone = examples([[n] for n in range(4)], [[] for _ in range(4)], queries=[3, 3, 4, 5])
    found = [first_alone(alone, recipe, seed, 3) for seed in range(20)]
    assert None in found and {*found} > {None}, "a group of the same query twice has no negative"


@pytest.mark.parametrize(("number", "sizes"), [(7, [3, 3]), (6, [3, 3]), (8, [3, 3, 2])])
def test_dev_groups_are_in_order_with_the_first_negative(number, sizes):
    data = examples([[i] for i in range(number)], [[100 + i, 200 + i] for i in range(number)])
    assert [len(group.queries) for group in dev_groups(data, 3, 0)] == sizes  # a single query has nobody to share with
    groups = dev_groups(data, 3, 1)
    assert sum(len(group.queries) for group in groups) == number  # but it has its hard negative
    assert groups[0].passages.tolist() == [0, 100, 1, 101, 2, 102]


def test_dev_queries_without_a_second_candidate_are_left_out():
    assert dev_groups(examples([[0], [0], [0]], [[], [], []]), 4, 1) == []
    #             queries 0 and 1 know both passages there are, query 2 knows its own only
    group, *more = dev_groups(examples([[5, 6], [5, 6], [6]], [[], [], []]), 4, 1)
    assert not more
    assert group.queries.tolist() == [2] and group.passages.tolist() == [5, 5, 6]
    assert group.positives.tolist() == [2]
    assert group.mask.tolist() == [[False, False, False]]
    whole = make_group(examples([[0], [1]], [[], []]), np.arange(2), [np.array([], np.int64)] * 2)
    kept = dev_groups(examples([[0], [1]], [[], []]), 2, 1)[0]
    assert all(np.array_equal(a, b) for a, b in zip(whole, kept, strict=True))

"""Alignment of two systems, means over seeds, languages and averages, and what does not belong together."""

import math

import numpy as np
import pytest
from score_files import scores

from stele.errors import SteleError
from stele.evaluation.paired import Pairs, over_seeds, pair, stack
from stele.evaluation.scores import Scores

METRIC = "mrr@10"


def test_queries_are_found_by_name_whatever_their_order():
    one = scores("one.csv", [[0.1, 0.2, 0.3]], "abc")
    other = scores("other.csv", [[0.6, 0.4, 0.5]], "cab")
    pairs = pair(one, other, METRIC)
    assert pairs.system.tolist() == [[0.1, 0.2, 0.3]]
    assert pairs.baseline.tolist() == [[0.4, 0.5, 0.6]]


def test_the_same_query_id_in_two_searches_is_two_queries():
    keys, languages = [("en", "1"), ("de", "1")], ["en", "de"]
    one = Scores("one.csv", keys, languages, {METRIC: np.array([[0.1, 0.9]])})
    other = Scores("other.csv", keys[::-1], languages[::-1], {METRIC: np.array([[0.8, 0.2]])})
    pairs = pair(one, other, METRIC)
    actual = pairs.of(pairs.differences())
    assert {name: each.tolist() for name, each in actual.items()} == {
        "de": [pytest.approx(0.1)],
        "en": [pytest.approx(-0.1)],
    }


def test_seeds_are_averaged_by_query():
    one = stack([scores("0.csv", [[0.0, 1.0]], "ab"), scores("1.csv", [[0.5, 0.5]], "ba")])
    assert one.values[METRIC].tolist() == [[0.0, 1.0], [0.5, 0.5]]
    pairs = pair(one, scores("b.csv", [[0.25, 0.25]]), METRIC)
    assert pairs.differences().tolist() == [0.0, 0.5]  # two queries, not four
    third = [[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]]
    assert over_seeds(np.array(third)).tolist() == over_seeds(np.array(third[::-1])).tolist()


def test_what_one_seed_s_result_says_holds_for_the_system():
    facts = {"benchmark": "mrtydi", "average": "macro", "labels": frozenset({"diverged pretraining"})}
    system = stack([scores("0.csv", [[0.1]]), scores("1.csv", [[0.2]], **facts)])
    assert {name: getattr(system, name) for name in facts} == facts


def test_a_difference_by_rounding_is_a_tie():
    pairs = Pairs(np.array([[0.1 + 0.2, 0.5]]), np.array([[0.3, 0.4]]), np.array(["en", "en"]))
    assert pairs.differences().tolist() == [0.0, pytest.approx(0.1)]
    values = 1 / np.arange(1.0, 41.0)
    kept = values.astype(np.float32).astype(np.float64)  # as values per query are packed
    assert not Pairs(kept[None], values[None], np.array(["en"] * 40)).differences().any()


def test_queries_that_count_for_neither_are_left_out():
    one, other = scores("a", [[0.5, math.nan, 0.2]]), scores("b", [[0.5, math.nan, 0.1]])
    assert pair(one, other, METRIC).system.tolist() == [[0.5, 0.2]]


WRONG = [
    (scores("b.csv", [[0.1, 0.2]], "ab"), "b.csv: lacks 1 query that a.csv has, for example 'c' of search 'en'"),
    (scores("b.csv", [[1, 1, 1, 1, 1]], "abcde"), "a.csv: lacks 2 queries that b.csv has, for example 'd'"),
    (scores("b.csv", [[1, math.nan, 1]], "abc"), "1 query counted for mrr@10 here or in b.csv, .* example 'b'"),
    (scores("b.csv", [[1, 1, 1]], "abc", benchmark="nq"), "b.csv: scores of nq; a.csv has scores of mrtydi"),
    (
        Scores("b.csv", [("en", q) for q in "abc"], ["en", "de", "en"], {METRIC: np.ones((1, 3))}),
        "b.csv: the language of query 'b' of search 'en' is 'de', but 'en' in a.csv",
    ),
]


@pytest.mark.parametrize(("other", "message"), WRONG)
def test_scores_that_cannot_be_paired_are_refused(other, message):
    with pytest.raises(SteleError, match=message):
        pair(scores("a.csv", [[0.1, 0.2, 0.3]], "abc", benchmark="mrtydi"), other, METRIC)


def test_seeds_that_do_not_belong_together():
    one = scores("0.csv", [[0.1, 0.2]])
    for other, message in [
        (scores("1.csv", [[0.1]], "a"), "1.csv: lacks 1 query that 0.csv has, for example 'b'"),
        (scores("1.csv", [[0.1, math.nan]]), "1 query counted for mrr@10 here or in all its seeds, but not in both"),
        (one, "0.csv: this file is given twice as a seed of one system"),
    ]:
        with pytest.raises(SteleError, match=message):
            stack([one, other])

"""Ranking metrics agree with trec_eval (pytrec_eval) and with worked cases; runs are canonical first."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from stele.benchmarks.types import Search
from stele.runs import canonical
from stele.scoring.aggregate import by_language, over_seeds
from stele.scoring.case import Case
from stele.scoring.ranking import arrays
from stele.scoring.score import evaluator


def case_of(ranked, relevant=(), answers=(), texts=None, searches=None) -> Case:
    """A case from plain lists; `texts` is passage id -> text of the one pool "p"."""
    benchmark = SimpleNamespace(texts=lambda data, pool, ids: {name: texts[name] for name in ids})
    searches = searches or [Search("s", "en", "p")] * len(ranked)
    names = [str(i) for i in range(len(ranked))]
    return Case(benchmark, {}, searches, names, list(ranked), list(relevant), list(answers))


def score(metric: str, **given) -> list[float]:
    return evaluator(metric)(case_of(**given)).tolist()


# --- against trec_eval ---
def random_case(rng: random.Random):
    """A run with many ties, and judgments with grades, unjudged, unretrieved and irrelevant passages."""
    names = [f"d{i}" for i in range(60)] + ["ä", "Z", "日本", "a" * 40]
    depth = rng.choice([0, 1, 5, 20, 55, 64])
    hits = [(name, rng.choice([0.0, 0.5, 1 / 3, 1e-10, rng.random(), -2.0])) for name in rng.sample(names, depth)]
    judged = rng.sample([*names, "unretrieved"], rng.randint(1, 25))
    return hits, {name: rng.choice([0, 1, 1, 2]) for name in judged}


@pytest.mark.parametrize(
    ("metric", "measure"), [("mrr@100", "recip_rank"), ("recall@100", "recall_100"), ("recall@5", "recall_5")]
)
def test_equal_to_trec_eval_on_random_runs_with_ties(metric, measure):
    import pytrec_eval

    rng = random.Random(7)
    cases = [random_case(rng) for _ in range(150)]
    judgments = {str(i): judged for i, (_, judged) in enumerate(cases)}
    run = {str(i): dict(hits) for i, (hits, _) in enumerate(cases)}
    expected = pytrec_eval.RelevanceEvaluator(judgments, {measure}).evaluate(run)
    ranked = [[name for name, _ in canonical(hits)] for hits, _ in cases]
    ours = score(metric, ranked=ranked, relevant=list(judgments.values()))
    # a query without any result is left out by pytrec_eval and counts 0 with trec_eval -c
    assert ours == pytest.approx([expected.get(str(i), {}).get(measure, 0.0) for i in range(150)], abs=1e-12)
    assert 0 < np.mean(ours) < 1


def test_map_is_trec_evals_where_a_query_has_no_more_relevant_passages_than_the_cut():
    import pytrec_eval

    rng = random.Random(8)
    cases = [random_case(rng) for _ in range(100)]
    cases = [(hits, judged) for hits, judged in cases if hits and sum(map(bool, judged.values())) <= 20]
    judgments = {str(i): judged for i, (_, judged) in enumerate(cases)}
    expected = pytrec_eval.RelevanceEvaluator(judgments, {"map_cut_20"}).evaluate(
        {str(i): dict(hits) for i, (hits, _) in enumerate(cases)}
    )
    ranked = [[name for name, _ in canonical(hits)] for hits, _ in cases]
    ours = score("map@20", ranked=ranked, relevant=list(judgments.values()))
    assert ours == pytest.approx([expected[str(i)]["map_cut_20"] for i in range(len(cases))], abs=1e-12)


# --- worked cases, each with a wrong variant that it tells apart ---
def test_mrr_stops_at_its_cut():
    ranking = [f"d{i}" for i in range(101)]
    assert score("mrr@100", ranked=[ranking, ranking], relevant=[{"d100": 1}, {"d99": 1}]) == [0.0, 0.01]


def test_recall_is_a_share_and_not_a_hit():
    assert score("recall@2", ranked=[["a", "x", "b"]], relevant=[{"a": 1, "b": 1, "c": 1}]) == [pytest.approx(1 / 3)]


def test_map_divides_by_the_smaller_of_relevant_and_cut():
    # 3 relevant, hits at ranks 1 and 3: (1 + 2/3) / 3; within the first 2: 1 / 2, not 1 / 3
    relevant = [{"a": 1, "b": 1, "c": 1, "not": 0}]
    assert score("map@20", ranked=[["a", "x", "b"]], relevant=relevant) == [pytest.approx((1 + 2 / 3) / 3)]
    assert score("map@2", ranked=[["a", "x", "b"]], relevant=relevant) == [pytest.approx(1 / 2)]


def test_map_with_one_relevant_passage_is_the_reciprocal_rank():
    ranked = [["x", "y", "a"], [f"x{i}" for i in range(20)] + ["a"], []]
    assert score("map@20", ranked=ranked, relevant=[{"a": 1}] * 3) == [pytest.approx(1 / 3), 0.0, 0.0]


def test_a_query_without_a_relevant_passage_scores_0_and_counts():
    for metric in ("mrr@100", "recall@100", "map@20"):
        assert score(metric, ranked=[["a"], ["a"]], relevant=[{}, {"a": 0}]) == [0.0, 0.0]


def test_a_perfect_run_scores_1_and_moving_a_relevant_passage_up_never_hurts():
    right = {f"r{i}": 1 for i in range(5)}
    perfect = [*right, *(f"x{i}" for i in range(50))]
    metrics = ("mrr@100", "recall@100", "map@20")
    assert [score(metric, ranked=[perfect], relevant=[right]) for metric in metrics] == [[1.0]] * 3
    rng, ranking = random.Random(3), perfect[::-1]
    for metric in metrics:
        values = []
        for _ in range(60):
            place = rng.randrange(1, len(ranking))
            if ranking[place] in right and ranking[place - 1] not in right:
                ranking[place - 1], ranking[place] = ranking[place], ranking[place - 1]
            values += score(metric, ranked=[ranking], relevant=[right])
        assert values == sorted(values)


def test_passages_below_the_cut_change_nothing():
    base, longer = ["x", "a"], ["x", "a", *(f"y{i}" for i in range(200)), "b"]
    for metric in ("mrr@2", "recall@2", "map@2"):
        relevant = [{"a": 1, "b": 1}]
        assert score(metric, ranked=[base], relevant=relevant) == score(metric, ranked=[longer], relevant=relevant)


def test_padding_is_neither_judged_nor_relevant():
    judged, rankings = arrays([["a"], ["x", "b", "y"]], [{"a": 1, "b": 1}, {"b": 2}])
    assert judged.shape == (2, 2, 2)
    assert rankings[0, 1:, 0].tolist() == [-2.0, -2.0]  # what a shorter ranking is filled up with
    assert judged[1, 1].tolist() == [-1.0, 0.0]  # relevance 0: ranx leaves it out


def test_accuracy_looks_at_the_first_passage_in_each_direction():
    there, back = Search("fr-en", "fr", "en-of-fr"), Search("en-fr", "fr", "fr")
    given = {
        "ranked": [["a"], ["b", "a"], ["a"], []],
        "relevant": [{"a": 1}] * 4,
        "searches": [there, there, back, back],
    }
    assert score("accuracy", **given) == [1.0, 0.0, 1.0, 0.0]
    np.testing.assert_equal(score("accuracy_to_en", **given), [1.0, 0.0, np.nan, np.nan])
    np.testing.assert_equal(score("accuracy_from_en", **given), [np.nan, np.nan, 1.0, 0.0])


# --- averages ---
def test_macro_and_micro_means_and_queries_that_do_not_count():
    values = np.array([1.0, 0.0, np.nan, 1.0, np.nan])
    languages = ["ar", "ar", "ar", "te", "fi"]
    macro, micro = by_language(values, languages, "macro"), by_language(values, languages, "micro")
    assert macro["languages"] == {"ar": 0.5, "te": 1.0}  # fi has no countable query
    assert macro["n"] == {"ar": 2, "te": 1}
    assert (macro["average"], micro["average"]) == (0.75, pytest.approx(2 / 3))


def test_over_seeds():
    first = {"languages": {"en": 0.5, "sw": 0.2}, "average": 0.35, "n": {"en": 3, "sw": 2}}
    second = {"languages": {"en": 0.7, "sw": 0.2}, "average": 0.45, "n": {"en": 3, "sw": 2}}
    both = over_seeds([first, second])
    assert both["languages"]["en"] == pytest.approx(0.6)
    assert both["std"]["languages"]["en"] == pytest.approx(0.1 * 2**0.5)  # of the sample: n - 1
    assert both["values"]["average"] == [0.35, 0.45]
    assert over_seeds([first])["std"]["average"] is None

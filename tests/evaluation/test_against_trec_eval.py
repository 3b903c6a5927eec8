"""Ranking metrics equal trec_eval's (9.0.4, through pytrec_eval) on 1,000 random runs.

The runs have ties, scores that differ by less than a float32 shows, queries without a result, unjudged and unretrieved
documents, graded and negative judgments, and ids whose order as bytes is not that of their letters.
"""

import random

import numpy as np
import pytest
import pytrec_eval

from stele.artifacts.run import run_of
from stele.benchmarks.types import QuerySet
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric

RUNS, QUERIES = 1_000, 3
NAMES = [f"d{i}" for i in range(60)] + ["a", "aa", "Z", "é", "e\u0301", "ß", "日本", "ｱ", "😀", "\U0010ffff", "a" * 40]
# within each line float32 makes no difference, so ids decide
TIED = [(0.5, 0.5 + 1e-10, 0.5 - 1e-10), (30.0, 30.0 + 1e-7), (0.0, -0.0, 1e-50), (-2.0, -2.0 - 1e-9), (1e39, 2e39)]
ALL = (*range(-1, 4), 1, 1)

SHARED = {
    "mrr@1000": "recip_rank",
    "recall@5": "recall_5",
    "recall@20": "recall_20",
    "recall@100": "recall_100",
    "ap@5": "map_cut_5",
    "ap@20": "map_cut_20",
    "ap@1000": "map",
    "p@1": "P_1",
    "p@20": "P_20",
    "p@100": "P_100",
    "ndcg@1": "ndcg_cut_1",
    "ndcg@20": "ndcg_cut_20",
    "ndcg@1000": "ndcg_cut_1000",
}
MEASURES = {"recip_rank", "map", "recall.5,20,100", "map_cut.5,20", "P.1,20,100", "ndcg_cut.1,20,1000"}


def random_scores(rng: random.Random, size: int) -> list[float]:
    level = rng.choice(TIED)
    spread = rng.choice([0.0, 0.3, 1.0])  # 0: all are tied
    return [rng.gauss(0, 10) if rng.random() < spread else rng.choice(level) for _ in range(size)]


@pytest.fixture(scope="module")
def trec():
    """(judgments, run) of all queries of all runs, by query id; some queries have judgments alone."""
    rng, judgments, run = random.Random(11), {}, {}
    for number in range(RUNS):
        for query in (f"{number}-{i}é" for i in range(QUERIES)):
            judged = rng.sample([*NAMES, "unretrieved"], rng.randint(1, 40))
            judgments[query] = {name: rng.choice(ALL) for name in judged}
            judgments[query][judged[0]] = rng.randint(0, 3)  # trec_eval 9.0.4 reads what is not there where all are < 0
            if rng.random() > 0.05:
                names = rng.sample(NAMES, rng.choice([1, 5, 20, 55, len(NAMES)]))
                run[query] = dict(zip(names, random_scores(rng, len(names)), strict=True))
    return judgments, run


def case_of_run(judgments: dict, run: dict) -> Case:
    """The case of a run as it is given: not yet in any order."""
    case = Case(runs={"s": run_of(run_items(run))}, relevant=list(judgments.values()))
    case.add(QuerySet("s", "en", "p"), list(judgments))
    return case


def run_items(run: dict) -> dict:
    return {query: hits.items() for query, hits in run.items()}


@pytest.fixture(scope="module")
def case(trec):
    return case_of_run(*trec)


@pytest.fixture(scope="module")
def expected(trec):
    return pytrec_eval.RelevanceEvaluator(trec[0], MEASURES).evaluate(trec[1])


@pytest.mark.parametrize("metric", SHARED)
def test_equal_to_trec_eval(metric, trec, case, expected):
    ours = load_metric(metric).values(case)
    # pytrec_eval leaves out a query without a result; trec_eval -c counts it as 0
    theirs = [expected.get(query, {}).get(SHARED[metric], 0.0) for query in trec[0]]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert 0.01 < np.mean(ours) < 0.95
    assert sum(query not in trec[1] for query in trec[0]) > 100


def test_mrr_has_a_cut_of_its_own(trec, case, expected):
    ours = load_metric("mrr@5").values(case)
    theirs = np.array([expected.get(query, {}).get("recip_rank", 0.0) for query in trec[0]])
    np.testing.assert_allclose(ours, np.where(theirs >= 1 / 5, theirs, 0), rtol=0, atol=1e-9)  # trec_eval -M 5
    assert (ours < theirs).any()


def test_map_is_trec_evals_times_r_over_k_where_there_are_more_than_k(trec, case, expected):
    relevant = np.array([sum(r > 0 for r in judged.values()) for judged in trec[0].values()])
    theirs = np.array([expected.get(query, {}).get("map_cut_20", 0.0) for query in trec[0]])
    np.testing.assert_allclose(
        load_metric("map@20").values(case), theirs * np.maximum(relevant, 20) / 20, rtol=0, atol=1e-9
    )
    assert (relevant > 20).any()


def test_ap_judged_is_trec_evals_with_judged_documents_only(trec, case):
    expected = pytrec_eval.RelevanceEvaluator(trec[0], {"map"}, judged_docs_only_flag=True).evaluate(trec[1])
    theirs = [expected.get(query, {}).get("map", 0.0) for query in trec[0]]
    without = [not any(r > 0 for r in judged.values()) for judged in trec[0].values()]
    np.testing.assert_allclose(
        load_metric("ap_judged").values(case), np.where(without, np.nan, theirs), rtol=0, atol=1e-9
    )
    assert 0 < sum(without) < RUNS


# --- why ranx is not given judgments as they are ---


def test_ranx_takes_the_order_of_judgments_for_the_ideal_one():
    """Given as arrays, the ideal ranking of nDCG is that of the judgments as they stand; ours are sorted first."""
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    values = [
        load_metric("ndcg@20").values(case_of_run({"q": judged}, run))[0]
        for judged in ({"a": 3, "b": 2, "c": 1}, {"c": 1, "b": 2, "a": 3}, {"b": 2, "x": 0, "a": 3, "c": 1})
    ]
    assert values == [1.0] * 3

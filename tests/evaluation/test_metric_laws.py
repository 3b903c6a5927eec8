"""Laws that every ranking metric keeps, on random judgments and runs from a seeded generator."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from stele.artifacts.run import run_of
from stele.artifacts.run_files import read_run
from stele.benchmarks.types import QuerySet
from stele.evaluation.aggregate import over_seeds
from stele.evaluation.evaluate import evaluate
from stele.evaluation.guess import by_language
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.ranx_metrics import Line, ranx_table
from tests.evaluation.cases import case_of, score

CUTS = {"mrr": (1, 10, 100), "recall": (1, 10, 30), "map": (1, 5, 20), "ap": (5, 1000), "p": (1, 20), "ndcg": (1, 20)}
METRICS = [f"{name}@{cut}" for name, cuts in CUTS.items() for cut in cuts]
PASSAGES = [f"d{i}" for i in range(40)] + ["é", "日本", "Z"]
CASES = 60


def random_judgments(rng: random.Random) -> dict[str, int]:
    """Grades from -1 to 3 of some passages, one at least relevant."""
    judged = {name: rng.choice([-1, 0, 0, 1, 2, 3]) for name in rng.sample(PASSAGES, rng.randint(2, 30))}
    judged[rng.choice(list(judged))] = rng.randint(1, 3)
    return judged


@pytest.fixture
def cases():
    """(ranking, judgments) pairs."""
    rng = random.Random(29)
    return [(rng.sample(PASSAGES, rng.randint(1, len(PASSAGES))), random_judgments(rng)) for _ in range(CASES)]


def values(metric: str, cases) -> np.ndarray:
    return np.array(score(metric, ranked=[ranking for ranking, _ in cases], relevant=[judged for _, judged in cases]))


def test_permuting_the_lines_of_a_run_changes_nothing(tmp_path):
    """Ties and all: the lines of three queries, in five orders, with the ranks that the first order had."""
    rng = random.Random(31)
    lines = [
        f"q{query} Q0 {name} {rank} {rng.choice([1, 1.0000000001, 0.5, rng.random()])} t\n"
        for query in range(3)
        for rank, name in enumerate(rng.sample(PASSAGES, 30), start=1)
    ]
    judged = [random_judgments(rng) for _ in range(3)]
    collected = []
    for order in range(5):
        path = tmp_path / f"{order}.txt"
        path.write_text("".join(lines))
        case = Case(runs={"s": read_run(path)}, relevant=judged)
        case.add(QuerySet("s", "en", "p"), ["q0", "q1", "q2"])
        collected.append([load_metric(metric).values(case).tolist() for metric in (*METRICS, "ap_judged")])
        rng.shuffle(lines)
    assert collected == [collected[0]] * 5


@pytest.mark.parametrize("metric", [*METRICS, "ap_judged"])
def test_a_query_s_score_does_not_depend_on_the_queries_beside_it(metric, cases):
    alone = [values(metric, [case])[0] for case in cases[:10]]
    np.testing.assert_array_equal(values(metric, cases)[:10], alone)


@pytest.mark.parametrize("measured", ["precision", "f1", "recall", "mrr", "map", "ndcg", "r-precision"])
def test_a_metric_without_a_cut_looks_at_all_that_its_query_found(measured, cases, monkeypatch):
    """A line `cut: 0` of ranx.yaml; precision was divided by the length of the longest ranking of all queries."""
    monkeypatch.setitem(ranx_table(), "whole", Line(ranx=measured, cut=0))
    found = values("whole", [*cases, ([], {"a": 1})])
    np.testing.assert_array_equal(found[:-1], [values("whole", [case])[0] for case in cases])
    assert found[-1] == 0.0
    if measured == "precision":  # trec_eval's set_P
        right = [sum(judged.get(name, 0) > 0 for name in ranking) / len(ranking) for ranking, judged in cases]
        assert found[:-1].tolist() == pytest.approx(right)


def test_a_run_without_any_hit_scores_0():
    case = Case(runs={"s": run_of({})}, relevant=[{"a": 1}] * 2)
    case.add(QuerySet("s", "en", "p"), ["0", "1"])
    for metric in (*METRICS, "ap_judged"):
        assert load_metric(metric).values(case).tolist() == [0.0, 0.0]


# --- the guess --------------------------------------------------------------------------------------------------------
GUESSED = ["accuracy", "p@2", "recall@2", "recall@9", "mrr@3", "mrr@9", "map@1", "map@3", "ap@3", "ap@9", "ndcg@3"]


@pytest.mark.parametrize("metric", [*GUESSED, "ap_judged"])
@pytest.mark.parametrize(
    "judged", [{"a": 1}, {"a": 2, "b": 1, "c": 0}, {"a": 1, "b": 1, "c": 3}, {"a": 1, "x": 0, "y": -1}]
)
def test_a_guess_is_the_mean_over_all_orders_of_the_candidates(metric, judged):
    """All 120 orders of five candidates, each scored by the metric itself."""
    orders = list(itertools.permutations("abcxy"))
    expected = values(metric, [(list(order), judged) for order in orders]).mean()
    case = case_of([list("abcxy")], [judged])
    case.candidates["s"] = 5
    (guess,) = load_metric(metric).guess(case)
    assert guess == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", GUESSED)
def test_a_query_without_a_relevant_passage_is_guessed_at_0(metric):
    """Every candidate is judged not relevant, and the cut may lie beyond the last of them."""
    case = case_of([list("abcxy")], [{"a": 0}])
    case.candidates["s"] = 5
    assert load_metric(metric).guess(case).tolist() == load_metric(metric).values(case).tolist() == [0.0]


@pytest.mark.parametrize("measured", ["precision", "recall", "mrr", "map", "ndcg"])
def test_a_metric_without_a_cut_is_guessed_at_as_many_ranks_as_the_system_gave(measured, monkeypatch):
    """A line `cut: 0` of ranx.yaml: all 60 ways to rank three of five candidates, and a query without a result."""
    monkeypatch.setitem(ranx_table(), "whole", Line(ranx=measured, cut=0))
    judged = {"a": 2, "b": 1, "c": 0}
    orders = list(itertools.permutations("abcxy", 3))
    expected = values("whole", [(list(order), judged) for order in orders]).mean()
    case = case_of([list("axy"), []], [judged] * 2)
    case.candidates["s"] = 5
    assert load_metric("whole").guess(case)[0] == pytest.approx(expected, rel=1e-12)


def test_the_error_of_a_guess_is_that_of_the_values_distance_from_it():
    """By hand: values 1, 0, 0, 1 of four queries, 4 candidates each: guess .25, deviation sqrt(1/3), over sqrt(4)."""
    case = case_of([["a"], ["b"], ["b"], ["a"]], [{"a": 1}] * 4)
    case.candidates["s"] = 4
    guess = evaluate(case, {"p@1": load_metric("p@1")}, "macro").metrics["p@1"]["guess"]
    assert guess["languages"] == {"en": 0.25} and guess["errors"]["en"] == pytest.approx((1 / 3) ** 0.5 / 2)
    directions = np.array([1.0, 0, 0, 1] * 2), np.full(8, 0.25), ["fr"] * 8, ["0", "1", "2", "3"] * 2  # four texts
    assert by_language(*directions)["errors"]["fr"] == pytest.approx(guess["errors"]["en"])
    seed = {"languages": {"en": 0.5}, "average": 0.5, "n": {"en": 4}}
    seeds = [seed | {"guess": guess}, seed | {"guess": guess | {"errors": {"en": 0.0}}}]
    averaged = over_seeds(seeds, [Path("a"), Path("b")])
    assert averaged["guess"] == {"languages": {"en": 0.25}, "errors": {"en": pytest.approx((1 / 3) ** 0.5 / 4)}}

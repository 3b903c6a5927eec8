"""Ranking metrics: worked cases and laws on random runs; beside trec_eval: test_against_trec_eval.py."""

import itertools
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stele.artifacts.run import run_of
from stele.artifacts.run_files import read_run
from stele.benchmarks.tatoeba import Tatoeba, line_judgments, line_passages
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.aggregate import by_language, over_seeds
from stele.evaluation.evaluate import evaluate
from stele.evaluation.guess import by_language as guessed_by_language
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.ranx_metrics import Line, arrays, ranx_table
from tests.evaluation.cases import case_of, score


def languages_of(case: Case, metric: str, average: str) -> dict:
    return evaluate(case, {metric: load_metric(metric)}, average).metrics[metric]


# --- Tatoeba ---
def test_accuracy_looks_at_the_first_passage_in_each_direction():
    there, back = QuerySet("fr-en", "fr", "en-of-fr"), QuerySet("en-fr", "fr", "fr")
    given = {
        "ranked": [["a"], ["b", "a"], ["a"], []],
        "relevant": [{"a": 1}] * 4,
        "query_sets": [there, there, back, back],
    }
    assert score("accuracy", **given) == [1.0, 0.0, 1.0, 0.0]
    np.testing.assert_equal(score("accuracy_to_en", **given), [1.0, 0.0, np.nan, np.nan])
    np.testing.assert_equal(score("accuracy_from_en", **given), [np.nan, np.nan, 1.0, 0.0])


@pytest.fixture
def sentences(tmp_path):
    """French with four pairs, Telugu with two."""
    for code, lines in (("fra", 4), ("tel", 2)):
        for side in (code, "eng"):
            text = "".join(f"{side} {i}\n" for i in range(lines))
            (tmp_path / f"tatoeba.{code}-eng.{side}").write_text(text)
    return {"tatoeba": {"all": tmp_path}}


def tatoeba_case(data, scores) -> Case:
    """Every line of a query set gives the lines of its collection the scores that `scores(query_set, line)` lists."""
    case = Case(data=data)
    for query_set in Tatoeba().query_sets(["fr", "te"]):
        ids = [passage.id for passage in Tatoeba().passages(data, query_set.collection)]
        judged = Tatoeba().judgments(data, query_set)
        given = {query: zip(ids, scores(query_set, line), strict=False) for line, query in enumerate(judged)}
        case.runs[query_set.name] = run_of(given)
        case.relevant += judged.values()
        case.add(query_set, list(judged))
    return case


def test_tatoeba_is_each_language_s_share_of_its_own_size_in_both_directions(sentences):
    right = {"fr-en": {0, 1, 2}, "en-fr": {0}, "te-en": {0, 1}, "en-te": {1}}
    case = tatoeba_case(
        sentences,
        lambda query_set, line: [float(i == (line if line in right[query_set.name] else 1 - line)) for i in range(4)],
    )
    actual = {name: languages_of(case, name, "macro") for name in ("accuracy", "accuracy_to_en", "accuracy_from_en")}
    assert actual["accuracy_to_en"]["languages"] == {"fr": 3 / 4, "te": 2 / 2}  # of their own 4 and 2 lines
    assert actual["accuracy_from_en"]["languages"] == {"fr": 1 / 4, "te": 1 / 2}  # what XTREME's script measures
    assert actual["accuracy"]["languages"] == {"fr": (3 + 1) / 8, "te": (2 + 1) / 4}  # what CCP reports
    assert actual["accuracy"]["average"] == (1 / 2 + 3 / 4) / 2  # over sentences it would be 7 / 12


def test_tatoeba_takes_the_lowest_line_of_equals(sentences):
    case = tatoeba_case(sentences, lambda query_set, line: [1.0, 1.0, 1.0, 0.5])
    # all find line 0, so one line in each direction is right; were it the highest, line 2 would be
    assert languages_of(case, "accuracy", "macro")["languages"] == {"fr": 1 / 4, "te": 1 / 2}
    assert load_metric("accuracy").values(case)[:4].tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("size", [9, 10_000, 10_001, 12_345])
def test_the_first_of_any_number_of_lines_has_the_highest_id(size):
    names = [passage.id for passage in line_passages(["x"] * size)]
    assert names == sorted({*names}, reverse=True) and len(names) == size
    assert list(line_judgments(size).values()) == [{name: 1} for name in names]


# --- XSA and XDA ---
def test_precision_of_a_pair_in_either_direction():
    there, back = QuerySet("de-en", "de-en", "en"), QuerySet("en-de", "de-en", "de")
    given = {
        "ranked": [["1"], ["1", "2"], ["1"], ["2"]],
        "relevant": [{"1": 1}, {"2": 1}] * 2,
        "query_sets": [there, there, back, back],
    }
    case = case_of(**given)
    assert languages_of(case, "p_forward@1", "macro")["languages"] == {"de-en": 1 / 2}
    assert languages_of(case, "p_backward@1", "macro")["languages"] == {"de-en": 1.0}
    assert languages_of(case, "p@1", "macro")["languages"] == {"de-en": 3 / 4}
    np.testing.assert_equal(score("p_forward@1", **given), [1.0, 0.0, np.nan, np.nan])


# --- what ranx is given ---
def test_padding_is_neither_judged_nor_relevant():
    case = case_of(ranked=[["a"], ["x", "b", "y"]], relevant=[{"a": 1, "b": 1}, {"b": 2}])
    judged, hits = arrays(case)
    assert judged.shape == (2, 2, 2)
    assert hits.rankings(0)[:, :, 0].tolist() == [[0.0, -2.0, -2.0], [-2.0, 0.0, -2.0]]
    assert hits.rankings(1)[:, :, 0].tolist() == [[0.0], [-2.0]]
    assert judged[1, 1].tolist() == [-1.0, 0.0]  # relevance 0: ranx leaves it out


def test_ranx_s_metrics_come_without_its_plots_and_datasets():
    code = (
        "from tests.evaluation.cases import score; import sys; print(score('ndcg@10', ranked=[['a', 'b']], "
        "relevant=[{'b': 1}]), {'ir_datasets', 'matplotlib'} & {*sys.modules}); "
        "import ranx; print(callable(ranx.metrics.ndcg))"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed == f"[{1 / math.log2(3)}] set()\nTrue\n"


# --- averages ---
def test_macro_and_micro_means_and_queries_that_do_not_count():
    values = np.array([1.0, 0.0, np.nan, 1.0, np.nan])
    languages = ["ar", "ar", "ar", "te", "fi"]
    macro, micro = by_language(values, languages, "macro"), by_language(values, languages, "micro")
    assert macro["languages"] == {"ar": 0.5, "te": 1.0}  # fi has no countable query
    assert macro["n"] == {"ar": 2, "te": 1}
    assert (macro["average"], micro["average"]) == (0.75, pytest.approx(2 / 3))


def test_values_over_seeds_are_means_with_their_deviation():
    first = {"languages": {"en": 0.5, "sw": 0.2}, "average": 0.35, "n": {"en": 3, "sw": 2}}
    second = {"languages": {"en": 0.7, "sw": 0.2}, "average": 0.45, "n": {"en": 3, "sw": 2}}
    files = [Path("a"), Path("b")]
    both = over_seeds([first, second], files)
    assert both["languages"]["en"] == pytest.approx(0.6)
    assert both["std"]["languages"]["en"] == pytest.approx(0.1 * 2**0.5)  # of the sample: n - 1
    assert both["values"]["average"] == [0.35, 0.45]
    assert over_seeds([first], files[:1])["std"]["average"] is None
    for n in ({"en": 3, "sw": 1}, {"en": 3}):
        with pytest.raises(SteleError, match=rf"^b: {n.get('sw', 0)} queries in sw, but 2 in a; score all"):
            over_seeds([first, second | {"n": n}], files)


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
    assert guessed_by_language(*directions)["errors"]["fr"] == pytest.approx(guess["errors"]["en"])
    seed = {"languages": {"en": 0.5}, "average": 0.5, "n": {"en": 4}}
    seeds = [seed | {"guess": guess}, seed | {"guess": guess | {"errors": {"en": 0.0}}}]
    averaged = over_seeds(seeds, [Path("a"), Path("b")])
    assert averaged["guess"] == {"languages": {"en": 0.25}, "errors": {"en": pytest.approx((1 / 3) ** 0.5 / 4)}}

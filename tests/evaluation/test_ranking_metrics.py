"""Ranking metrics and averages by worked cases, each with a plausible wrong variant that it tells apart."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from stele.artifacts.run import run_of
from stele.benchmarks.tatoeba import Tatoeba
from stele.benchmarks.types import QuerySet
from stele.evaluation.aggregate import by_language, over_seeds
from stele.evaluation.evaluate import evaluate
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.ranx_metrics import arrays
from tests.evaluation.cases import case_of, score


def languages_of(case: Case, metric: str, average: str) -> dict:
    return evaluate(case, {metric: load_metric(metric)}, average).metrics[metric]


# --- Mr. TyDi ---
def test_mrr_stops_at_its_cut():
    ranking = [f"d{i}" for i in range(101)]
    # without a cut of its own rank 101 would give 1 / 101
    assert score("mrr@100", ranked=[ranking, ranking], relevant=[{"d100": 1}, {"d99": 1}]) == [0.0, 0.01]


def test_recall_is_a_share_and_not_a_hit():
    assert score("recall@2", ranked=[["a", "x", "b"]], relevant=[{"a": 1, "b": 1, "c": 1}]) == [pytest.approx(1 / 3)]


def test_a_query_without_a_relevant_passage_scores_0_and_counts():
    for metric in ("mrr@100", "recall@100", "map@20", "ap@1000", "p@20", "ndcg@20"):
        assert score(metric, ranked=[["a"]] * 3, relevant=[{}, {"b": 0}, {"a": -1}]) == [0.0, 0.0, 0.0]


def test_a_query_without_a_result_scores_0_and_counts():
    for metric in ("mrr@100", "recall@100", "map@20", "ap@1000", "p@20", "ndcg@20", "ap_judged", "accuracy"):
        assert score(metric, ranked=[[], ["a"]], relevant=[{"a": 1}] * 2) == [0.0, 0.05 if metric == "p@20" else 1.0]


# --- LAReQA and Mewsli-X ---
def test_map_divides_by_the_smaller_of_relevant_and_cut():
    # 3 relevant, hits at ranks 1 and 3: (1 + 2/3) / 3; within the first 2: 1 / 2, not 1 / 3
    given = {"ranked": [["a", "x", "b"]], "relevant": [{"a": 1, "b": 1, "c": 1, "not": 0}]}
    assert score("map@20", **given) == [pytest.approx((1 + 2 / 3) / 3)]
    assert score("map@2", **given) == [pytest.approx(1 / 2)]
    assert score("ap@2", **given) == [pytest.approx(1 / 3)]  # trec_eval's map_cut divides by all three


def test_lareqa_divides_by_20_where_a_question_has_more_answers():
    right = {f"r{i}": 1 for i in range(25)}
    given = {"ranked": [[*right, "x"]], "relevant": [right]}
    assert score("map@20", **given) == [pytest.approx(1.0)]
    assert score("ap@20", **given) == [pytest.approx(20 / 25)]


def test_lareqa_counts_the_answer_in_the_question_s_own_language_and_averages_over_questions():
    """Four questions: three in English, one in German; answers in both languages, in one collection."""
    query_sets = [QuerySet("en", "en", "all")] * 3 + [QuerySet("de", "de", "all")]
    ranked = [["en_1", "de_1"], ["x", "en_2"], ["x"], ["en_1", "x", "de_1"]]
    relevant = [{"en_1": 1, "de_1": 1}, {"en_2": 1, "de_2": 1}, {"en_3": 1, "de_3": 1}, {"en_1": 1, "de_1": 1}]
    actual = languages_of(case_of(ranked=ranked, relevant=relevant, query_sets=query_sets), "map@20", "micro")
    precisions = [(1 + 1) / 2, (1 / 2) / 2, 0, (1 + 2 / 3) / 2]  # without the own language's answer: 1/2, 0, 0, 1
    assert actual["languages"] == {"en": pytest.approx(sum(precisions[:3]) / 3), "de": pytest.approx(precisions[3])}
    assert actual["average"] == pytest.approx(sum(precisions) / 4)  # over languages it would be .625


def test_mewsli_x_is_the_reciprocal_rank_within_20_and_averages_over_languages():
    query_sets = [QuerySet("de", "de", "all")] * 3 + [QuerySet("ta", "ta", "all")]
    ranked = [["x", "y", "Q1"], [f"x{i}" for i in range(20)] + ["Q1"], [], [f"x{i}" for i in range(19)] + ["Q1"]]
    given = {"ranked": ranked, "relevant": [{"Q1": 1}] * 4, "query_sets": query_sets}
    assert score("map@20", **given) == [pytest.approx(1 / 3), 0.0, 0.0, pytest.approx(1 / 20)]  # rank 21 is too late
    actual = languages_of(case_of(**given), "map@20", "macro")
    assert actual["languages"] == {"de": pytest.approx(1 / 9), "ta": pytest.approx(1 / 20)}
    assert actual["average"] == pytest.approx((1 / 9 + 1 / 20) / 2)  # over mentions it would be .0958


# --- AP@1000, P@20, nDCG@20 ---
def test_p_divides_by_its_cut_however_few_were_retrieved():
    given = {"ranked": [["a", "x", "b"]], "relevant": [{"a": 1, "b": 2, "c": 1}]}
    assert score("p@20", **given) == [pytest.approx(2 / 20)]  # not 2 / 3
    assert score("p@1", **given) == [1.0]


def test_ap_counts_relevant_documents_that_were_not_retrieved_and_stops_at_its_cut():
    ranking = [f"x{i}" for i in range(1000)]
    ranking[1], ranking[999] = "a", "b"
    right = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert score("ap@1000", ranked=[ranking], relevant=[right]) == [pytest.approx((1 / 2 + 2 / 1000) / 4)]
    assert score("ap@1000", ranked=[["y", *ranking]], relevant=[right]) == [pytest.approx((1 / 3) / 4)]


def test_ndcg_gains_relevance_and_its_ideal_is_cut_too():
    ranked, right = [["c", "x", "a"]], {"x": 0, "c": 1, "b": 2, "a": 3, "unjudged": -1}
    gained = 1 / math.log2(2) + 3 / math.log2(4)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert score("ndcg@20", ranked=ranked, relevant=[right]) == [pytest.approx(gained / ideal)]
    # with gains 2^relevance - 1 (Burges) it would be .479
    assert gained / ideal == pytest.approx(0.525, abs=5e-4)
    cut_ideal = 3 / math.log2(2) + 2 / math.log2(3)
    assert score("ndcg@2", ranked=ranked, relevant=[right]) == [pytest.approx(1 / cut_ideal)]


# --- CLEF ---
def test_ap_judged_takes_out_what_nobody_judged():
    judged = {"a": 1, "b": 0, "c": 1, "pool": -1}
    ranked = ["u1", "u2", "a", "pool", "u3", "b", "c"]
    assert score("ap_judged", ranked=[ranked], relevant=[judged]) == [pytest.approx((1 / 1 + 2 / 3) / 2)]
    assert score("ap@1000", ranked=[ranked], relevant=[judged]) == [pytest.approx((1 / 3 + 2 / 7) / 2)]


def test_ap_judged_leaves_out_queries_without_a_relevant_document():
    actual = score("ap_judged", ranked=[["a"], ["a"], ["a"]], relevant=[{"a": 0, "b": 0}, {"a": 1}, {"b": -1}])
    np.testing.assert_equal(actual, [np.nan, 1.0, np.nan])


def test_clef_folds_weighted_by_their_queries_are_the_mean_over_queries():
    rng = np.random.default_rng(2)
    ranked = [[f"d{i}" for i in rng.permutation(8)] for _ in range(23)]
    relevant = [{f"d{i}": int(rng.random() < 0.3) for i in range(8)} for _ in range(23)]
    values = np.array(score("ap_judged", ranked=ranked, relevant=relevant))
    folds = [values[fold::5][~np.isnan(values[fold::5])] for fold in range(5)]
    weighted = sum(fold.mean() * len(fold) for fold in folds) / sum(map(len, folds))
    actual = languages_of(case_of(ranked=ranked, relevant=relevant), "ap_judged", "macro")
    assert actual["average"] == pytest.approx(weighted)
    assert actual["n"]["en"] < 23
    assert weighted != pytest.approx(np.mean([fold.mean() for fold in folds]))  # the folds' own mean is another


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
    both = over_seeds([first, second])
    assert both["languages"]["en"] == pytest.approx(0.6)
    assert both["std"]["languages"]["en"] == pytest.approx(0.1 * 2**0.5)  # of the sample: n - 1
    assert both["values"]["average"] == [0.35, 0.45]
    assert over_seeds([first])["std"]["average"] is None

"""Metrics of directions and averages by worked cases; the others: test_against_trec_eval.py, test_metric_laws.py."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stele.artifacts.run import run_of
from stele.benchmarks.tatoeba import Tatoeba, line_judgments, line_passages
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.aggregate import by_language, over_seeds
from stele.evaluation.evaluate import evaluate
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.ranx_metrics import arrays
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

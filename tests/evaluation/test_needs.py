"""A metric is refused, in words, without its cut or on data of another kind; every metric says what it needs."""

import numpy as np
import pytest

from stele.benchmarks.types import QuerySet
from stele.catalogue import entries
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from stele.evaluation.metric import Metric, kinds_of
from stele.evaluation.metrics import computed_here, load_metric
from stele.evaluation.ranx_metrics import ranx_table
from tests.evaluation.cases import case_of, score

JUDGED = {"ranked": [["a"]], "relevant": [{"a": 1}]}
ANSWERED = {"ranked": [["a"]], "answers": [["x"]], "texts": {"a": "x"}}
PREDICTED = {"predictions": ["x"], "answers": [["x"]]}


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("mrr", "metric mrr: want a cut, as in mrr@100; found none"),
        ("ap", "metric ap: want a cut, as in ap@100; found none"),
        ("r_kt", "metric r: want a cut, as in r@2kt; found none"),
        ("r_kt@2", "metric r: want a cut, as in r@2kt; found '2'"),
        ("ap_judged@20", "metric ap_judged: it has no cut; found '20'"),
        ("accuracy@1", "metric accuracy: it has no cut; found '1'"),
    ],
)
def test_a_wrong_cut_is_refused(metric, message):
    with pytest.raises(SteleError, match=f"^{message}$"):
        score(metric, **JUDGED)


@pytest.mark.parametrize("given", [[True, False], np.array([1, 0]), np.array([True, False])])
def test_values_of_any_kind_are_numbers(given):
    """Of a metric of docs/adding/metric.md, one for each query."""

    class Found(Metric):
        example = "found"

        def evaluate(self, case):
            return given

    two = case_of(ranked=[["a"], ["b"]], relevant=[{"a": 1}, {"a": 1}])
    values = Found().values(two)
    assert values.dtype == np.float64 and values.tolist() == [1.0, 0.0]
    three = case_of(ranked=[["a"]] * 3, relevant=[{"a": 1}] * 3)
    with pytest.raises(SteleError, match=r"metric found: want a value for each query, shape \(3,\); found \(2,\)"):
        Found().values(three)


def test_an_unknown_kind_of_data_is_refused(monkeypatch):
    monkeypatch.setattr(computed_here()["ap_judged"], "needs", "judgements")
    with pytest.raises(SteleError, match="ap_judged: needs: unknown kind of data 'judgements'; did you mean 'judgm"):
        load_metric("ap_judged")


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        (
            "mrr@100",
            ANSWERED,
            "scores rankings of judged passages; found rankings of passages that may hold an answer",
        ),
        ("r@5", JUDGED, "scores rankings of passages that may hold an answer; found rankings of judged passages"),
        ("f1", JUDGED, "scores answers to questions; found rankings of judged passages"),
        ("alignment", JUDGED, "scores pairs of embeddings; found rankings of judged passages"),
    ],
)
def test_data_of_another_kind_are_refused(metric, given, message):
    with pytest.raises(SteleError, match=message):
        score(metric, **given)


COUNTS = ("parameters", "statistics")  # benchmarks in name: nothing is scored there
SCORES = {name for key, entry in entries(Benchmark).items() if key not in COUNTS for name in entry.metrics}


@pytest.mark.parametrize("name", sorted(SCORES | {metric.example for metric in computed_here().values()}))
def test_every_metric_has_a_guess_or_a_reason_for_none(name):
    """So no column of noise is marked: what has no guess counts as above it."""
    metric = load_metric(name)
    given = {"judgments": JUDGED, "answers": ANSWERED, "predictions": PREDICTED, "vectors": {}}[metric.needs]
    twice = {key: value if key == "texts" else value * 2 for key, value in given.items()}
    case = case_of(query_sets=[QuerySet("en", "en", "en")] * 2, **twice)
    case.candidates, case.memo["word_tokenize"] = {"en": 4}, str.split
    guess = metric.guess(case)
    assert (guess is None) is bool(metric.unguessed) and (guess is None or np.isfinite(guess).all())


def test_kinds_of_data():
    case = case_of(**JUDGED)
    assert kinds_of(case) == ["judgments"]
    case.vectors["s"] = (np.eye(1), np.eye(1))
    assert kinds_of(case) == ["judgments", "vectors"]
    predicted = case_of(**PREDICTED)
    predicted.runs.clear()
    assert kinds_of(predicted) == ["predictions"]


@pytest.mark.parametrize("name", [*ranx_table(), *computed_here()])
def test_every_metric_refuses_what_it_does_not_score(name):
    """Nothing at all is not enough for any metric, whatever its cut."""
    case = case_of(ranked=[["a"]])
    case.runs.clear()
    for cut in ("", "@2kt" if name.endswith("_kt") else "@5"):
        with pytest.raises(SteleError, match=r"^metric \w+(: | scores )"):
            load_metric(name.removesuffix("_kt") + cut if cut else name).values(case)

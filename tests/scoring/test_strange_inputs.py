"""Runs and judgments that do not belong together, or that only look like numbers."""

import json
import os

import pytest
from test_score_anything import RANKINGS

from stele.benchmarks._files import json_lines
from stele.benchmarks._trec import read_qrels
from stele.errors import SteleError
from stele.evaluation.metrics import load_metric
from stele.scoring.system_files.formats import read_output
from tests.scoring.scored import run, scored, trec


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.txt").write_text(trec(RANKINGS))
    (tmp_path / "sw.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "th.txt").write_text("t1 0 a 1\n")
    (tmp_path / "other.txt").write_text("q1 0 x1 1\nq2 0 x2 0\n")
    return tmp_path


def test_a_run_without_one_query_of_a_judged_language_is_refused(files):
    data = [f"mrtydi:sw={files}/sw.txt", f"mrtydi:th={files}/th.txt"]
    with pytest.raises(SteleError, match=r"run\.txt: found none of the 1 judged queries of th"):
        run("mrtydi", "--run", files / "run.txt", "--data", *data)
    result = scored(files, "mrtydi", "--run", files / "run.txt", "--languages", "sw", "--data", *data)
    assert list(result["metrics"]["mrr@100"]["languages"]) == ["sw"]


def test_judgments_of_a_language_without_a_run_are_said(files, caplog):
    data = [f"mrtydi:sw={files}/sw.txt", f"mrtydi:th={files}/th.txt"]
    run("mrtydi", "--run", f"sw={files}/run.txt", "--data", *data)
    assert "judgments of th without a run are not scored" in caplog.text


def test_judgments_of_other_passages_are_said(files, caplog):
    run("mrtydi", "--run", f"sw={files}/run.txt", "--data", f"mrtydi:sw={files}/other.txt")
    assert "sw: none of its 2 judged passages is in the run" in caplog.text
    caplog.clear()
    run("mrtydi", "--run", f"sw={files}/run.txt", "--data", f"mrtydi:sw={files}/sw.txt")
    assert "are both of one collection" not in caplog.text


@pytest.mark.parametrize("piped", ["run", "judgments"])
def test_a_pipe_is_refused_since_it_can_be_read_only_once(files, piped):
    reader, writer = os.pipe()
    os.write(writer, b"q1 0 a 1\n" if piped == "judgments" else trec(RANKINGS).encode())
    os.close(writer)
    given = {"run": files / "run.txt", "judgments": files / "sw.txt", piped: f"/dev/fd/{reader}"}
    with pytest.raises(SteleError, match=rf"/dev/fd/{reader}: a pipe, which can be read only once; write it to a file"):
        run("mrtydi", "--run", f"sw={given['run']}", "--data", f"mrtydi:sw={given['judgments']}")
    os.close(reader)


@pytest.mark.parametrize("relevance", ["١", "1_0", "9" * 400, "1.0", "nan"])
def test_a_relevance_is_a_number_in_the_digits_0_to_9(tmp_path, relevance):
    (tmp_path / "qrels.txt").write_text(f"q1 0 a {relevance}\n")
    with pytest.raises(SteleError, match=r"qrels\.txt, line 1: want `query 0 document relevance`"):
        read_qrels(tmp_path / "qrels.txt")


@pytest.mark.parametrize("score", ["9" * 400, "1e999", "NaN"])
def test_a_score_that_no_float_holds_is_refused(tmp_path, score):
    (tmp_path / "run.json").write_text(f'{{"q1": {{"a": {score}}}}}')
    with pytest.raises(SteleError, match=r"run\.json: query 'q1': the score must be a finite number"):
        read_output(str(tmp_path / "run.json"))


@pytest.mark.parametrize("name", ["mrr@99999999999999999999", "mrr@١", "mrr@1_0"])
def test_a_cut_is_a_number_of_a_run_s_size(name):
    with pytest.raises(SteleError, match="after @ comes a number"):
        load_metric(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing in it"),
        ("\n\n", "nothing in it"),
        ('{"query": "a", "query": "b"}', "line 1: key 'query' appears twice"),
        ('{"query": "\\ud800"}', "line 1: not a readable line of JSON"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({"n": 1})[:-1] + "9" * 5000 + "}", "line 1: not a readable line of JSON"),
    ],
)
def test_json_lines_that_python_would_take_or_trip_over(tmp_path, text, message):
    (tmp_path / "train.jsonl").write_text(text)
    with pytest.raises(SteleError, match=message):
        list(json_lines(tmp_path / "train.jsonl"))
    (tmp_path / "train.jsonl").write_text('{"query": "\\ud83d\\ude00"}')
    assert [item for _, item in json_lines(tmp_path / "train.jsonl")] == [{"query": "\U0001f600"}]

"""The command `fuse`: weights without a fold's own judgments, runs as trec_eval sees them, same bytes."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from recorded import record

from stele.artifacts.run import run_of
from stele.artifacts.run_files import collection_size, read_run, write_run
from stele.benchmarks.reader import BenchmarkReader
from stele.benchmarks.types import LeftOut, Query, QuerySet
from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.retrieval import fuse
from tests.jobs import job
from tests.killing import kill_at, killed

TOPICS = [str(number) for number in range(1, 13)]


def random_hits(seed: int, number: int, low: float) -> dict[str, list[tuple[str, float]]]:
    """Hits of every topic among 60 documents, scores of few values so that they tie."""
    rng, hits = np.random.default_rng(seed), {}
    for topic in TOPICS:
        names = [f"d{n:02}" for n in rng.choice(60, number, replace=False)]
        hits[topic] = list(zip(names, (low + rng.integers(0, 30, number) / 8).tolist(), strict=True))
    return hits


def random_judgments(seed: int) -> dict[str, dict[str, int]]:
    rng = np.random.default_rng(seed)
    return {topic: {f"d{n:02}": int(n % 3) for n in rng.choice(60, 12, replace=False)} for topic in TOPICS}


@pytest.fixture
def fusing(tmp_path, monkeypatch):
    """fusing(name, term, dense, judged, more) -> the folder of a fused run of a made benchmark."""

    def call(
        name: str, term, dense, judged, *more: str, topics=TOPICS, searched="made", same_id=False, labels=()
    ) -> Path:
        made = BenchmarkReader()
        made.FIELDS = False
        monkeypatch.setattr(fuse, "stated_left_out", lambda *arguments: LeftOut(same_id=same_id))
        made.queries = lambda data, query_set: (Query(topic, topic) for topic in topics)
        made.judgments = lambda data, query_set: judged
        monkeypatch.setattr(fuse, "load_reader", lambda *arguments: made)
        line = ["--benchmark", "made", "--languages", "xx"]
        for kind, hits in (("term", term), ("dense", dense)):
            folder = tmp_path / name / kind
            write_run(folder / "runs/xx.trec.gz", run_of(hits).items(), tag="stele")
            counted = {"passages" if kind == "term" else "documents": 60}
            made_record = record(folder, searches={"xx": counted}, content=kind, benchmark=searched, labels=[*labels])
            line += [f"--{kind}", str(made_record)]
        (tmp_path / "data").mkdir(exist_ok=True)
        line += ["--data", f"made:all={record(tmp_path / 'data', content='data')}"]
        fuse.run(job(fuse, [*line, *more, "--output", str(tmp_path / name / "fused/retrieval.json")]))
        return tmp_path / name / "fused"

    return call


def weights(folder: Path) -> dict[str, float]:
    """Topic -> the weight of its fold."""
    with open(folder / "alpha.csv") as lines:
        rows = [row for row in csv.DictReader(lines) if row["chosen"] == "1"]
    return {topic: float(row["alpha"]) for row in rows for topic in row["topics"].split()}


# --- weights and folds ---
@pytest.mark.parametrize("depth", [1000, 9])
def test_a_weight_is_the_least_with_the_best_ap_of_the_other_folds(fusing, depth):
    """Against AP by the metric itself, a run for each weight."""
    term, dense, judged = random_hits(4, 30, 2.0), random_hits(5, 20, -1.0), random_judgments(6)
    chosen = weights(fusing("a", term, dense, judged, "--depth", str(depth)))
    fold, values = folds_by_hash(TOPICS), {}
    for alpha in fuse.ALPHAS.tolist():
        runs = {}
        for topic in TOPICS:
            lists = dict(term[topic]), dict(dense[topic])
            scores = {n: alpha * lists[0].get(n, 0.0) + (1 - alpha) * lists[1].get(n, 0.0) for n in lists[0] | lists[1]}
            runs[topic] = scores.items()
        case = Case(relevant=[judged[topic] for topic in TOPICS])
        case.add(QuerySet("xx", "xx", "xx"), TOPICS)
        case.runs["xx"] = run_of(runs)
        values[alpha] = dict(zip(TOPICS, load_metric(f"ap@{depth}").values(case).tolist(), strict=True))
    for topic in TOPICS:
        others = [other for other in TOPICS if fold[other] != fold[topic]]
        mean = {alpha: round(sum(of[other] for other in others) / len(others), 4) for alpha, of in values.items()}
        assert chosen[topic] == min(alpha for alpha in mean if mean[alpha] == max(mean.values()))


@pytest.mark.parametrize(("value", "chosen"), [(0.50004, 0), (0.50006, 60)])
def test_weights_of_one_ap_to_four_digits_are_equally_good(monkeypatch, value, chosen):
    ap = np.where(np.arange(len(fuse.ALPHAS)) == 60, value, 0.5)
    monkeypatch.setattr(fuse, "average_precisions", lambda *arguments: ap)
    folds = fuse.choose_weights({"1": [], "2": []}, {"1": {}, "2": {}}, {"1": 0, "2": 1}, 10)
    assert [fold.chosen for fold in folds] == [chosen] * 2


def test_scores_that_are_equal_in_a_run_are_ties():
    """Their order is that of ids, as trec_eval reads the run that the weight was chosen for."""
    topic = fuse.candidates([("a", 1 + 1e-9), ("b", 1.0)], [])
    assert fuse.fused(topic, 1.0, 2) == [("b", 1.0), ("a", 1.0)]


def test_folds_are_of_like_sizes_and_stay_when_topics_come_in_another_order():
    for number in (5, 12, 73):
        topics = [f"t{n}" for n in range(number)]
        fold = folds_by_hash(topics)
        sizes = [list(fold.values()).count(n) for n in range(5)]
        assert max(sizes) - min(sizes) <= 1 and fold == folds_by_hash(topics[::-1]) != folds_by_hash(topics, "1 de ")


# --- lists ---
def test_a_document_that_a_list_lacks_has_0_there():
    """d is in term matching's list alone, e in the other's with a negative score: e is last."""
    topic = fuse.candidates([("d", 2.0), ("b", 1.0)], [("b", 3.0), ("e", -4.0)])
    assert fuse.fused(topic, 0.25, 10) == [("b", 2.5), ("d", 0.5), ("e", -3.0)]
    assert fuse.fused(topic, 0.25, 2) == [("b", 2.5), ("d", 0.5)]
    assert fuse.fused(topic, 1.0, 10)[-1] == ("e", 0.0)


def test_scores_brought_to_one_range():
    topic = fuse.candidates([("a", 9.0), ("b", 5.0), ("c", 1.0)], [("b", -2.0), ("d", -2.0)], min_max=True)
    assert fuse.fused(topic, 0.5, 10) == [("b", 0.75), ("d", 0.5), ("a", 0.5), ("c", 0.0)]


def test_one_list_empty_and_a_topic_without_hits(fusing):
    term, judged = random_hits(1, 30, 2.0), random_judgments(3)
    folder = fusing("term", term, {}, judged)
    run, expected = read_run(folder / "runs/xx.trec.gz"), run_of(term)
    assert all(run.ranking(topic) == expected.ranking(topic) for topic, weight in weights(folder).items() if weight)
    term.pop("7")
    folder = fusing("none", term, {}, judged)
    assert "7" not in read_run(folder / "runs/xx.trec.gz") and "7" in weights(folder)
    made = json.loads((folder / "retrieval.json").read_text())
    assert made["searches"]["xx"]["queries"] == 12
    assert collection_size([made], "xx") == 60, "of so many documents a random ranking would be"
    reranked = {"searches": {"xx": {"topics": 12, "documents": 60}}}  # the judged documents of all topics together
    assert collection_size([reranked], "xx") is None


@pytest.mark.parametrize(("same_id", "counts"), [(True, False), (False, True), (None, True)])
def test_the_query_itself_is_fused_only_where_it_is_a_hit(fusing, same_id, counts):
    """It is the best of both lists; where nobody says what it is, scoring refuses it."""
    others, judged = [random_hits(seed, 30, 2.0) for seed in (1, 2)], random_judgments(3)
    both = [{topic: [(topic, 99.0), *hits] for topic, hits in run.items()} for run in others]
    more = judged, "--recipe", '{"scores": "min_max"}', "--depth", "20"
    given = fusing("given", *both, *more, same_id=same_id)
    expected = fusing("expected", *(both if counts else others), *more)
    assert (given / "runs/xx.trec.gz").read_bytes() == (expected / "runs/xx.trec.gz").read_bytes()


# --- as others see it ---
def test_runs_that_are_not_there_or_of_another_benchmark_or_cut_are_refused(fusing, tmp_path, monkeypatch):
    given = random_hits(1, 5, 0.0), random_hits(1, 5, 0.0), random_judgments(1)
    with pytest.raises(SteleError, match=r"term/record\.json: its runs are of another, not of made"):
        fusing("other", *given, searched="another")
    with pytest.raises(SteleError, match=r"term/record\.json: a search of a few queries"):
        fusing("limited", *given, labels=["limited"])
    path = tmp_path / "other/dense/runs/xx.trec.gz"
    for content in (path.read_bytes()[:9], b"no gzip"):
        path.write_bytes(content)
        with pytest.raises(SteleError, match=r"xx\.trec\.gz"):
            fuse._read(tmp_path / "other/dense/record.json", {"searches": ["xx"]}, "xx")
    with pytest.raises(SteleError, match=r"a\.json: found the record of score; want that of a search"):
        fuse._read(tmp_path / "a.json", {"job": "score"}, "xx")
    monkeypatch.setattr(fuse, "runs_of", lambda record, folder: {"yy": folder})
    with pytest.raises(SteleError, match=r"term/record\.json: found no run of xx, only of yy; search"):
        fusing("gone", *given)


def test_a_killed_fusion_starts_anew_with_the_same_bytes(fusing, tmp_path):
    """Killed when all but the record is written."""
    arguments = random_hits(1, 30, 2.0), random_hits(2, 20, -1.0), random_judgments(3)
    undisturbed = fusing("undisturbed", *arguments)
    killed(lambda: fusing("killed", *arguments), kill_at(fuse.records, "write_record"))
    assert not (tmp_path / "killed/fused/retrieval.json").exists()
    again = fusing("killed", *arguments)
    for name in ("alpha.csv", "runs/xx.trec.gz"):
        assert (again / name).read_bytes() == (undisturbed / name).read_bytes()

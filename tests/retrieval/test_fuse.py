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
from stele.evaluation.folds import folds_by_hash, read_folds
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.retrieval import fuse
from tests.jobs import job
from tests.killing import kill_at, killed

TOPICS = [str(number) for number in range(1, 13)]


def random_hits(seed: int, number: int, low: float) -> dict[str, list[tuple[str, float]]]:
    """Hits of every topic among 60 documents, scores of few values so that they tie."""
    rng = np.random.default_rng(seed)
    return {
        topic: [
            (f"d{n:02}", float(np.float32(low + rng.integers(0, 30) / 8)))
            for n in rng.choice(60, min(number, 60), replace=False)
        ]
        for topic in TOPICS
    }


def random_judgments(seed: int) -> dict[str, dict[str, int]]:
    rng = np.random.default_rng(seed)
    return {topic: {f"d{n:02}": int(n % 3) for n in rng.choice(60, 12, replace=False)} for topic in TOPICS}


@pytest.fixture
def fusing(tmp_path, monkeypatch):
    """fusing(name, term, dense, judged, more) -> the folder of a fused run of a made benchmark."""

    def call(name: str, term, dense, judged, *more: str, topics=TOPICS, searched="made", same_id=False) -> Path:
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
            made_record = record(folder, searches={"xx": counted}, content=kind, benchmark=searched)
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
def test_a_fold_s_weight_and_run_do_not_depend_on_its_own_judgments(fusing):
    term, dense, judged = random_hits(1, 30, 2.0), random_hits(2, 20, -1.0), random_judgments(3)
    before = fusing("before", term, dense, judged)
    fold = folds_by_hash(TOPICS)
    own = [topic for topic in TOPICS if fold[topic] == 0]
    changed = {t: ({"d00": 1, "d01": 2} if t in own else docs) for t, docs in judged.items()}
    after = fusing("after", term, dense, changed)
    assert {t: weights(before)[t] for t in own} == {t: weights(after)[t] for t in own}
    runs = [read_run(folder / "runs/xx.trec.gz") for folder in (before, after)]
    assert all(runs[0].hits(topic) == runs[1].hits(topic) for topic in own)
    assert weights(before) != weights(after), "the weights of other folds are chosen with these judgments"


def test_a_weight_is_the_least_with_the_best_ap_of_the_other_folds(fusing):
    """Against AP by the metric itself, a run for each weight."""
    term, dense, judged = random_hits(4, 30, 2.0), random_hits(5, 20, -1.0), random_judgments(6)
    chosen, fold = weights(fusing("a", term, dense, judged)), folds_by_hash(TOPICS)
    values = {}
    for alpha in fuse.ALPHAS.tolist():
        lists = {
            t: {
                n: alpha * dict(term[t]).get(n, 0.0) + (1 - alpha) * dict(dense[t]).get(n, 0.0)
                for n in dict(term[t]).keys() | dict(dense[t]).keys()
            }
            for t in TOPICS
        }
        query_set = QuerySet("xx", "xx", "xx")
        case = Case(relevant=[judged[t] for t in TOPICS])
        case.add(query_set, TOPICS)
        case.runs["xx"] = run_of({t: hits.items() for t, hits in lists.items()})
        values[alpha] = dict(zip(TOPICS, load_metric("ap@1000").values(case).tolist(), strict=True))
    for topic in TOPICS:
        others = [t for t in TOPICS if fold[t] != fold[topic]]
        mean = {alpha: round(sum(of[t] for t in others) / len(others), 4) for alpha, of in values.items()}
        assert chosen[topic] == min(alpha for alpha in mean if mean[alpha] == max(mean.values()))


def test_the_weight_is_1_where_any_share_of_the_dense_ranking_hurts(fusing):
    term = {topic: [("right", 2.0), ("wrong", 1.0)] for topic in TOPICS}
    dense = {topic: [("wrong", 1e6), ("right", 0.0)] for topic in TOPICS}
    assert {*weights(fusing("end", term, dense, {topic: {"right": 1} for topic in TOPICS})).values()} == {1.0}


def test_folds_are_of_like_sizes_and_stay_when_topics_come_in_another_order():
    for number in (5, 12, 73):
        topics = [f"t{n}" for n in range(number)]
        fold = folds_by_hash(topics)
        sizes = [list(fold.values()).count(n) for n in range(5)]
        assert max(sizes) - min(sizes) <= 1 and fold == folds_by_hash(topics[::-1]) != folds_by_hash(topics, "1 de ")


def test_four_topics_are_too_few(fusing):
    hits = random_hits(1, 5, 0.0)
    with pytest.raises(SteleError, match="made: cross-validation has 5 folds: want 5 topics or more, found 4"):
        fusing("four", hits, hits, random_judgments(1), topics=TOPICS[:4])


def test_folds_of_one_s_own(fusing, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/made.txt").write_text("".join(f"{t} {'ab'[int(t) % 2]}\n" for t in TOPICS))
    of_record = str(record(tmp_path / "own", content="own"))
    term, dense, judged = random_hits(1, 30, 2.0), random_hits(2, 20, -1.0), random_judgments(3)
    with open(fusing("own", term, dense, judged, "--folds", of_record) / "alpha.csv") as lines:
        rows = [row for row in csv.DictReader(lines) if row["topics"]]
    assert [row["topics"].split() for row in rows] == [TOPICS[1::2], TOPICS[::2]]


def test_folds_of_other_benchmarks_alone_are_warned_of(fusing, tmp_path, caplog):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/Made.txt").write_text("".join(f"{t} a\n" for t in TOPICS))
    hits = random_hits(1, 5, 0.0)
    folder = fusing("other", hits, hits, random_judgments(1), "--folds", str(record(tmp_path / "own", content="own")))
    assert len(json.loads((folder / "retrieval.json").read_text())["searches"]["xx"]["alphas"]) == 5
    assert "no made.txt beside it, so topics have folds by hash" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 a\n1 b\n", "line 2: 1: appears twice"),
        ("1\n", "line 1: 1: want two columns, topic and fold"),
        ("1 a\n2 b\n", "10 topics have no fold, for example '3'; add a line for each"),
        ("".join(f"{t} a\n" for t in TOPICS), "want topics in two folds or more"),
    ],
)
def test_folds_that_make_no_sense(tmp_path, text, message):
    (tmp_path / "made.txt").write_text(text)
    with pytest.raises(SteleError, match=message):
        read_folds(tmp_path / "made.txt", TOPICS)


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
    of_ones = [t for t in TOPICS if weights(folder)[t]]
    assert of_ones and all(run.ranking(t) == expected.ranking(t) for t in of_ones)
    dense = {topic: hits for topic, hits in random_hits(2, 20, -1.0).items() if topic != "7"}
    folder = fusing("none", {t: h for t, h in term.items() if t != "7"}, dense, judged)
    assert "7" not in read_run(folder / "runs/xx.trec.gz") and "7" in weights(folder)
    facts = json.loads((folder / "retrieval.json").read_text())["searches"]["xx"]
    assert facts["queries"] == 12


@pytest.mark.parametrize(("same_id", "counts"), [(True, False), (False, True), (None, True)])
def test_the_query_itself_is_fused_only_where_it_is_a_hit(fusing, same_id, counts):
    """It is the best of both lists; where nobody says what it is, scoring refuses it."""
    others, judged = [random_hits(seed, 30, 2.0) for seed in (1, 2)], random_judgments(3)
    both = [{topic: [(topic, 99.0), *hits] for topic, hits in run.items()} for run in others]
    more = judged, "--recipe", '{"scores": "min_max"}', "--depth", "20"
    given = fusing("given", *both, *more, same_id=same_id)
    expected = fusing("expected", *(both if counts else others), *more)
    assert (given / "runs/xx.trec.gz").read_bytes() == (expected / "runs/xx.trec.gz").read_bytes()


def test_a_run_that_is_not_there_is_named(fusing, monkeypatch):
    hits = random_hits(1, 5, 0.0)
    monkeypatch.setattr(fuse, "runs_of", lambda record, folder: {"yy": folder})
    with pytest.raises(SteleError, match=r"term/record\.json: found no run of xx, only of yy; search"):
        fusing("gone", hits, hits, random_judgments(1))


def test_runs_of_another_benchmark_are_refused(fusing):
    hits = random_hits(1, 5, 0.0)
    with pytest.raises(SteleError, match=r"term/record\.json: its runs are of another, not of made"):
        fusing("other", hits, hits, random_judgments(1), searched="another")


def test_a_cut_run_is_refused_by_its_name(fusing, tmp_path):
    hits = random_hits(1, 5, 0.0)
    fusing("cut", hits, hits, random_judgments(1))
    path = tmp_path / "cut/dense/runs/xx.trec.gz"
    for content in (path.read_bytes()[:9], b"no gzip"):
        path.write_bytes(content)
        with pytest.raises(SteleError, match=r"xx\.trec\.gz"):
            fuse._read(tmp_path / "cut/dense/record.json", {"searches": ["xx"]}, "xx")


# --- as others see it ---
def test_scores_and_order_are_those_of_trec_eval(fusing):
    """More than 1,000 documents, ties among them: trec_eval's AP of the file is what the weight was chosen by."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(9)
    names = [f"d{n:04}" for n in range(1500)]
    term = {t: [(n, float(rng.integers(1, 60))) for n in rng.choice(names, 1000, replace=False)] for t in TOPICS}
    dense = {t: [(n, float(rng.integers(-9, 9))) for n in rng.choice(names, 600, replace=False)] for t in TOPICS}
    judged = {t: {n: int(rng.integers(0, 2)) for n in rng.choice(names, 80, replace=False)} for t in TOPICS}
    run = read_run(fusing("deep", term, dense, judged) / "runs/xx.trec.gz")
    alphas = weights(run_folder := fusing("again", term, dense, judged))
    assert all(len(hits) == 1000 for _, hits in run.items()) and run_folder.exists()
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate({t: dict(hits) for t, hits in run.items()})
    for topic in TOPICS:
        documents = fuse.candidates(term[topic], dense[topic])
        own = fuse.average_precisions(documents, judged[topic], 1000, np.array([alphas[topic]]))
        assert theirs[topic]["map"] == pytest.approx(own[0], abs=1e-6)


def test_a_fused_run_says_of_how_many_documents_a_guess_would_be(fusing):
    folder = fusing("a", random_hits(1, 30, 0.0), random_hits(2, 30, 0.0), random_judgments(3))
    made = json.loads((folder / "retrieval.json").read_text())
    assert collection_size([made], "xx") == 60
    assert collection_size([made, {"searches": {"xx": {"passages": 61}}}], "xx") is None


def test_a_killed_fusion_starts_anew_with_the_same_bytes(fusing, tmp_path):
    """Killed when all but the record is written."""
    arguments = random_hits(1, 30, 2.0), random_hits(2, 20, -1.0), random_judgments(3)
    undisturbed = fusing("undisturbed", *arguments)
    killed(lambda: fusing("killed", *arguments), kill_at(fuse.records, "write_record"))
    assert not (tmp_path / "killed/fused/retrieval.json").exists()
    again, files = fusing("killed", *arguments), ("alpha.csv", "runs/xx.trec.gz")
    for name in files:
        assert (again / name).read_bytes() == (undisturbed / name).read_bytes()
    records = [json.loads((folder / "retrieval.json").read_text()) for folder in (again, undisturbed)]
    assert records[0]["content"] == records[1]["content"] and set(records[0]["outputs"]) == {*files}

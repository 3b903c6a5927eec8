"""The command `rerank`: one canonical run of five folds, scored as it is; the same bytes after a kill."""

import csv
import json

import pytest
from made_clef import TOPICS, topic, write_clef

from stele.artifacts.records import read_record
from stele.artifacts.run_files import read_run
from stele.command.cli import main
from stele.errors import SteleError
from stele.training import loop
from tests.killing import kill_after, killed

CROSS = {"scorer": "cross_encoder", "batch": 3, "epochs": 2, "learning_rate": 1e-3, "length": 32, "tuned_layers": 2}
CROSS |= {"reset_layers": 2, "save_every_seconds": 0}
WORDS = {"batch": 3, "epochs": 2, "learning_rate": 0.05}
RECIPES = [
    CROSS,
    {**CROSS, "loss": "pointwise", "head": "pooler", "reset_layers": 0, "dev_from_epoch": 2},
    {"scorer": "drmm", **WORDS},
    {"scorer": "knrm", "document_terms": 4, **WORDS},
    {"scorer": "bwe_agg", "weights": "uniform"},
    {"scorer": "bwe_agg", "weights": "idf"},
    {"scorer": "tbt_qt_ql"},
]


def encoder(recipe: dict, record) -> tuple[str, ...]:
    return ("--encoder", str(record)) if recipe["scorer"] == "cross_encoder" else ()


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: "-".join(map(str, list(recipe.values())[:1])))
def test_every_judged_document_is_ranked_once_and_scored(rerank, recipe, bert, clef_record, tmp_path, capsys):
    folder = rerank("a", recipe, *encoder(recipe, bert))
    run = read_run(folder / "runs/en-de.trec.gz")
    assert run.queries == [str(n) for n in range(1, TOPICS)]
    assert all(len(set(run.ranking(query))) == 4 for query in run.queries)
    record = read_record(folder / "retrieval.json")
    assert record["searches"]["en-de"]["documents_absent"] == 1
    learns = "epochs" in recipe
    assert len(record["searches"]["en-de"]["folds"]) == (5 if learns else 0)
    assert record["labels"] == sorted(
        {"generated data"} | ({"stand-in checkpoint"} if encoder(recipe, bert) else set())
    )
    assert not (tmp_path / "a/state").exists()
    line = ["scoring", "score", "clef", "--run", str(folder / "retrieval.json"), "--data", f"clef:all={clef_record}"]
    assert main([*line, "--metrics", "ap_judged", "mrr@10", "--output", str(tmp_path / "score.json")]) == 0
    metrics = json.loads((tmp_path / "score.json").read_text())["metrics"]
    assert "guess" not in metrics["mrr@10"]  # a random order is one of a topic's own four, not of all judged documents
    metric = metrics["ap_judged"]
    assert metric["guess"]
    assert metric["n"] == {"en-de": TOPICS - 1}
    # relevant documents tell their topic's word three times, whose vector is near that of the query
    if recipe["scorer"] == "bwe_agg":
        assert metric["average"] > 0.9


def rows(folder, search: str = "en-de") -> list[tuple]:
    table = csv.DictReader((folder / "epochs.csv").read_text().splitlines())
    return [(r["fold"], r["epoch"], r["chosen"], r["test_topics"]) for r in table if r["search"] == search]


def test_folds_are_written_down_and_the_same_for_all_models_and_query_languages(rerank, bert):
    folder = rerank("a", CROSS, "--encoder", str(bert), languages=("en-de", "de-de"))
    assert [row[:2] for row in rows(folder)] == [(str(f), str(e)) for f in range(5) for e in (1, 2)]
    topics = {fold: names for fold, _, chosen, names in rows(folder) if chosen == "1"}
    assert sorted(" ".join(topics.values()).split(), key=int) == [str(n) for n in range(1, TOPICS)]
    for other in (rows(folder, "de-de"), rows(rerank("b", {"scorer": "knrm", **WORDS}))):
        assert {fold: names for fold, _, chosen, names in other if chosen == "1"} == topics
    other = rows(rerank("c", {"scorer": "knrm", **WORDS}, seed=1))
    assert {fold: names for fold, _, chosen, names in other if chosen == "1"} != topics


def test_a_topic_without_a_query_in_one_language_moves_no_other_topic_to_another_fold(rerank, tmp_path):
    data = write_clef(tmp_path / "clef")
    (data.parent / "en/topics-en-2000.txt").write_text("".join(topic(n, "en") for n in (1, 2, 4, 5, 6)))
    folder = rerank("a", {"scorer": "knrm", **WORDS}, data=data, languages=("en-de", "de-de"))
    of_all = [names.split() for *_, names in rows(folder, "de-de") if names]
    assert [names.split() for *_, names in rows(folder) if names] == [[n for n in fold if n != "3"] for fold in of_all]


@pytest.mark.parametrize("step", [1, 4])
def test_killed_in_a_fold_and_run_again_it_ends_in_the_same_bytes(rerank, bert, tmp_path, step, monkeypatch):
    """Killed in the third fold, after a step and after an epoch, before the state of that is saved."""
    calm = rerank("calm", CROSS, "--encoder", str(bert))
    killed(lambda: rerank("rough", CROSS, "--encoder", str(bert)), kill_after(step, label="fold 2"))
    assert sorted(path.name for path in (tmp_path / "rough/state").rglob("fold?.json")) == ["fold0.json", "fold1.json"]
    assert bool(list((tmp_path / "rough/state").rglob("training.pt"))) == (step > 1)
    assert not (tmp_path / "rough/out").exists()
    for saved in (tmp_path / "rough/state").rglob("fold?.json"):
        fold = json.loads(saved.read_text())
        assert 0 < fold["earlier"][0] < 600 and 0 < fold["earlier"][1] < 600
        saved.write_text(json.dumps({**fold, "earlier": [1000.0, 500.0]}))
    labels, original = [], loop.train
    monkeypatch.setattr(loop, "train", lambda *a, label, **m: (labels.append(label), original(*a, label=label, **m))[1])
    again = rerank("rough", CROSS, "--encoder", str(bert))
    assert [label[-1] for label in labels] == ["2", "3", "4"]
    for name in ("runs/en-de.trec.gz", "epochs.csv"):
        assert (again / name).read_bytes() == (calm / name).read_bytes()
    record, of_calm = read_record(again / "retrieval.json"), read_record(calm / "retrieval.json")
    assert record["content"] == of_calm["content"] and of_calm["wall_seconds"] < 600
    assert 2000 < record["wall_seconds"] < 2600 and 1000 < record["cpu_seconds"] < 1600  # those of two folds


def test_what_is_given_must_fit_the_scorer(rerank, bert, tmp_path):
    with pytest.raises(SteleError, match="scorer cross_encoder needs --encoder RECORD"):
        rerank("a", CROSS)
    with pytest.raises(SteleError, match="scorer knrm has no use for --encoder"):
        rerank("a", {"scorer": "knrm", **WORDS}, "--encoder", str(bert))
    with pytest.raises(SteleError, match="unknown scorer 'knmr'; did you mean 'knrm'"):
        rerank("a", {"scorer": "knmr"})
    few = write_clef(tmp_path / "few", topics=4)
    with pytest.raises(SteleError, match="want 5 topics or more, found 4"):
        rerank("a", {"scorer": "knrm", **WORDS}, data=few)

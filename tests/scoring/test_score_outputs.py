"""Predictions, answers and embeddings of other systems against gold files in their native layouts."""

import json
from pathlib import Path

import numpy as np
import pytest

from stele.errors import SteleError
from tests.scoring.scored import run, scored, trec
from tests.sealed import write_sealed


# --- XOR predictions ---
@pytest.fixture
def xor(tmp_path) -> list[str]:
    gold = [
        {"id": "1", "question": "?", "answers": ["red fox"], "lang": "ar"},
        {"id": "2", "question": "?", "answers": ["Moscow, Russia"], "lang": "te"},
        {"id": "3", "question": "?", "answers": ["yes"], "lang": "te"},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(item) + "\n" for item in gold))
    (tmp_path / "punkt/english").mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (tmp_path / "punkt/english" / name).touch()
    return ["--data", f"xor_tydi={tmp_path / 'gold.jsonl'}", f"nltk_punkt={tmp_path / 'punkt'}"]


def predictions(path: Path, *items: dict) -> Path:
    path.write_text(json.dumps(list(items)))
    return path


def test_xor_predictions_bring_their_passages(tmp_path, xor):
    path = predictions(
        tmp_path / "p.json",
        {"id": "1", "lang": " ar", "ctxs": ["nothing here", "a red fox"]},
        {"id": "2", "lang": "te", "ctxs": [{"title": "t", "text": "born in Moscow, Russia."}]},
        {"id": "3", "lang": None, "ctxs": ["yes"]},
    )
    result = scored(tmp_path, "xor_retrieve", "--run", path, *xor)
    assert result["metrics"]["r@2kt"]["languages"] == {"ar": 1.0, "te": 0.0}  # the comma is a token of its own
    assert result["metrics"]["r_tokenized@2kt"]["languages"] == {"ar": 1.0, "te": 1.0}
    assert result["counts"]["missing_queries"] == 0


@pytest.mark.parametrize("ctxs", [[], ["red fox"]])
def test_a_question_for_which_nothing_was_found_is_predicted_and_counts_0(tmp_path, xor, ctxs):
    first = predictions(tmp_path / "p1.json", {"id": "1", "lang": "ar", "ctxs": ctxs})
    second = predictions(tmp_path / "p2.json", {"id": "2", "lang": "te", "ctxs": []})
    result = scored(tmp_path, "xor_retrieve", "--run", first, second, *xor)
    assert result["counts"]["missing_queries"] == 1  # 3
    assert result["metrics"]["r@2kt"]["languages"] == {"ar": float(bool(ctxs)), "te": 0.0}
    with pytest.raises(SteleError, match="found none of the 2 judged queries of te"):
        run("xor_retrieve", "--run", first, *xor)


RIGHT = {"id": "1", "lang": "ar", "ctxs": ["x"]}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([RIGHT | {"lang": "te"}], "question '1': found lang 'te', but the gold file says 'ar'"),
        ([{"id": "1", "ctxs": "x"}], "item 1: want an object {id, lang, ctxs"),
        ([RIGHT | {"ctxs": [3]}], "ctxs 1: want a passage's text, found int"),
        ([RIGHT, RIGHT], "item 2: question '1' appears twice"),
    ],
)
def test_xor_predictions_that_are_wrong(tmp_path, xor, items, message):
    with pytest.raises(SteleError, match=message):
        run("xor_retrieve", "--run", predictions(tmp_path / "p.json", *items), *xor)


# --- answers ---
def test_answers_are_scored_by_the_language_of_the_paragraph(tmp_path):
    def gold(name: str, text: str) -> None:
        qas = [{"id": "k", "question": "?", "answers": [{"text": text, "answer_start": 0}]}]
        content = {"data": [{"paragraphs": [{"context": text, "qas": qas}]}]}
        (tmp_path / name).write_text(json.dumps(content))

    gold("test-context-en-question-de.json", "the house")
    gold("test-context-de-question-de.json", "das Haus")
    (tmp_path / "de-en.json").write_text(json.dumps({"k": "house", "other": "x"}))
    (tmp_path / "de-de.json").write_text(json.dumps({"k": "the Haus"}))
    runs = [f"{pair}={tmp_path / pair}.json" for pair in ("de-en", "de-de")]
    result = scored(tmp_path, "mlqa", "--run", *runs, "--data", f"mlqa={tmp_path}")
    # "the" is an article of English paragraphs, not of German ones
    assert result["metrics"]["exact_match"]["languages"] == {"de-de": 0.0, "de-en": 1.0}
    assert result["counts"]["extra_queries"] == 1
    (tmp_path / "dev.json").write_text(json.dumps({"other": "x"}))  # was scored 0, and the average halved
    with pytest.raises(SteleError, match=r"dev\.json: found none of the 1 judged queries of de-de"):
        run("mlqa", "--run", runs[0], f"de-de={tmp_path / 'dev.json'}", "--data", f"mlqa={tmp_path}")
    (tmp_path / "run").write_text(trec({"k": {"a": 1.0}}))
    with pytest.raises(SteleError, match="a ranking; this benchmark scores answers"):
        run("mlqa", "--run", f"de-de={tmp_path / 'run'}", "--data", f"mlqa={tmp_path}")


def test_gold_answers_need_no_more_than_the_official_script_reads(tmp_path):
    """Neither the paragraph nor where the answer stands, nor the question (MLQA mlqa_evaluation_v1.py)."""
    metrics = ["f1", "exact_match", "f1_squad", "exact_match_squad"]
    qas = [{"id": "k", "answers": [{"text": "the house"}, {"text": "home"}]}, {"id": "m", "answers": [{"text": "x"}]}]
    path = tmp_path / "test-context-en-question-de.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": qas}]}]}))
    (tmp_path / "run.json").write_text(json.dumps({"k": "Home!", "m": ""}))
    line = ["mlqa", "--run", f"de-en={tmp_path / 'run.json'}", "--data", f"mlqa={tmp_path}", "--metrics", *metrics]
    result = scored(tmp_path, *line)
    assert {result["metrics"][name]["average"] for name in metrics} == {0.5}
    assert result["counts"]["missing_queries"] == 0
    qas[1]["answers"] = []
    path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": qas}]}]}))
    with pytest.raises(SteleError, match=r"de.json, paragraph 1, question m: has no answer"):
        run(*line)


# --- embeddings ---
def test_embeddings_are_ranked_in_both_directions(tmp_path):
    foreign = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    english = np.array([[2, 0.1], [3, 0], [0, 5]], dtype=np.float32)
    np.save(tmp_path / "fr.npy", foreign)
    np.save(tmp_path / "en.npy", english)
    result = scored(tmp_path, "tatoeba", "--run", f"fr={tmp_path / 'fr.npy'},{tmp_path / 'en.npy'}")
    # cosine: fr 0 -> en 1, fr 1 -> en 2, fr 2 -> en 0 (all wrong); en 0 -> fr 0 (right), en 1 -> fr 0, en 2 -> fr 1
    assert result["metrics"]["accuracy_to_en"]["languages"] == {"fr": 0.0}
    assert result["metrics"]["accuracy_from_en"]["languages"] == {"fr": pytest.approx(1 / 3)}
    assert result["metrics"]["accuracy"]["average"] == pytest.approx(1 / 6)


def test_embeddings_of_the_requested_languages_alone_are_scored(tmp_path):
    """All were scored, whatever --languages said, and an unknown language was no error."""
    vectors = np.eye(4, dtype=np.float32)
    np.save(tmp_path / "right.npy", vectors)
    np.save(tmp_path / "wrong.npy", vectors[::-1])
    pairs = [
        f"{name}={tmp_path}/right.npy,{tmp_path}/{other}.npy" for name, other in (("te", "right"), ("fr", "wrong"))
    ]
    result = scored(tmp_path, "tatoeba", "--run", *pairs, "--languages", "te")
    assert result["metrics"]["accuracy"]["languages"] == {"te": 1.0}
    assert result["metrics"]["accuracy"]["average"] == 1.0
    with pytest.raises(SteleError, match="--languages: unknown language 'de'"):
        run("tatoeba", "--run", *pairs, "--languages", "te", "de")


def test_embeddings_of_english_with_itself_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(4, dtype=np.float32))
    with pytest.raises(SteleError, match=r"--run en=\.\.\.: en is the other side of every pair"):
        run("tatoeba", "--run", f"en={tmp_path}/x.npy,{tmp_path}/x.npy")


def test_a_record_cannot_name_vectors_or_runs_elsewhere(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2), dtype=np.float32))
    (tmp_path / "handed").mkdir()
    vectors = {"fr": {"queries": "../x.npy", "passages": "../x.npy"}}
    write_sealed(tmp_path / "handed/vectors.json", {"job": "encode", "vectors": vectors})
    with pytest.raises(SteleError, match=r"'\.\./x\.npy' could lead outside its folder"):
        run("tatoeba", "--run", str(tmp_path / "handed/vectors.json"))
    searches = {"../x": {"language": "fr", "pool": "fr"}}
    write_sealed(tmp_path / "handed/retrieval.json", {"job": "retrieve", "searches": searches})
    with pytest.raises(SteleError, match=r"'\.\./x\.trec\.gz' could lead outside its folder"):
        run("tatoeba", "--run", str(tmp_path / "handed/retrieval.json"))


def test_a_pair_without_english(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((12, 8)).astype(np.float32)
    np.save(tmp_path / "de.npy", vectors)
    np.save(tmp_path / "fr.npy", vectors + 0.01)
    result = scored(tmp_path, "xsa", "--run", f"de-fr={tmp_path / 'de.npy'},{tmp_path / 'fr.npy'}")
    assert result["metrics"]["p@1"]["languages"] == {"de-fr": 1.0}
    assert set(result["metrics"]) == {"p@1", "p_forward@1", "p_backward@1"}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), r"want arrays of one shape.* found \[3, 2\] and \[4, 2\]"),
        (np.ones((3, 2)), np.array([[1.0, 2], [np.nan, 1], [1, 1]]), r"row 1 \(from 0\) is not finite"),
        (np.ones((3, 2)), np.array([["a"]], dtype=object), "not a readable npy file"),
    ],
)
def test_embeddings_that_cannot_be_scored_are_refused(tmp_path, first, second, message):
    np.save(tmp_path / "x.npy", first)
    np.save(tmp_path / "y.npy", second, allow_pickle=True)
    with pytest.raises(SteleError, match=message):
        run("tatoeba", "--run", f"fr={tmp_path / 'x.npy'},{tmp_path / 'y.npy'}")
    with pytest.raises(SteleError, match="want a pair of embeddings"):
        run("tatoeba", "--run", f"fr={tmp_path / 'x.npy'}")

"""The command `answer`: the epoch of each pair by its dev questions; the same bytes after a kill."""

import csv
import json

import pytest
import torch
from made_questions import lives, record, squad, write_mlqa

from stele.answering.reading import reader
from stele.artifacts.records import content_digest, read_record
from stele.command.cli import main
from stele.errors import SteleError
from stele.training import callbacks
from tests.killing import kill_after, kill_at, killed


def epochs(folder) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "epochs.csv").read_text().splitlines()))


def answers(folder, pair: str) -> dict[str, str]:
    return json.loads((folder / f"answers/{pair}.json").read_text())


def test_what_it_has_learnt_it_answers_and_is_scored(answer, mlqa_record, tmp_path):
    """Trained on the very questions that it is asked, and some without an answer."""
    items = [lives(n, "train", answered=n not in (80, 81)) for n in (*range(60, 66), *range(70, 82))]
    training = record(tmp_path / "squad2", {"train-v2.0.json": squad(items)}, "known")
    folder = answer("a", training=training, epochs=40, batch=4)
    made = read_record(folder / "answers.json")
    assert made["labels"] == ["generated data", "stand-in checkpoint"] and not (tmp_path / "a/state").exists()
    assert made["training"]["questions"] == 18 and made["training"]["without_answer"] == 2
    assert made["answered"]["de-en"]["queries"] == 9 and made["answered"]["de-en"]["without_prediction"] == 0
    line = ["scoring", "score", "mlqa", "--run", str(folder / "answers.json"), "--data", f"mlqa:all={mlqa_record}"]
    assert main([*line, "--output", str(tmp_path / "score.json"), "--queries", str(tmp_path / "q.parquet")]) == 0
    result = json.loads((tmp_path / "score.json").read_text())
    assert result["metrics"]["f1_squad"]["n"] == {"en-en": 9, "de-en": 9}
    assert result["counts"]["missing_queries"] == 0 and result["counts"]["extra_queries"] == 0
    assert result["provenance"]["retrieval"] == content_digest(folder / "answers.json")
    assert result["metrics"]["f1_squad"]["average"] > 0.7


def test_the_epoch_of_each_pair_is_that_of_its_best_dev_f1(answer, tmp_path):
    """Pairs with other dev questions; the answers of a pair do not depend on which others there are."""
    data = write_mlqa(tmp_path / "mlqa")
    wrong = [{**lives(n, "dev"), "is_impossible": False} for n in range(60, 66)]
    for item in wrong:  # the dev answers of one pair are each paragraph's first word
        item["answers"] = [{"text": item["context"].split()[0], "answer_start": 0}]
    (data.parent / "dev/dev-context-en-question-de.json").write_bytes(squad(wrong, "1.0"))
    both = answer("both", data=data, epochs=6)
    rows = epochs(both)
    for pair in ("en-en", "de-en"):
        own = [row for row in rows if row["search"] == pair]
        assert [row["epoch"] for row in own] == [str(n) for n in range(1, 7)]
        best = max(own, key=lambda row: float(row["dev_f1"]))  # of equal ones the first
        assert [row for row in own if row["chosen"] == "1"] == [best]
        alone = answer(f"alone {pair}", data=data, epochs=6, languages=(pair,))
        assert answers(alone, pair) == answers(both, pair)
        cut = answer(f"cut {pair}", data=data, epochs=int(best["epoch"]), languages=(pair,))
        assert answers(cut, pair) == answers(both, pair), "nothing that comes after the chosen epoch counts"
    assert {row["epoch"] for row in epochs(answer("late", epochs=3, dev_from_epoch=3))} == {"3"}


@pytest.mark.parametrize("step", [1, 9])
def test_killed_and_run_again_it_ends_in_the_same_bytes(answer, tmp_path, step):
    """Killed after a step, and in the second epoch, before the state of that step is saved."""
    calm = answer("calm")
    killed(lambda: answer("rough"), kill_after(step))
    assert bool(list((tmp_path / "rough/state").rglob("training.pt"))) == (step > 1)
    assert bool(list((tmp_path / "rough/state").rglob("epoch1.safetensors"))) == (step > 1)
    assert not (tmp_path / "rough/out").exists()
    for state in (tmp_path / "rough/state").rglob("training.pt"):
        torch.save(torch.load(state) | {"spent": (2000.0, 1000.0)}, state)
    again = answer("rough")
    for name in ("answers/en-en.json", "answers/de-en.json", "epochs.csv"):
        assert (again / name).read_bytes() == (calm / name).read_bytes()
    record = read_record(again / "answers.json")
    assert record["content"] == read_record(calm / "answers.json")["content"]
    assert (record["wall_seconds"] > 2000) == (record["cpu_seconds"] > 1000) == (step > 1)


def test_killed_while_it_answers_it_trains_nothing_twice_that_was_saved(answer, tmp_path, monkeypatch):
    calm = answer("calm")

    killed(lambda: answer("rough"), kill_at(callbacks, "restore_epoch"))
    steps, original = [], reader.loss_of
    monkeypatch.setattr(reader, "loss_of", lambda *given: (steps.append(1), original(*given))[1])
    again = answer("rough")
    assert len(steps) == 1, "the last step, after which no state is saved"
    assert (again / "answers/de-en.json").read_bytes() == (calm / "answers/de-en.json").read_bytes()


def test_answers_off_their_span_are_left_out_of_training_and_counted(answer, tmp_path):
    items = [lives(n, "train") for n in range(12)]
    for place, item in ((2, items[3]), (-5, items[4]), (900, items[5])):
        item["answers"][0]["answer_start"] = place
    training = record(tmp_path / "squad2", {"train-v2.0.json": squad(items)}, "off")
    data = write_mlqa(tmp_path / "mlqa")
    off = [{**lives(n, "test"), "is_impossible": False} for n in range(70, 79)]
    off[0]["answers"][0]["answer_start"] += 1
    (data.parent / "test/test-context-en-question-en.json").write_bytes(squad(off, "1.0"))
    made = read_record(answer("a", training=training, data=data) / "answers.json")
    assert (made["training"]["questions"], made["training"]["answers_off_their_span"]) == (9, 3)
    assert made["answered"]["en-en"]["answers_off_their_span"] == 1
    assert made["answered"]["en-en"]["queries"] == 9, "its text is what counts there"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda items: items.append(items[0]), "question 'train0' appears twice"),
        (lambda items: items[1].update(context=" \n"), "paragraph 2: its context is empty"),
        (lambda items: items[1].update(answers=[]), "train1: has no answer, but is not marked `is_impossible`"),
        (lambda items: items[1].update(is_impossible=True), "train1: has answers, but is marked `is_impossible`"),
        (lambda items: items[1].update(is_impossible="no"), "'is_impossible' must be"),
        (lambda items: items[1]["answers"][0].pop("text"), "no field 'text'"),
        (lambda items: items.clear(), "no question to train on"),
    ],
)
def test_a_file_that_is_wrong_is_named_and_nothing_is_written(answer, tmp_path, changes, message):
    items = [lives(n, "train") for n in range(8)]
    changes(items)
    training = record(tmp_path / "squad2", {"train-v2.0.json": squad(items)}, "wrong")
    with pytest.raises(SteleError, match=message):
        answer("a", training=training)
    assert not (tmp_path / "a/out").exists()


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_split_without_questions_is_refused_before_the_training(answer, tmp_path, split):
    data = write_mlqa(tmp_path / "mlqa", (("en", "en"),))
    (data.parent / f"{split}/{split}-context-en-question-en.json").write_bytes(squad([], "1.0"))
    with pytest.raises(SteleError, match=f"en-en: found no {split} question in the data"):
        answer("a", languages=("en-en",), data=data)
    assert not list((tmp_path / "a").rglob("*.safetensors"))


def test_another_version_and_another_format_are_refused(answer, tmp_path):
    old = record(tmp_path / "old", {"train-v2.0.json": squad([lives(0, "train")], "1.1")}, "old")
    with pytest.raises(SteleError, match=r"train-v2.0.json: version '1.1', want 2"):
        answer("a", training=old)
    two = record(tmp_path / "two", {"train-v2.0.json": b"{}", "train-mine.json": b"{}"}, "two")
    with pytest.raises(
        SteleError, match=r"want one file train\*.json in SQuAD's format, found train-mine.json, train-v2"
    ):
        answer("b", training=two)
    with pytest.raises(SteleError, match=r"training set squad3 needs --training-data squad3=record\.json"):
        answer("d", training_set={"module": "squad2", "data": ["squad3"]})
    with pytest.raises(SteleError, match=r"no file dev-context-es-question-en\.json"):
        answer("e", languages=("en-es",), data=_without_dev(tmp_path))


def _without_dev(folder):
    return record(folder / "half", {"test-context-es-question-en.json": squad([lives(0, "t")], "1.0")}, "half")


def test_a_file_of_one_s_own_is_read_alike(answer, tmp_path):
    """Without a version, and called otherwise."""
    items = [lives(n, "train") for n in range(16)]
    own = record(tmp_path / "mine", {"train_questions.json": squad(items, None)}, "mine")
    assert read_record(answer("a", training=own, epochs=1) / "answers.json")["training"]["questions"] == 16


def test_a_recipe_that_cannot_be_is_refused(answer):
    for changes, message in [
        ({"question_length": 36}, "question_length: 36 leaves no room"),
        ({"dev_from_epoch": 3}, "dev_from_epoch: 3 is after the last of the 2 epochs"),
        ({"strid": 3}, "unknown key 'strid'; did you mean 'stride'"),
        ({"length": 65}, "length is 65, but the model has 64 positions"),
    ]:
        with pytest.raises(SteleError, match=message):
            answer("a", **changes)


def test_another_seed_is_another_fine_tuning(answer):
    one, same, other = (read_record(answer(str(n), seed=seed) / "answers.json") for n, seed in enumerate((0, 0, 1)))
    assert one["content"] == same["content"] != other["content"]

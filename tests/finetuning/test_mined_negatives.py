"""Fine-tuning with mined negatives: they take the place of the set's own, by question; what has none is counted."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tiny_runs import RECIPE, example, finetune

from stele.benchmarks.transfer_set import MinedNegatives, replaced
from stele.benchmarks.types import Passage, TrainingExample
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.training.curve import read_csv
from tests.sealed import write_sealed

MINED = {**RECIPE, "negatives": "mined", "steps": 4}


def write_mined(folder, collection: str, negatives: dict[str, list[tuple[str, str, str]]]):
    """The files of one collection: question -> its passages (id, title, text)."""
    folder.mkdir(parents=True, exist_ok=True)
    passages = list(dict.fromkeys(passage for listed in negatives.values() for passage in listed))
    columns = list(zip(*passages, strict=True)) or [[], [], []]
    text = pa.large_string()
    table = pa.table({name: pa.array(list(c), text) for name, c in zip(("id", "title", "text"), columns, strict=True)})
    pq.write_table(table, folder / f"{collection}.passages.parquet")
    lines = [[passages.index(passage) for passage in listed] for listed in negatives.values()]
    table = {"question": pa.array(list(negatives), text), "passages": pa.array(lines, pa.list_(pa.int32()))}
    pq.write_table(pa.table(table), folder / f"{collection}.questions.parquet")
    path = folder / "record.json"
    collections = json.loads(path.read_text())["pools"] if path.exists() else {}
    return write_sealed(path, {"job": "hard_negatives", "content": "m", "pools": {**collections, collection: {}}})


def example_of(query: str, language: str = "en") -> TrainingExample:
    return TrainingExample(query, [Passage("p", "", "right")], [Passage("n", "", "its own")], language)


def test_mined_negatives_are_joined_by_language_and_query(tmp_path):
    one, two = ("1", "T", "one"), ("2", "", "two")
    write_mined(tmp_path, "en", {"who": [two, one], "what": []})
    record = write_mined(tmp_path, "fi", {"who": [one]})
    counts: dict[str, int] = {}
    asked = [("who",), ("who", "fi"), ("what",), ("where",), ("who", "sw"), ("who ",)]
    questions = [example_of(*question) for question in asked]
    actual = list(replaced(questions, MinedNegatives(record), counts))
    assert [[p.id for p in e.negatives] for e in actual] == [["2", "1"], ["1"], [], [], [], []]
    assert actual[0].negatives[1] == Passage("1", "T", "one")
    assert [e._replace(negatives=[]) for e in actual] == [e._replace(negatives=[]) for e in questions]
    assert counts == {"without_mined_negatives": 4}


def test_those_of_other_questions_are_refused(tmp_path):
    mined = MinedNegatives(write_mined(tmp_path, "en", {"who": [("1", "", "one")]}))
    with pytest.raises(SteleError, match="no question has negatives in it"):
        list(replaced([example_of("when"), example_of("where")], mined, {}))
    (tmp_path / "x").mkdir()
    write_sealed(tmp_path / "x/record.json", {})
    with pytest.raises(SteleError, match="not a record of mined negatives"):
        MinedNegatives(tmp_path / "x/record.json")
    (tmp_path / "en.passages.parquet").write_bytes(b"no")
    with pytest.raises(SteleError, match=r"en\.passages\.parquet: not a readable Parquet file"):
        MinedNegatives(tmp_path / "record.json").of("en", "who")
    (tmp_path / "en.passages.parquet").unlink()
    with pytest.raises(SteleError, match=r"en\.passages\.parquet: no such file"):
        MinedNegatives(tmp_path / "record.json").of("en", "who")


def test_a_run_takes_them_up(base, data, tmp_path):
    collected = {}
    for i in range(39):  # the last of the 40 questions has none
        positive = example(i)["positives"][0]
        far = ("far", f"far {i}", "nothing of the kind")
        collected[example(i)["query"]] = [(f"copy {i}", positive["title"], positive["text"]), far]
    record = write_mined(tmp_path / "mined", "en", collected)
    made = finetune(base, data, tmp_path / "a", {**MINED, "dev_set": "jsonl", "evaluate_every": 2}, negatives=record)
    assert set(made["inputs"]) == {"encoder", "own:all", "negatives"}
    counts = made["examples"]
    assert counts["without_mined_negatives"] == counts["without_hard_negative"] == 1
    assert counts["negatives_that_are_positives"] == 39  # a copy of the positive is no negative of it
    assert counts["passages"] == 40 + 39
    assert made["dev_examples"]["passages"] == 10 * 3  # the dev set keeps its own
    other = write_mined(
        tmp_path / "other", "en", {q: [(n, t, f"{x} again") for n, t, x in p] for q, p in collected.items()}
    )
    assert finetune(base, data, tmp_path / "b", MINED, negatives=other)["content"] != made["content"]


def test_with_a_ratio_the_record_says_the_mean(base, data, tmp_path):
    made = finetune(base, data, tmp_path, {**RECIPE, "steps": 2, "hard_negative_ratio": 0.1})
    assert made["negatives_per_query"] == 7.8  # 8 positives, 8 x .1 hard ones, but for its own
    assert made["contrastive_group"] == {"queries": 8, "passages_at_most": 16}
    assert finetune(base, data, tmp_path / "x", {**RECIPE, "steps": 2})["negatives_per_query"] == 15


def test_the_temperature_divides_the_scores(base, data, tmp_path):
    """The first loss is that of the vectors themselves: the same texts, scores over .05 instead of 1."""
    recipe = {**RECIPE, "towers": "shared", "dropout": 0.0, "hard_negatives": 0}
    recipe |= {"batch": 40, "steps": 1, "temperature": 0.05}
    finetune(base, data, tmp_path, {**recipe, "learning_rate": 1e-9})
    (row,) = read_csv(tmp_path / "out/curve.csv")
    encoder, items = load_encoder(tmp_path / "out"), [example(i) for i in range(40)]
    queries = encoder.encode([item["query"].removesuffix("?") for item in items], "query").astype(np.float64)
    passages = encoder.encode([encoder.spec.passage(**item["positives"][0]) for item in items], "passage")
    scores = queries @ passages.T / 0.05
    losses = [np.log(np.exp(line - line[i]).sum()) for i, line in enumerate(scores)]
    assert row["nll"] == pytest.approx(np.mean(losses), rel=1e-3)


@pytest.mark.parametrize(
    ("recipe", "given", "message"), [(MINED, False, "needs --negatives"), (RECIPE, True, "no use for")]
)
def test_recipe_and_argument_must_agree(base, data, tmp_path, recipe, given, message):
    more = {"negatives": write_mined(tmp_path, "en", {"who": [("1", "", "one")]})} if given else {}
    with pytest.raises(SteleError, match=message):
        finetune(base, data, tmp_path, recipe, **more)

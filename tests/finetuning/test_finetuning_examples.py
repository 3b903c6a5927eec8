"""What a training set loses on the way in is counted; what is the same passage has one row."""

from pathlib import Path

import numpy as np
import pytest
from tiny_runs import training_example

from stele.benchmarks.types import Passage, TrainingExample
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.finetuning.dual_encoder.examples import load_examples, read_examples, save_examples
from stele.recipes.encoding import EncodingSpec

SPEC = EncodingSpec(pooling="cls", query_length=16, passage_length=24)


def p(text, title=""):
    return Passage("id", title, text)


@pytest.fixture(scope="module")
def tokenizer(base):
    return load_tokenizer(base)


def read(examples, tokenizer, spec=SPEC, strip=True):
    return read_examples(examples, tokenizer, spec, strip, "test")


def test_empty_texts_and_contradictions_are_left_out_and_counted(tokenizer):
    data = read(
        [
            TrainingExample("one?", [p("a"), p("  ")], [p("b"), p("a"), p("")], "en"),
            TrainingExample("  ", [p("a")], [], "en"),
            TrainingExample("?", [p("a")], [], "en"),
            TrainingExample("two", [p(" ")], [p("b")], "en"),
            TrainingExample("three", [p("b")], [p("b"), p("c"), p("c")], "en"),
            TrainingExample("four", [p("a", "title")], [], "en"),
        ],
        tokenizer,
    )
    assert data.counts == {
        "examples_read": 6,
        "examples": 3,
        "empty_queries": 2,
        "without_positive": 1,
        "empty_passages": 3,
        "negatives_that_are_positives": 2,
        "without_hard_negative": 1,
        "passages": 4,
    }
    # a and ("title", a) differ; b and c are one row each wherever they occur
    assert data.positives.tolist() == [0, 1, 3]
    assert [data.negatives_of(i).tolist() for i in range(3)] == [[1], [2], []]


@pytest.mark.parametrize(("how", "passages"), [("text", 2), ("title_text", 3), ("title_text_pair", 4)])
def test_a_passage_is_another_one_only_if_it_is_read_differently(tokenizer, how, passages):
    """As a hard negative, a copy of the positive under another title would push the positive away from itself."""
    example = TrainingExample("one", [p("a b", "t")], [p("a b", "u"), p("b", "t a"), p("b", "t  a")], "en")
    data = read([example], tokenizer, SPEC.model_copy(update={"passage_format": how}))
    assert len(data.passages.lengths) == data.counts["passages"] == passages
    assert data.counts["negatives_that_are_positives"] == {"text": 1, "title_text": 1, "title_text_pair": 0}[how]


def test_a_training_set_without_a_usable_example_is_an_error(tokenizer):
    with pytest.raises(SteleError, match="no usable example among 1"):
        read([TrainingExample("", [p("a")], [], "en")], tokenizer)


@pytest.mark.parametrize(("query", "stripped"), [("who?", "who"), ("who ?", "who"), ("who??", "who?"), ("who", "who")])
def test_a_query_loses_one_final_question_mark(tokenizer, query, stripped):
    def ids(text, strip):
        return read([TrainingExample(text, [p("a")], [], "")], tokenizer, strip=strip).queries.ids.tolist()

    assert ids(query, True) == ids(stripped, False)


def test_tokens_are_those_of_the_encoder(tokenizer, monkeypatch):
    monkeypatch.setattr("stele.finetuning.dual_encoder.examples.BLOCK", 3)  # several blocks
    texts = [f"alpha {'beta ' * i}" for i in range(1, 9)]
    data = read([TrainingExample(t, [p(t, "title")], [], "") for t in texts], tokenizer)
    for i, text in enumerate(texts):
        ids = data.passages.ids[data.passages.offsets[i] : data.passages.offsets[i + 1]]
        wanted = tokenizer("title", text.strip(), truncation="longest_first", max_length=24)["input_ids"]
        assert ids.tolist() == wanted
        ids = data.queries.ids[data.queries.offsets[i] : data.queries.offsets[i + 1]]
        assert ids.tolist() == tokenizer(text.strip(), truncation=True, max_length=16)["input_ids"]


@pytest.mark.parametrize("segments", [False, True])
def test_kept_and_read_again(tokenizer, tmp_path, segments):
    source = [training_example(i) for i in range(5)]
    data = read(source, tokenizer, SPEC.model_copy(update={"segments": segments}))
    save_examples(tmp_path / "kept", data)
    again = load_examples(tmp_path / "kept")
    assert again.counts == data.counts
    assert np.array_equal(again.negatives, data.negatives)
    assert np.array_equal(again.passages.ids, data.passages.ids)
    assert (again.passages.types is not None) == segments


@pytest.mark.parametrize("name", ["positives", "queries-offsets", "passages-ids"])
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:-3]), Path.unlink])
def test_damage_of_what_was_kept_is_named(tokenizer, tmp_path, name, damage):
    save_examples(tmp_path / "kept", read([training_example(i) for i in range(5)], tokenizer))
    damage(tmp_path / f"kept/{name}.npy")
    with pytest.raises(SteleError, match=rf"{name}\.npy: .*; remove .*kept and run again"):
        load_examples(tmp_path / "kept")

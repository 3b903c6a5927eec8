"""XOR-Retrieve's and DPR's answer rules, by worked cases that tell plausible wrong readings apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from stele.benchmarks.types import Search
from stele.errors import SteleError
from stele.scoring.case import Case
from stele.scoring.metrics.r import tokens
from stele.scoring.punkt import FILES, word_tokenizer
from stele.scoring.score import evaluator


@pytest.fixture
def punkt(tmp_path):
    """A small Punkt model: it knows "dr" and nothing else."""
    folder = tmp_path / "english"
    folder.mkdir()
    for name, text in zip(FILES, ("dr\n", "", "", "smith\t4\n"), strict=True):
        (folder / name).write_text(text)
    return {"nltk_punkt": {"all": tmp_path}}


def score(metric: str, texts: dict[str, str], ranked, answers, data=None) -> list[float]:
    benchmark = SimpleNamespace(texts=lambda data, pool, ids: {name: texts[name] for name in ids})
    searches = [Search("ar", "ar", "en")] * len(ranked)
    case = Case(benchmark, data or {}, searches, [str(i) for i in range(len(ranked))], ranked, [], answers)
    return evaluator(metric)(case).tolist()


# --- XOR-Retrieve ---
def test_xor_cuts_at_exactly_n_thousand_tokens(punkt):
    texts = {"a": "w " * 1998 + "red", "b": "blue green"}
    found = score("r@2kt", texts, [["a", "b"]] * 3, [["red blue"], ["green"], ["blue"]], punkt)
    # tokens 1,999 and 2,000 are "red" and "blue": an answer may span passages; "green" is token 2,001
    assert found == [1.0, 0.0, 1.0]
    assert score("r@5kt", texts, [["a", "b"]], [["green"]], punkt) == [1.0]


def test_xor_stops_after_the_passage_that_reaches_the_limit(punkt):
    texts = {"a": "w " * 2000, "b": "blue"}
    assert score("r@2kt", texts, [["a", "b"]], [["blue"]], punkt) == [0.0]


def test_xor_follows_the_ranking(punkt):
    texts = {"a": "w " * 2000, "b": "blue"}
    assert score("r@2kt", texts, [["b", "a"]], [["blue"]], punkt) == [1.0]


@pytest.mark.parametrize(
    ("text", "answer", "hit"),
    [
        ("in Moscow, Russia", "Moscow, Russia", 0.0),  # the text becomes "Moscow , Russia", the answer stays
        ("in Moscow now", "Mosc", 1.0),  # a substring, not whole words
        ("in Moscow now", "moscow", 0.0),  # case counts
        ("Müller", "Mu\u0308ller", 0.0),  # no Unicode normalisation
        ("the year 1914.", "1914", 1.0),
        ("anything", "", 1.0),
        ("born 28 July", "28 July", 1.0),
    ],
)
def test_xor_searches_the_raw_answer_in_tokenised_text(punkt, text, answer, hit):
    assert score("r@2kt", {"a": text}, [["a"]], [[answer]], punkt) == [hit]


def test_xor_leaves_out_yes_and_no_and_counts_a_missing_question_as_0(punkt):
    given = [["yes"], ["no", "yes"], ["Yes"], ["yes", "tea"], ["tea"]]
    found = score("r@2kt", {"a": "Yes tea"}, [["a"]] * 4 + [[]], given, punkt)
    np.testing.assert_equal(found, [np.nan, np.nan, 1.0, 1.0, 0.0])


def test_xor_sentences_are_split_with_the_given_model(punkt):
    tokenize = word_tokenizer(punkt["nltk_punkt"]["all"] / "english")
    # "Dr." is an abbreviation of the model, so only the last full stop is cut off as a token of its own
    assert tokenize("He met Dr. Smith. Who left.") == ["He", "met", "Dr.", "Smith", ".", "Who", "left", "."]


def test_xor_without_the_punkt_model_is_an_error_and_not_another_tokenizer(punkt):
    with pytest.raises(SteleError, match="Punkt model; pass --data nltk_punkt:all"):
        score("r@2kt", {"a": "x"}, [["a"]], [["x"]])
    (punkt["nltk_punkt"]["all"] / "english/ortho_context.tab").unlink()
    with pytest.raises(SteleError, match=r"no ortho_context\.tab"):
        score("r@2kt", {"a": "x"}, [["a"]], [["x"]], punkt)


def test_a_damaged_punkt_model_is_an_error(punkt):
    (punkt["nltk_punkt"]["all"] / "english/ortho_context.tab").write_text("word\tmany\n")
    with pytest.raises(SteleError, match=r"ortho_context\.tab: not a file of a Punkt model"):
        score("r@2kt", {"a": "x"}, [["a"]], [["x"]], punkt)


def test_xor_tokens_are_those_of_nltk_word_tokenize(real_data, monkeypatch, tmp_path):
    import shutil

    import nltk

    shutil.copytree(real_data / "nltk_punkt_tab", tmp_path / "tokenizers/punkt_tab")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    ours = word_tokenizer(real_data / "nltk_punkt_tab/english")
    for text in (
        "Dr. Smith (b. 1901) didn't go to Washington, D.C. He said: \"It's $3.50—cheap!\" etc. and left...",
        "The U.S. Navy won. in 1914, ca. 40% of gov't. funds were 'lost'.",
        "東京は日本の首都です。 Ağrı's 5 km² area; e.g. the A.B.C. group, Inc. was founded.",
    ):
        assert ours(text) == nltk.word_tokenize(text)


# --- NQ ---
@pytest.mark.parametrize(
    ("text", "answer", "hit"),
    [
        ("He lives in New York City.", "new york", 1.0),  # case does not count
        ("the Yorkshire moors", "york", 0.0),  # whole tokens
        ("a 1,000 m race", "1,000", 1.0),  # "1" "," "000" on both sides
        ("it is 1000 m", "1,000", 0.0),
        ("Müller", "Mu\u0308ller", 1.0),  # NFD on both sides
        ("York New", "new york", 0.0),  # order counts
        ("anything", "", 1.0),
        ("東京都に", "東京", 0.0),  # an unspaced run is one token
        ("x\u200by", "xy", 0.0),  # a format character ends a token
    ],
)
def test_nq_holds_an_answer_as_a_sequence_of_tokens(text, answer, hit):
    assert score("r@5", {"a": text}, [["a"]], [[answer]]) == [hit]


def test_nq_cuts_count_ranks_and_every_question_counts():
    texts = {f"x{i}": "nothing" for i in range(30)} | {"hit": "Paris"}
    ranked = [[f"x{i}" for i in range(5)] + ["hit"], ["hit"], []]
    answers = [["Rome", "Paris"]] * 3
    assert score("r@5", texts, ranked, answers) == [0.0, 1.0, 0.0]
    assert score("r@20", texts, ranked, answers) == [1.0, 1.0, 0.0]


def test_dpr_tokens():
    assert tokens("L'été 2020: 3.5%") == ["l", "'", "e\u0301te\u0301", "2020", ":", "3", ".", "5", "%"]


def test_unknown_metrics_name_the_nearest():
    with pytest.raises(SteleError, match=r"unknown metric 'mmr'; did you mean 'mrr'"):
        evaluator("mmr@100")
    with pytest.raises(SteleError, match="after @ comes a number"):
        evaluator("mrr@many")

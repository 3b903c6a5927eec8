"""MLQA's F1 and exact match by language, and SQuAD's, by worked cases; expected values worked by hand."""

import pytest

from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.evaluate import evaluate
from stele.evaluation.metrics import load_metric
from tests.evaluation.cases import case_of, score

METRICS = ("f1", "exact_match", "f1_squad", "exact_match_squad")
ENGLISH = QuerySet("en", "en", "en")
GERMAN_TO_ENGLISH = QuerySet("de-en", "de-en", "en")  # questions in German, paragraphs in English


def scores(language: str, prediction: str | None, *answers: str) -> tuple[float, ...]:
    """(F1, EM) by MLQA and (F1, EM) by SQuAD of one prediction."""
    given = {
        "query_sets": [QuerySet(language, language, language)],
        "predictions": [prediction],
        "answers": [list(answers)],
    }
    return tuple(score(metric, **given)[0] for metric in METRICS)


@pytest.mark.parametrize(
    ("language", "prediction", "answer", "f1", "exact", "f1_squad", "exact_squad"),
    [
        # English: the two agree
        ("en", "The Eiffel Tower!", "eiffel tower", 1, 1, 1, 1),
        ("en", "a big Eiffel Tower", "the Eiffel Tower", 4 / 5, 0, 4 / 5, 0),  # 2 of 3, 2 of 2
        ("en", "no no yes", "no no", 4 / 5, 0, 4 / 5, 0),  # bags: "no" is shared twice
        ("en", "no no yes", "no yes yes", 2 / 3, 0, 2 / 3, 0),  # "no" and "yes" once each
        ("en", "theatre", "atre", 0, 0, 0, 0),  # an article is a whole word
        ("en", "U.S.", "us", 1, 1, 1, 1),  # punctuation leaves no gap
        # but for Unicode's punctuation
        ("en", "“Hamlet”", "Hamlet", 1, 1, 0, 0),
        ("en", "1914–1918", "19141918", 1, 1, 0, 0),
        # "$" is ASCII's, so it goes; "€" is a symbol of Unicode's and stays
        ("en", "$5", "5", 1, 1, 1, 1),
        ("en", "€5", "5", 0, 0, 0, 0),
        # articles of other languages
        ("es", "La casa", "casa", 1, 1, 2 / 3, 0),
        ("es", "a casa", "casa", 2 / 3, 0, 1, 1),  # "a" is an article in English alone
        ("de", "dem Haus", "das Haus", 1, 1, 1 / 2, 0),
        ("vi", "của nhà", "những nhà", 1, 1, 1 / 2, 0),
        ("vi", "cái  gì", "cái", 0, 0, 2 / 3, 0),  # by MLQA the answer has no token left
        ("hi", "एक घर", "घर", 2 / 3, 0, 2 / 3, 0),  # Hindi has none
        ("hi", "घर।", "घर", 1, 1, 0, 0),  # the danda is punctuation
        # Arabic: every "ال" becomes a blank, in the middle of a word too: "خالد" is "خ" and "د"
        ("ar", "الكتاب", "كتاب", 1, 1, 0, 0),
        ("ar", "خالد", "خ د", 1, 1, 0, 0),
        ("ar", "خالد بن الوليد", "خالد", 2 * (2 / 4) * (2 / 2) / (2 / 4 + 2 / 2), 0, 1 / 2, 0),  # 2 of خ د بن وليد
        # Chinese: each character is a token, other scripts are not cut
        ("zh", "中国人", "中国", 4 / 5, 0, 0, 0),
        ("zh", "1914年", "1914 年", 1, 1, 0, 0),
        ("zh", "在 iPhone上", "iPhone", 1 / 2, 0, 0, 0),  # "在" "iphone" "上"
        ("zh", "《红楼梦》", "红楼梦", 1, 1, 0, 0),
        ("zh", "㐀㐁", "㐀", 0, 0, 0, 0),  # outside U+4E00 to U+9FA5: one token
        ("zh", "龥b", "龥 b", 1, 1, 0, 0),  # U+9FA5 is the last
        ("zh", "龦b", "龦 b", 0, 0, 0, 0),
        ("zh", "“OK!”，ok", "okok", 1, 1, 0, 0),  # punctuation goes before the text is split
        ("en", "  The U.S.A.\u00a0and\tan\napple ", "usa and apple", 1, 1, 1, 1),
        # nothing left on both sides: the same, but no overlap in MLQA
        ("en", "the", "!", 0, 1, 1, 1),
        ("en", "", "Paris", 0, 0, 0, 0),
    ],
)
def test_a_prediction_and_an_answer(language, prediction, answer, f1, exact, f1_squad, exact_squad):
    assert scores(language, prediction, answer) == pytest.approx((f1, exact, f1_squad, exact_squad))


def test_the_language_is_that_of_the_answer():
    """The same two texts: "el" is an article in Spanish alone."""
    assert [scores(language, "el mar", "mar")[1] for language in ("es", "en", "de")] == [1, 0, 0]
    given = {"predictions": ["the sea", "das sea"], "answers": [["sea"]] * 2, "query_sets": [GERMAN_TO_ENGLISH] * 2}
    assert score("exact_match", **given) == [1, 0]  # not by the question's language


def test_the_best_of_several_answers_counts():
    assert scores("en", "Paris, France", "Lyon", "Paris", "in Paris, France") == pytest.approx((4 / 5, 0, 4 / 5, 0))


@pytest.mark.parametrize("metric", METRICS)
def test_a_question_without_a_prediction_scores_0_and_counts(metric):
    given = {"predictions": ["Paris", None, ""], "answers": [["Paris"]] * 3, "query_sets": [GERMAN_TO_ENGLISH] * 3}
    assert score(metric, **given) == [1.0, 0.0, 0.0]
    actual = evaluate(case_of(**given), {metric: load_metric(metric)}, "macro").metrics[metric]
    assert actual["languages"] == {"de-en": pytest.approx(1 / 3)}  # not 1 / 2, over what was predicted


def test_no_prediction_is_not_an_empty_one():
    """By SQuAD a question whose answers have no token is answered by nothing, if something was predicted at all."""
    assert scores("en", None, "the") == (0, 0, 0, 0)
    assert scores("en", "", "the") == (0, 1, 1, 1)


def test_squad_leaves_out_answers_without_a_token():
    assert scores("en", "the", "a", "Paris") == (0, 1, 0, 0)  # MLQA's script compares with every answer


def test_a_language_that_mlqa_does_not_have_is_refused_by_its_own_rules_alone():
    given = {"query_sets": [QuerySet("fr", "fr", "fr")], "predictions": [None], "answers": [["Paris"]]}
    for metric in ("f1", "exact_match"):
        with pytest.raises(SteleError, match=r"unknown MLQA answer language 'fr'.* Valid: ar, de, en, es, hi, vi, zh"):
            score(metric, **given)
    assert score("f1_squad", **given) == [0.0]


def test_a_question_without_a_gold_answer_is_refused():
    with pytest.raises(SteleError, match="question '1' has no gold answer"):
        score("f1", predictions=["x", "x"], answers=[["x"], []], query_sets=[GERMAN_TO_ENGLISH] * 2)


@pytest.mark.parametrize("metric", METRICS)
def test_a_guess_is_what_the_answers_to_other_questions_score(metric):
    """By hand: each other answer is tried; "x" is right for two of six questions, so for two of a stranger's five."""
    answers = [["x"], ["x"], ["u"], ["v"], ["w"], ["y"]]
    case = case_of(query_sets=[ENGLISH] * 6, predictions=["x", "u", "x", None, "z", "q"], answers=answers)
    assert load_metric(metric).guess(case).tolist() == pytest.approx([1 / 5, 2 / 5, 1 / 5, 0, 0, 0])
    guess = evaluate(case, {metric: load_metric(metric)}, "macro").metrics[metric]["guess"]
    assert guess["languages"]["en"] == pytest.approx(0.8 / 6)


def test_answers_of_each_query_set_are_guesses_of_it_alone_and_one_question_has_none():
    first, second, third = (QuerySet(name, name, "en") for name in ("a", "b", "c"))
    case = case_of(
        query_sets=[first, first, second, second, third],
        predictions=["x", "y", "u", "v", "x"],
        answers=[["y"], ["x"], ["x"], ["v"], ["x"]],
    )
    assert load_metric("exact_match").guess(case)[:4].tolist() == [1, 1, 0, 0]
    guess = evaluate(case, {"f1": load_metric("f1")}, "macro").metrics["f1"]["guess"]
    assert guess["languages"] == {"a": 1.0, "b": 0.0}

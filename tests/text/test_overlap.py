"""Texts that stand in others: hand-worked cases of exact and near matches."""

import pytest

from stele.text.overlap import find_overlaps

PASSAGE = (
    "The river rises in the hills of the north, runs past nine towns and eleven mills, turns west below the old "
    "bridge, and after two hundred miles it reaches the cold sea beside a harbour of ice."
)
WORDS = PASSAGE.split()


def planted(text):
    return [
        ("other", ["Nothing of it is here, but some other words stand in place of it."]),
        ("doc", ["Before.", text, "After."]),
    ]


@pytest.mark.parametrize(
    ("there", "exact", "share"),
    [
        (PASSAGE, True, 1.0),
        (PASSAGE.upper().replace(",", " ;"), True, 1.0),  # neither case nor punctuation matter
        (f"It is said: {PASSAGE} So they say.", True, 1.0),
        (PASSAGE.replace("rr", "r\u00adr").replace("d ", "d\u200f ").replace("th", "\u200bt\u200ch"), True, 1.0),
        (" ".join([*WORDS[:3], "wide", *WORDS[3:]]), False, 4 / 5),  # one word more: the first stretch of five is gone
        (" ".join(WORDS[:24]), False, 3 / 5),
        (" ".join(WORDS[:16]), None, None),  # two of five
        (" ".join(WORDS[::-1]), None, None),
    ],
)
def test_a_planted_passage_is_found(there, exact, share):
    assert len(WORDS) == 37  # stretches at 0, 8, 16, 24 and 29
    overlaps, too_short = find_overlaps(
        ["Something else that is long enough to be looked for at all.", PASSAGE], planted(there)
    )
    assert too_short == 0
    if exact is None:
        assert not overlaps
    else:
        assert [*overlaps] == [1] and overlaps[1] == ("doc", share, exact)


def test_stretches_out_of_place_are_no_exact_match():
    first, second = ["a", "b", "c", "d", "e", "f", "g", "h"], ["i", "j", "k", "l", "m", "n", "o", "p"]
    text, moved = " ".join([*first, *second]), ("doc", [" ".join([*second, "and", *first])])
    overlaps, _ = find_overlaps([text], [moved])
    assert overlaps[0] == ("doc", 1.0, False)
    overlaps, _ = find_overlaps([text], [moved, ("whole", [text]), moved])
    assert overlaps[0] == ("whole", 1.0, True), "of documents with as many stretches the one that has them in place"


def test_a_passage_may_run_over_sentences_and_a_short_text_must_be_one():
    sentences = ["Viens divi trīs četri.", "Pieci seši septiņi astoņi deviņi.", "Ko tu dari?"]
    overlaps, too_short = find_overlaps(
        ["četri pieci seši septiņi astoņi deviņi ko tu", "ko tu dari", "viens divi trīs", "ko tu"], [("d", sentences)]
    )
    assert overlaps == {0: ("d", 1.0, True), 1: ("d", 1.0, True)} and too_short == 1


def test_scripts_without_spaces_are_compared_by_characters():
    text = "東京は日本の首都であり世界最大の都市の一つである"
    overlaps, _ = find_overlaps([text], [("a", [f"知られている。{text}。"]), ("b", [text[:12]])])
    assert overlaps[0] == ("a", 1.0, True)


def test_the_best_document_is_named():
    overlaps, _ = find_overlaps(
        [PASSAGE], [("half", [" ".join(WORDS[:24])]), ("whole", [PASSAGE]), ("half", [PASSAGE[:120]])]
    )
    assert overlaps[0].document == "whole" and overlaps[0].exact

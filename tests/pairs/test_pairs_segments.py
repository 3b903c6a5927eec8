"""Passages: whole sentences of one section, up to so many words; what a word is in scripts without spaces."""

import pytest

from stele.pairs.mining.segments import Page, join, passages, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One two, three.", 3),
        ("Ōne — two", 3),  # white space separates words, whatever they are
        ("東京は日本の首都である。", 6),  # eleven letters, a full stop
        ("東京", 1),
        ("東", 1),
        ("ソニーは1946年に設立", 5),  # eight letters, and what stands between them is a word more
        ("กรุงเทพ", 3),  # five letters and two marks
        ("ภาษา ไทย", 4),
        ("한국어 문장입니다.", 2),  # Korean separates words
        ("Привет, мир", 2),
    ],
)
def test_words_of_every_script_are_counted(text, count):
    assert words(text) == count


def test_sentences_are_joined_as_the_script_has_it():
    assert join(["Ā b.", "C d."]) == "Ā b. C d."
    assert join(["東京。", "日本。"]) == "東京。日本。"
    assert join(["他说：“好。”", "走了……", "“是。”"]) == "他说：“好。”走了……“是。”"
    assert join(["“Ā b.”", "東京。", "Tokyo."]) == "“Ā b.” 東京。Tokyo."
    assert join(["Tokyo.", "東京。"]) == "Tokyo. 東京。"
    assert join(["กทม", "ไทย"]) == "กทม ไทย"  # a space ends a Thai phrase
    assert join(["한국.", "서울."]) == "한국. 서울."


@pytest.mark.parametrize(
    ("lengths", "sections", "bounds"),
    [
        ([3, 3, 3], [], [0, 2, 3]),
        ([3, 3, 3], [1], [0, 1, 3]),  # never across sections, though they would fit
        ([3, 3, 3], [0, 1, 1, 2], [0, 1, 2, 3]),  # a section without text begins where the next one does
        ([9, 1, 1], [], [0, 1, 3]),  # longer than a passage: one of its own
        ([1, 9, 1], [], [0, 1, 2, 3]),
        ([6], [], [0, 1]),
        ([5, 1, 6, 1], [], [0, 2, 3, 4]),
    ],
)
def test_passages_by_hand(lengths, sections, bounds):
    assert passages([" ".join("w" * n) for n in lengths], sections, 6) == bounds


def test_passages_of_a_page_are_whole_sentences_of_one_section():
    page = Page(["A b.", "C.", "D e f g.", "H."], [3], 3, seed=(1, 0, 7))
    assert [page.passage(n) for n in range(5)] == ["A b. C.", "D e f g.", "H.", None, None]
    assert [page.passage_of(n) for n in range(4)] == ["A b. C.", "A b. C.", "D e f g.", "H."]
    assert page.size == 3 and sorted(page.shuffled) == [0, 1, 2]
    orders = {tuple(Page(page.sentences, [3], 3, seed=(1, 0, n)).shuffled) for n in range(30)}
    assert len(orders) == 6 and tuple(Page(page.sentences, [3], 3, seed=(1, 0, 7)).shuffled) == tuple(page.shuffled)

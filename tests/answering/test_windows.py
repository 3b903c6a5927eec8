"""Windows: every token is in one, and the characters of a token are what stands in the paragraph."""

import unicodedata

import numpy as np
import pytest
from made_questions import asked, recipe
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from stele.answering.reading.windows import NO_ANSWER, answer_tokens, cuts, labels, make_windows, marks
from stele.benchmarks.squad import span_questions
from stele.errors import SteleError


@pytest.mark.parametrize("tokens", [1, 8, 9, 10, 23, 40])
@pytest.mark.parametrize("stride", [1, 3, 9])
def test_pieces_cover_a_paragraph_and_none_is_for_nothing(tokens, stride):
    pieces = cuts(tokens, 9, stride)
    assert {place for start, end in pieces for place in range(start, end)} == set(range(tokens))
    assert all(end - start <= 9 for start, end in pieces)
    assert len({end for _, end in pieces}) == len(pieces), "a piece that ends where another does says nothing new"


@pytest.mark.parametrize("kind", ["uncased", "subwords"])
def test_windows_are_the_tokenizer_s_own_pairs(kind, request):
    tokenizer = request.getfixturevalue(kind)
    item = asked("the river nile flows through uganda", text="who wrote the novel")
    windows = make_windows(tokenizer, [item], recipe(length=64, question_length=40, stride=9), segments=True)
    whole = tokenizer.backend_tokenizer.encode(item.question, item.context)
    assert windows.tokens.ids.tolist() == whole.ids and windows.tokens.types.tolist() == whole.type_ids
    assert whole.sequence_ids.index(1) == windows.first[0]
    assert marks(tokenizer).number == len(whole.ids) - sum(n is not None for n in whole.sequence_ids)


@pytest.mark.parametrize("kind", ["uncased", "subwords"])
def test_every_window_holds_question_and_piece(kind, request):
    tokenizer, item = request.getfixturevalue(kind), asked("the river nile flows through uganda and egypt " * 4)
    windows = make_windows(tokenizer, [asked("a b"), item], recipe(length=20), segments=False)
    assert windows.tokens.types is None and (windows.tokens.lengths <= 20).all() and len(windows) > 3
    backend = tokenizer.backend_tokenizer
    words, paragraph = (backend.encode(text, add_special_tokens=False) for text in (item.question, item.context))
    offset = len(backend.encode("a b", add_special_tokens=False))
    covered = set()
    for window in np.flatnonzero(windows.question == 1):
        own = windows.tokens.ids[slice(*windows.tokens.offsets[window : window + 2])]
        start, end = windows.pieces[window] - offset
        assert own[windows.first[window] :][: end - start].tolist() == paragraph.ids[start:end]
        assert own[1 : 1 + min(len(words), 4)].tolist() == words.ids[:4]
        covered |= set(range(start, end))
    assert covered == set(range(len(paragraph)))


TEXTS = [
    "İstanbul'da yaşıyor, IŞIK nerede?",
    "Éric à l’École, naïve coöperation",
    "cafe\u0301 au lait, A\u030angstro\u0308m",
    "東京は日本の首都  です",
    "das Haus ist groß — GROẞ",
    "  blanks \t and\u00a0more  ",
]


@pytest.mark.parametrize("kind", ["uncased", "subwords"])
@pytest.mark.parametrize("text", TEXTS)
def test_spans_are_characters_of_the_text_as_it_is_written(kind, text, request):
    """Every visible character that a tokenizer keeps is of a token, and no span has blanks at its ends."""
    tokenizer = request.getfixturevalue(kind)
    windows = make_windows(tokenizer, [asked(text)], recipe(length=60), segments=False)
    spans = windows.spans.tolist()
    assert all(text[a:b] == text[a:b].strip() for a, b in spans) and windows.spans.max() <= len(text)
    covered = {place for a, b in spans for place in range(a, b)}
    assert {text[n] for n in range(len(text)) if n not in covered} <= {" ", "\t", "\u00a0"}
    if kind == "uncased":  # what a token is, is its characters in lower case without accents
        pieces = tokenizer.convert_ids_to_tokens(windows.tokens.ids[windows.first[0] : -1])
        for piece, (a, b) in zip(pieces, spans, strict=True):
            letters = unicodedata.normalize("NFD", text[a:b].lower())
            stripped = "".join(c for c in letters if unicodedata.category(c) != "Mn")
            assert piece == "[UNK]" or stripped == piece.removeprefix("##"), (piece, text[a:b])


@pytest.mark.parametrize("kind", ["uncased", "subwords"])
@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("Eskiden İstanbul'da yaşıyor", "İstanbul"),
        ("au café, cafe\u0301 noir", "cafe\u0301"),
        ("IŞIK İİİ yaz", "yaz"),
        ("首都 は 東京 です", "東京"),
        ("in GROẞ und groß .", "groß"),
        ("one  two , three", " two "),
    ],
)
def test_a_gold_answer_comes_back_from_its_tokens(kind, context, answer, request):
    item = asked(context, answer)
    windows = make_windows(request.getfixturevalue(kind), [item], recipe(length=60), segments=False)
    first, last = answer_tokens(windows.spans, item)
    text = context[windows.spans[first, 0] : windows.spans[last, 1]]
    assert answer.strip() in text
    if kind == "uncased":  # characters are tokens of their own
        assert text == answer.strip()


def test_an_answer_is_marked_in_the_windows_that_hold_it_whole(uncased):
    context = "a b c d e f g h i j k l m n o p"
    item = asked(context, "g h i")  # tokens 6 to 8
    items = [item, asked(context, None, name="none")]
    windows = make_windows(uncased, items, recipe(length=13), segments=True)
    # [CLS] where ? [SEP] and 8 tokens: 0-7, 5-12, 10-15
    assert (windows.pieces[:3] - windows.pieces[0, 0]).tolist() == [[0, 8], [5, 13], [10, 16]]
    marked = labels(windows)
    assert marked.starts.tolist() == [NO_ANSWER, 4 + 1, NO_ANSWER] + [NO_ANSWER] * 3
    assert marked.ends.tolist() == [NO_ANSWER, 4 + 3, NO_ANSWER] + [NO_ANSWER] * 3
    assert (marked.no_token, marked.no_window) == (0, 0)


def test_an_answer_that_is_nothing_to_the_tokenizer_is_left_out_and_counted(uncased):
    items = [asked("a \u200b b", "\u200b"), asked("a b", "b")]
    windows = make_windows(uncased, items, recipe(), segments=True)
    marked = labels(windows)
    assert marked.no_token == 1 and windows.question[marked.rows].tolist() == [1]


def test_steps_wider_than_a_window_leave_gaps(uncased):
    """As in the authors' code; an answer in a gap is in no window."""
    item = asked("a b c d e f g h i j k l", "k")
    marked = labels(make_windows(uncased, [item], recipe(length=13, stride=13), segments=True))
    assert marked.no_window == 1


def test_a_tokenizer_without_marks_is_refused():
    bare = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, "a")), pad_token="a")
    with pytest.raises(SteleError, match="adds no token before a text pair"):
        marks(bare)


@pytest.mark.parametrize("kind", ["uncased", "subwords"])
@pytest.mark.parametrize("language", ["ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"])
def test_answers_of_real_paragraphs_come_back(kind, language, request, real_data):
    """XQuAD-R, which is in SQuAD's format: 1,190 questions a language."""
    items = list(span_questions(real_data / f"lareqa_xquad_r/xquad-r/{language}.json"))
    assert len(items) == 1190 and all(item.stands(item.answers[0]) for item in items)
    tokenizer = request.getfixturevalue(kind)
    windows = make_windows(tokenizer, items, recipe(length=64, question_length=20, stride=24), segments=True)
    assert labels(windows).no_token == 0 and set(windows.question) == set(range(1190))
    for item, (first, last) in zip(items, windows.answers.tolist(), strict=True):
        assert item.answers[0].text.strip() in item.context[windows.spans[first, 0] : windows.spans[last, 1]]

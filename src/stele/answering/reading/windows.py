"""Windows of a question and a piece of its paragraph: the model's input as token ids, and each token's characters.

A window is the tokenizer's own pair of a question and a piece of the paragraph; the pieces begin `stride` tokens apart.
Spans are characters of the original paragraph: an answer is cut from the text, never put together from tokens.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from stele.benchmarks.types import SpanQuestion
from stele.encoders.tokens import Tokens, encode_uncut
from stele.errors import SteleError
from stele.recipes.finetuning import AnsweringRecipe

NO_ANSWER = 0  # the place of [CLS], the label of a window without the answer (BERT's code for SQuAD v2.0)
BLOCK = 8_192  # texts tokenised at a time


class Windows(NamedTuple):
    """The w windows of a list of questions.

    questions  the questions
    tokens     their ids, [CLS] at the start of each
    question   int64 [w], the number of each window's question, in order
    first      int64 [w], the place in the window at which the piece of the paragraph begins
    pieces     int64 [w, 2], the piece as a range of `spans`
    spans      int32 [s, 2], character range of each token of all paragraphs in turn, without blanks at the ends
    answers    int64 [questions, 2], first and last index into `spans` of a question's first answer; -1 for none
    """

    questions: Sequence[SpanQuestion]
    tokens: Tokens
    question: np.ndarray
    first: np.ndarray
    pieces: np.ndarray
    spans: np.ndarray
    answers: np.ndarray

    def __len__(self) -> int:
        return len(self.question)

    def spans_of(self, window: int) -> np.ndarray:
        """Character ranges of a window's paragraph tokens, int32 [t, 2]."""
        return self.spans[slice(*self.pieces[window])]


class Marks(NamedTuple):
    """Special tokens before, between and after two texts, as (ids, token types), and the texts' token types."""

    before: tuple[list[int], list[int]]
    between: tuple[list[int], list[int]]
    after: tuple[list[int], list[int]]
    types: tuple[int, int]

    @property
    def number(self) -> int:
        return sum(len(ids) for ids, _ in self[:3])


def marks(tokenizer) -> Marks:
    """Finds the special tokens that a tokenizer puts around a pair of texts.

    Raises SteleError if it puts none before the first text.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    pair = backend.encode("a", "a", add_special_tokens=True)
    texts = pair.sequence_ids
    first = [place for place, text in enumerate(texts) if text == 0]
    second = [place for place, text in enumerate(texts) if text == 1]
    if not (first and second and first[0] > 0):
        raise SteleError("the tokenizer adds no token before a text pair to mark a missing answer; use another one")
    cuts = [(0, first[0]), (first[-1] + 1, second[0]), (second[-1] + 1, len(texts))]
    places = ((pair.ids[a:b], pair.type_ids[a:b]) for a, b in cuts)
    return Marks(*places, (pair.type_ids[first[0]], pair.type_ids[second[0]]))


def make_windows(tokenizer, questions: Sequence[SpanQuestion], recipe: AnsweringRecipe, segments: bool) -> Windows:
    """Makes the windows of all questions, in their order; each paragraph is tokenised once.

    `segments` says whether the model has token types. A question on a paragraph without tokens has no window. Raises
    SteleError if a question leaves no room for its paragraph.
    """
    around = marks(tokenizer)
    contexts = {text: number for number, text in enumerate(dict.fromkeys(item.context for item in questions))}
    paragraphs = [(encoding.ids, _spans(encoding, text)) for text, encoding in _encoded(tokenizer, list(contexts))]
    starts = np.cumsum([0, *(len(ids) for ids, _ in paragraphs)])
    question_ids = (encoding.ids for _, encoding in _encoded(tokenizer, [item.question for item in questions]))
    ids, types, place, first, pieces = [], [], [], [], []
    answers = np.full((len(questions), 2), -1, np.int64)
    for number, (item, question) in enumerate(zip(questions, question_ids, strict=True)):
        question, context = question[: recipe.question_length], contexts[item.context]
        paragraph, spans = paragraphs[context]
        if (answer := answer_tokens(spans, item)) is not None:
            answers[number] = starts[context] + np.array(answer)
        room = recipe.length - around.number - len(question)
        if room < 1:
            raise SteleError(
                f"length: {recipe.length} leaves no room for a paragraph after a question of {len(question)} tokens; "
                "increase it, or reduce question_length"
            )
        for start, end in cuts(len(paragraph), room, recipe.stride):
            piece = paragraph[start:end]
            ids.append([*around.before[0], *question, *around.between[0], *piece, *around.after[0]])
            question_types, piece_types = [around.types[0]] * len(question), [around.types[1]] * len(piece)
            types.append([*around.before[1], *question_types, *around.between[1], *piece_types, *around.after[1]])
            place.append(number)
            first.append(len(ids[-1]) - len(piece) - len(around.after[0]))
            pieces.append((starts[context] + start, starts[context] + end))
    offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    return Windows(
        questions,
        Tokens(_flat(ids, np.int32), offsets, _flat(types, np.uint8) if segments else None),
        np.array(place, np.int64),
        np.array(first, np.int64),
        np.array(pieces, np.int64).reshape(-1, 2),
        np.concatenate([np.zeros((0, 2), np.int32), *(spans for _, spans in paragraphs)]),
        answers,
    )


def cuts(tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Cuts a paragraph of `tokens` tokens into pieces [start, end) of at most `room` tokens, `stride` tokens apart.

    >>> cuts(10, 4, 3), cuts(3, 4, 3), cuts(0, 4, 3)
    ([(0, 4), (3, 7), (6, 10)], [(0, 3)], [])
    >>> cuts(10, 4, 5)  # wider than a window: tokens 4 and 9 are in none
    [(0, 4), (5, 9)]
    """
    pieces: list[tuple[int, int]] = []
    while (start := len(pieces) * stride) < tokens:
        pieces.append((start, min(start + room, tokens)))
        if start + room >= tokens:
            break
    return pieces


class Labels(NamedTuple):
    """Places of the answers' first and last tokens (starts, ends) in the windows `rows`, int64 [m] each.

    no_token    number of questions whose answer has no token; their windows are left out
    no_window   number of questions whose answer is not entirely in any window
    """

    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    no_token: int
    no_window: int


def labels(windows: Windows) -> Labels:
    """Labels windows with the first answer's first and last token; NO_ANSWER if a window lacks a part of the answer."""
    answered = np.array([bool(item.answers) for item in windows.questions], bool)
    lost = answered & (windows.answers[:, 0] < 0)
    rows = np.flatnonzero(~lost[windows.question])
    answer, piece = windows.answers[windows.question[rows]], windows.pieces[rows]
    inside = (answer[:, 0] >= piece[:, 0]) & (answer[:, 1] < piece[:, 1])
    places = windows.first[rows, None] + answer - piece[:, :1]
    starts, ends = np.where(inside, places.T, NO_ANSWER)
    whole = np.zeros(len(answered), bool)
    whole[windows.question[rows[inside]]] = True
    return Labels(rows, starts, ends, int(lost.sum()), int((answered & ~lost & ~whole).sum()))


def answer_tokens(spans: np.ndarray, question: SpanQuestion) -> tuple[int, int] | None:
    """Indices of the first and last token of a question's first answer; `spans` [t, 2] are the tokens' characters.

    None if the question has no answer, or no token covers one of the answer's characters.
    """
    if not question.answers:
        return None
    start, end = stripped(*question.answers[0])
    first = int(np.searchsorted(spans[:, 1], start, side="right"))
    last = int(np.searchsorted(spans[:, 0], end)) - 1
    return (first, last) if first <= last else None


def stripped(start: int, text: str) -> tuple[int, int]:
    """Character range of a text that begins at `start`, without blanks at its ends.

    >>> stripped(5, " two ")
    (6, 9)
    """
    start += len(text) - len(text.lstrip())
    return start, start + len(text.strip())


def _encoded(tokenizer, texts: list[str]) -> Iterator[tuple[str, Any]]:
    """Yields each text with its encoding, without special tokens."""
    for start in range(0, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        yield from zip(block, encode_uncut(tokenizer, block), strict=True)


def _spans(encoding: Any, text: str) -> np.ndarray:
    """Character ranges of tokens, int32 [t, 2], without blanks, but with the marks that some tokenizers drop."""
    offsets = encoding.offsets
    following = [*(start for start, _ in offsets), len(text)][1:] if offsets else []
    spans = [_trimmed(text, *span, limit) for span, limit in zip(offsets, following, strict=True)]
    return np.array(spans, np.int32).reshape(-1, 2)


def _trimmed(text: str, start: int, end: int, limit: int) -> tuple[int, int]:
    start, end = stripped(start, text[start:end])
    while start < end < limit and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return start, end


def _flat(rows: list[list[int]], kind: type) -> np.ndarray:
    return np.fromiter(chain.from_iterable(rows), kind, count=sum(map(len, rows)))

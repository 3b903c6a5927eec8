"""Windows of long documents: how a document is cut, and how its score follows from the scores of its windows.

A window of sentences is a piece of the document's text, with single spaces and without the title (Shi et al., section
5). A window of tokens is as long as an encoder reads: prompt, title, then a slice of the text; a title that takes more
than half of the length becomes the beginning of the text instead. Windows are encoded and searched like passages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from stele.artifacts.run import Hits, canonical
from stele.benchmarks.types import Passage
from stele.command.arguments import Json
from stele.encoders.tokens import WHOLE, encode_uncut, tokenize_inputs
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.files.strict import validate
from stele.recipes.search import TokenWindows, Windows
from stele.text.sentences import split_sentences, tidy

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

MARK = "#"  # between a document's id and a window's number ("LEMONDE94-1#0"); the last one of a name counts
READ = 256  # documents that are split together
SEAM = 2  # tokens that a slice may have beyond those in the whole text: its first and last words are cut anew
SHORT = "a"  # any text, to measure what stands around it

# documents -> (title, text) of the windows of each
Split = Callable[[Sequence[Passage]], Iterable[list[tuple[str, str]]]]
WindowsJson = Annotated[
    Json | None,
    Field(
        description="Windows in which documents are encoded: {sentences, stride, hits, best} for windows of "
        "sentences, {overlap, hits, best} for windows as long as the encoder's input."
    ),
]


def parse_windows(text: str | None) -> Windows | TokenWindows | None:
    """Parses the JSON of --windows: windows of tokens if it has an `overlap`, else of sentences; None without it."""
    if not text:
        return None
    values = parse_object(text, "--windows")
    return validate(TokenWindows if "overlap" in values else Windows, values, "--windows")


def by_sentences(language: str, windows: Windows) -> Split:
    """Returns a function that cuts documents in `language` into windows of sentences, without their titles."""

    def split(documents: Sequence[Passage]) -> Iterator[list[tuple[str, str]]]:
        for document in documents:
            yield [("", text) for text in sentence_windows(document.text, language, windows)]

    return split


def sentence_windows(text: str, language: str, windows: Windows) -> list[str]:
    """Cuts a text into windows of sentences, in order; a short text is one window, a text without a sentence has none.

    >>> three = Windows(sentences=2, stride=1, hits=1, best=1)
    >>> sentence_windows("One went. Two  came.\\nThree left.", "en", three)
    ['One went. Two came.', 'Two came. Three left.']
    """
    text = tidy(text)
    spans = split_sentences(text, language)
    starts = range(0, max(1, len(spans) - windows.sentences + windows.stride), windows.stride) if spans else ()
    ends = (min(start + windows.sentences, len(spans)) - 1 for start in starts)
    return [text[spans[start][0] : spans[end][1]] for start, end in zip(starts, ends, strict=True)]


def document_hits(hits: Iterable[tuple[str, float]], best: int) -> Hits:
    """Turns a query's hits (window, score), best first, into (document, score) in canonical order.

    A document's score is the mean score of its best `best` windows, or of all its windows among the hits, if fewer.

    >>> document_hits([("a#4", 5.0), ("b#0", 4.0), ("a#0", 2.0), ("a#1", 1.0)], best=2)
    [('b', 4.0), ('a', 3.5)]
    """
    scores: dict[str, list[float]] = {}
    for window, score in hits:
        of_document = scores.setdefault(window.rpartition(MARK)[0], [])
        if len(of_document) < best:
            of_document.append(score)
    return canonical((document, sum(few) / len(few)) for document, few in scores.items())


@dataclass(frozen=True)
class DocumentWindows:
    """Cuts a collection's documents into windows, and counts the documents while they are read.

    `documents()` reads the collection from its beginning. The counts are saved in `file`, so that a resumed job does
    not read everything again. Only the process with `writes` saves them.
    """

    documents: Callable[[], Iterable[Passage]]
    split: Split
    file: Path
    writes: bool = True

    def read(self) -> Iterator[Passage]:
        """Yields the windows as passages; after the last one it saves the counts."""
        documents = without_text = 0
        rest = iter(self.documents())
        while batch := list(islice(rest, READ)):
            for document, texts in zip(batch, self.split(batch), strict=True):
                for number, (title, text) in enumerate(texts):
                    yield Passage(f"{document.id}{MARK}{number}", title, text)
                documents, without_text = documents + 1, without_text + (not texts)
        if self.writes:
            counts = {"documents": documents, "documents_without_text": without_text}
            atomic_write_json(self.file, counts)

    def counts(self) -> dict[str, Any]:
        """Numbers of documents and of documents without a window; only for the process with `writes`."""
        if not self.file.exists():
            for _ in self.read():
                pass
        return read_state(self.file)


def by_tokens(encoder: Encoder, windows: TokenWindows) -> Split:
    """Returns a function that cuts documents into windows of the encoder's passage length."""
    length, spec = encoder.spec.passage_length, encoder.spec
    titled = spec.fills_titles or spec.passage_format != "text"

    def split(documents: Sequence[Passage]) -> Iterator[list[tuple[str, str]]]:
        parts = [_title_and_text(d, free) for d, free in zip(documents, _free(encoder, documents), strict=True)]
        free = _free(encoder, [Passage("", title, "") for title, _ in parts])
        tokens = encode_uncut(encoder.tokenizer, [text for _, text in parts])
        for (title, text), room, item in zip(parts, free, tokens, strict=True):
            spans = token_spans(len(item), room, windows.overlap)
            texts = [text]
            if len(spans) > 1:
                texts = [text[item.offsets[first][0] : item.offsets[last - 1][1]] for first, last in spans]
            yield [(title, part) for part in texts] if title or text.strip() else []

    def _title_and_text(document: Passage, free: int) -> tuple[str, str]:
        title = document.title if titled else ""
        if title and free < length // 2:
            return "", f"{title} {document.text}"
        return title, document.text

    return split


def token_spans(tokens: int, room: int, overlap: float) -> list[tuple[int, int]]:
    """Token ranges [first, last) of a text's windows, each of at most `room` tokens; the last one ends the text.

    >>> token_spans(10, 10, 0.5), token_spans(11, 10, 0.5)
    ([(0, 10)], [(0, 8), (4, 11)])
    """
    if tokens <= room:
        return [(0, tokens)]
    size = max(1, room - SEAM)
    step = max(1, math.ceil(size * (1 - overlap)))
    starts = range(0, tokens - size + step, step)
    return [(start, min(start + size, tokens)) for start in starts]


def _free(encoder: Encoder, documents: Sequence[Passage]) -> list[int]:
    """Number of tokens left for the text of each document, after its title, the prompt and the special tokens."""
    whole = encoder.spec.model_copy(update={"passage_length": WHOLE})
    texts = [whole.passage(document.title, SHORT) for document in documents]
    (short,) = encode_uncut(encoder.tokenizer, [SHORT])
    lengths = tokenize_inputs(encoder.tokenizer, whole, encoder.chat, texts, "passage").lengths
    return [encoder.spec.passage_length - int(length) + len(short) for length in lengths]

"""Documents in windows: what is encoded of a long document, and what its windows' scores give it.

A window of sentences is the document's text from its first sentence's beginning to its last one's end, white space made
single; a title is no part of it. Shi et al., section 5 (recipes/windows.py has the numbers). Windows of tokens are in
token_windows.py. All go through the encoding and the search as passages do, one vector each, and are called by their
document and their number ("LEMONDE94-1#0").
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from stele.artifacts.runs.run import Hits, canonical
from stele.benchmarks.types import Passage
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.files.strict import validate
from stele.recipes.windows import TokenWindows, Windows
from stele.text.sentences import split_sentences, tidy

MARK = "#"  # between a document's id and a window's number; the last one of a name counts
READ = 256  # documents that are split together

# documents -> (title, text) of the windows of each
Split = Callable[[Sequence[Passage]], Iterable[list[tuple[str, str]]]]


def add_windows_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--windows",
        metavar="JSON",
        help="documents are encoded in windows of sentences (sentences, stride, hits, best) or of the encoder's length "
        "(overlap, hits, best)",
    )


def parse_windows(text: str | None) -> Windows | TokenWindows | None:
    """The value of --windows, JSON: of tokens where it has an `overlap`, else of sentences; None where not given."""
    if not text:
        return None
    values = parse_object(text, "--windows")
    return validate(TokenWindows if "overlap" in values else Windows, values, "--windows")


def by_sentences(language: str, windows: Windows) -> Split:
    """Documents in a language in windows of sentences, without their titles."""

    def split(documents: Sequence[Passage]) -> Iterator[list[tuple[str, str]]]:
        for document in documents:
            yield [("", text) for text in sentence_windows(document.text, language, windows)]

    return split


def sentence_windows(text: str, language: str, windows: Windows) -> list[str]:
    """The windows of a text, in order; one that is no longer than a window is one, one without a sentence has none.

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
    """(document, score) in canonical order, from the (window, score) that were retrieved for a query, best first.

    A document's score is the mean of its first `best` windows' scores, of fewer where fewer are among the hits.

    >>> document_hits([("a#4", 5.0), ("b#0", 4.0), ("a#0", 2.0), ("a#1", 1.0)], best=2)
    [('b', 4.0), ('a', 3.5)]
    """
    scores: dict[str, list[float]] = {}
    for window, score in hits:
        of_document = scores.setdefault(window.rpartition(MARK)[0], [])
        if len(of_document) < best:
            of_document.append(score)
    return canonical((document, sum(few) / len(few)) for document, few in scores.items())


class DocumentWindows:
    """The windows of a collection's documents, which it counts while they are read.

    `documents()` reads the collection from its beginning. The counts are kept in `file`, since a job that goes on has
    no need to read everything again; `key` says what they are counted in. Only the process that `writes` keeps them.
    """

    def __init__(
        self,
        documents: Callable[[], Iterable[Passage]],
        split: Split,
        *,
        file: Path,
        key: str,
        writes: bool = True,
    ) -> None:
        self.documents, self.split = documents, split
        self.file, self.key, self.writes = file, key, writes

    def read(self) -> Iterator[Passage]:
        """The windows as passages."""
        documents = without_text = 0
        rest = iter(self.documents())
        while some := list(islice(rest, READ)):
            for document, texts in zip(some, self.split(some), strict=True):
                for number, (title, text) in enumerate(texts):
                    yield Passage(f"{document.id}{MARK}{number}", title, text)
                documents, without_text = documents + 1, without_text + (not texts)
        if self.writes:
            counts = {"documents": documents, "documents_without_text": without_text}
            self.file.parent.mkdir(parents=True, exist_ok=True)
            atomic_write_json(self.file, {"key": self.key, "counts": counts})

    def counts(self) -> dict[str, Any]:
        """How many documents there are, and how many without a window; for the writing process."""
        if (state := read_state(self.file)) is None or state["key"] != self.key:
            for _ in self.read():
                pass
            state = read_state(self.file)
        return state["counts"]

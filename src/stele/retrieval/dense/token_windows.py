"""Windows as long as an encoder reads: a document whole where it fits, else cut, the title before each window.

A window is a slice of the document's own text between two of its tokens. What the prompt, the title and the special
tokens take is left free; a title that takes more than half of what is read is made the beginning of the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stele.benchmarks.types import Passage
from stele.encoders.chat import tokenize_inputs
from stele.encoders.tokens import WHOLE
from stele.recipes.search import TokenWindows
from stele.retrieval.dense.windows import Split

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

SEAM = 2  # tokens that a slice may have more than it had in the whole text: its first and last words are cut anew
SHORT = "a"  # a text that stands for any, when what stands around it is measured


def by_tokens(encoder: Encoder, windows: TokenWindows) -> Split:
    """Documents in windows of the encoder's passage length."""
    length, spec = encoder.spec.passage_length, encoder.spec
    titled = spec.fills_titles or spec.passage_format != "text"

    def split(documents: Sequence[Passage]) -> Iterator[list[tuple[str, str]]]:
        parts = [_title_and_text(d, free) for d, free in zip(documents, _free(encoder, documents), strict=True)]
        free = _free(encoder, [Passage("", title, "") for title, _ in parts])
        tokens = _encoded(encoder, [text for _, text in parts])
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
    """[first, last) tokens of the windows of a text, when a window has room for so many; the last one ends the text.

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
    """Tokens that are left for the text of each document, once its title and what else stands there is read."""
    whole = encoder.spec.model_copy(update={"passage_length": WHOLE})
    texts = [whole.passage(document.title, SHORT) for document in documents]
    (short,) = _encoded(encoder, [SHORT])
    lengths = tokenize_inputs(encoder.tokenizer, whole, encoder.chat, texts, "passage").lengths
    return [encoder.spec.passage_length - int(length) + len(short) for length in lengths]


def _encoded(encoder: Encoder, texts: Sequence[str]) -> list:
    """Texts without special tokens, none of them cut (`tokens.tokenize` sets the length anew at each call)."""
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend.encode_batch(list(texts), add_special_tokens=False)

"""Generated texts for training stand-ins, read from the mirror, as tokens and windows of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stele.catalogue import entries
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import open_unpacked, reading
from stele.training.sampling import language_probabilities
from stele_world.site import CC100, PARALLEL, path_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

AGAIN = "remove the mirror's manifest and generate it again"
STOPS = ".!?।؟۔。！？።"
SENTENCE = re.compile(rf"(?<=[{STOPS}])\s*(?=\S)")
PHRASE = re.compile(rf"(?<=[{STOPS}])\s*(?=\S)|\s+")  # without spaces between words, a space ends a phrase


def readable(languages: Iterable[str]) -> list[str]:
    """Selects the languages for which CC-100 has text. Raises SteleError if there are none."""
    known = entries(Language)
    codes = [language for language in languages if language in known and known[language].cc100]
    if not codes:
        raise SteleError(f"--languages: CC-100 has none of {', '.join(languages)}; want one that it has")
    return codes


def documents_of(mirror: Path, language: str) -> list[list[list[str]]]:
    """Reads the CC-100 documents of a language, as paragraphs of sentences."""
    entry = entries(Language)[language]
    text = _read(path_of(mirror, CC100.format(code=entry.cc100)), language)
    split = (SENTENCE if entry.spaces else PHRASE).split
    return [[split(line) for line in document.split("\n") if line] for document in text.split("\n\n") if document]


def translations(mirror: Path, language: str) -> list[tuple[str, str]]:
    """Reads a language's (English, translation) pairs."""
    path = path_of(mirror, PARALLEL.format(language=language))
    return [tuple(line.split("\t")) for line in _read(path, language).splitlines()]


def all_translations(mirror: Path, languages: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Reads the `translations` of every language but English. Raises SteleError if there is no other."""
    pairs = {language: translations(mirror, language) for language in languages if language != "en"}
    if not pairs:
        raise SteleError("translation pairs: --languages has English alone; give another language")
    return pairs


def _read(path: Path, language: str) -> str:
    with reading(path, f"text of {language}", AGAIN), open_unpacked(path) as handle:
        return handle.read().decode()


@dataclass(frozen=True)
class Corpus:
    """Tokenised text of several languages.

    tokens   int64, every language's text one after another, without special tokens
    begins   language -> where its sentences begin, far enough from its end for a window
    """

    tokens: np.ndarray
    begins: Mapping[str, np.ndarray]

    def windows(
        self, rng: np.random.Generator, number: int, length: int, alpha: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draws windows of tokens, int64 [number, length], and their languages, int64 [number], as places in `begins`.

        A window begins with a sentence and may end within one. Its language is drawn as XLM-R's batches are (section
        3.1); windows of one batch differ in language.
        """
        languages = list(self.begins)
        shares = language_probabilities({name: len(self.begins[name]) for name in languages}, alpha)
        drawn = rng.choice(len(languages), number, p=[shares[name] for name in languages])
        sizes = np.array([len(self.begins[name]) for name in languages])
        before = np.cumsum(sizes) - sizes
        chosen = before[drawn] + (rng.random(number) * sizes[drawn]).astype(np.int64)
        begins = np.concatenate(list(self.begins.values()))[chosen]
        return self.tokens[begins[:, None] + np.arange(length)], drawn


def read_sentences(mirror: Path, languages: Sequence[str]) -> dict[str, list[str]]:
    """Reads the sentences of each language that CC-100 has, in order: language -> sentences."""
    return {
        language: [s for document in documents_of(mirror, language) for p in document for s in p]
        for language in readable(languages)
    }


def corpus(sentences: Mapping[str, Sequence[str]], tokenizer: PreTrainedTokenizerBase, length: int) -> Corpus:
    """Tokenises sentences for windows of `length` tokens. Raises SteleError for a language with fewer tokens."""
    flat, begins, before = [], {}, 0
    for language, texts in sentences.items():
        tokens, lengths = tokenize(tokenizer, texts)
        starts = np.cumsum(lengths) - lengths
        starts = starts[(lengths > 0) & (starts <= len(tokens) - length)]
        if not len(starts):
            raise SteleError(f"{language}: {len(tokens)} tokens are less than a window of {length}; generate more text")
        begins[language] = before + starts
        before += len(tokens)
        flat.append(tokens)
    return Corpus(np.concatenate(flat), begins)


def tokenize(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Tokenises texts without special tokens: tokens int64 [sum of lengths], lengths int64 [texts]."""
    ids = [e.ids for e in tokenizer.backend_tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    return np.fromiter(chain.from_iterable(ids), np.int64, int(lengths.sum())), lengths

"""The generated texts that stand-ins learn from, read from the mirror: CC-100 and translation pairs."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from stele.catalogue import entries
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele_world.site import path_of
from stele_world.writers import texts

STOPS = ".!?।؟۔。！？።"
SENTENCE = re.compile(rf"(?<=[{STOPS}])\s*(?=\S)")
PHRASE = re.compile(rf"(?<=[{STOPS}])\s*(?=\S)|\s+")  # without spaces between words, a space ends a phrase


def readable(languages: Iterable[str]) -> list[str]:
    """Those of the languages that CC-100 has."""
    known = entries(Language)
    codes = [language for language in languages if language in known and known[language].cc100]
    if not codes:
        raise SteleError(f"--languages: CC-100 has none of {', '.join(languages)}, so there is no text to learn from")
    return codes


def documents(mirror: Path, language: str) -> list[list[list[str]]]:
    """The CC-100 documents of a language: paragraphs of sentences."""
    entry = entries(Language)[language]
    text = _read(path_of(mirror, texts.URL.format(code=entry.cc100)), lzma.open, language)
    split = (SENTENCE if entry.spaces else PHRASE).split
    return [[split(line) for line in document.split("\n") if line] for document in text.split("\n\n") if document]


def translations(mirror: Path, language: str) -> list[tuple[str, str]]:
    """(English, translation) pairs of a language other than English."""
    path = path_of(mirror, texts.URL.format(language=language))
    pairs = [tuple(line.split("\t")) for line in _read(path, gzip.open, language).splitlines()]
    if any(len(pair) != 2 for pair in pairs):
        raise SteleError(f"{path}: want lines of English, a tab, the translation; generate the mirror again")
    return pairs


def _read(path: Path, opener: Callable, language: str) -> str:
    again = "remove the mirror's manifest and generate it again"
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as handle:
            text = handle.read()
    except FileNotFoundError:
        raise SteleError(f"{path}: no text of {language} in this mirror; {again}") from None
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise SteleError(f"{path}: damaged ({error}); {again}") from None
    if not text.strip():
        raise SteleError(f"{path}: empty; {again}")
    return text

"""Vectors of words, in one space for both languages: what scorers over words are given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import numpy as np

from stele.encoders.word_vectors import WordVectors, read_word_vectors
from stele.errors import SteleError

ENDING = ".vec"


# (language, words) -> the vectors of those among the words that have one; a file is read once for all that is wanted
ReadVectors = Callable[[str, Collection[str]], WordVectors]


def known(vectors: WordVectors, words: Iterable[str]) -> np.ndarray:
    """The rows of those words that have a vector, in order, with repetitions, int64."""
    return np.array([vectors.words[word] for word in words if word in vectors.words], dtype=np.int64)


def unit(vectors: WordVectors) -> np.ndarray:
    """The vectors with unit length, float32 [n, d]; a zero vector stays zero."""
    norms = np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    return vectors.vectors / np.where(norms > 0, norms, 1)


def reader(folders: Mapping[str, Path]) -> ReadVectors:
    """Reads the vectors of a language from the one .vec file in its folder (or the file itself).

    Bilingual vectors are one file of the words of both languages, which is then the folder of each.
    """

    def read(language: str, words: Collection[str]) -> WordVectors:
        if language not in folders:
            given = ", ".join(sorted(folders)) or "none"
            raise SteleError(
                f"needs the vectors of words in {language}; given: {given}. Add --vectors DATASET:{language}="
            )
        return read_word_vectors(vector_file(folders[language]), words)

    return read


def vector_file(folder: Path) -> Path:
    """The one .vec file of a folder; a file is itself."""
    if folder.is_file():
        return folder
    files = sorted(folder.glob(f"*{ENDING}"))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file of word vectors (*{ENDING}); found {names}")
    return files[0]

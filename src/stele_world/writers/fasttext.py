"""fastText's vectors of the words of several languages, aligned in one space: translations lie near one another.

Format: facebookresearch/fastText, alignment/utils.py, save_vectors: how many words, and numbers a word, then a line a
word with four decimals, every vector of length 1. As in the real ones words are in lower case, some are lacking, and a
word has one vector, whatever its meanings. Concepts are independent draws, so that words of different meaning are
sometimes above a cosine of .3, as there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.draws import stream
from stele_world.writers.library import Library
from stele_world.writers.site import Site

NAME = "fasttext_aligned"
URL = "https://dl.fbaipublicfiles.com/fasttext/vectors-aligned/wiki.{language}.align.vec"
WIDTH = 64  # the real ones have 300
LARGEST = 1000  # of a drawn number
OWN = 0.6  # how much of a word's vector is its own, beside its concept's: translations have a cosine of .74 or so
LACKING = 0.03  # of the words


def write(site: Site, library: Library) -> None:
    world = library.world
    for language in sorted({*languages_of(dataset(NAME))} & {*world.languages}):
        vectors = {
            word: vector(world.seed, OWN, concept, (language, word))
            for word, concept in words(library, language).items()
            if not stream(world.seed, "lacking", language, word).chance(LACKING)
        }
        site.put(URL.format(language=language), vec_file(vectors))
        site.count(NAME, language, words=len(vectors))


def vec_file(vectors: Mapping[str, np.ndarray]) -> bytes:
    """fastText's text format."""
    lines = (" ".join([word, *(f"{number:.4f}" for number in vector)]) for word, vector in vectors.items())
    return "".join(f"{line}\n" for line in (f"{len(vectors)} {WIDTH}", *lines)).encode()


def words(library: Library, language: str) -> dict[str, str]:
    """word -> the first concept that it means, of all words that texts of a language are made of but names."""
    lexicon = library.world.lexicons[language]
    words: dict[str, str] = {}
    for concept, forms in lexicon.forms.items():
        loan = [lexicon.loans[concept]] if concept in lexicon.loans else []
        for form in (*forms, *loan):
            for word in form.lower().split():
                words.setdefault(word, concept)
    return words


def vector(seed: int, own: float, concept: str, word: tuple[str, ...]) -> np.ndarray:
    """The vector of a word, float64 [WIDTH] of length 1: its concept's, and `own` times one drawn by its own key."""
    mixed = _drawn(seed, concept) + own * _drawn(seed, *word)
    return mixed / np.linalg.norm(mixed)


def _drawn(seed: int, *key: str) -> np.ndarray:
    """Whole numbers as float64 [WIDTH], drawn by a key."""
    draws = stream(seed, "word vector", *key)
    return np.array([draws.between(-LARGEST, LARGEST) for _ in range(WIDTH)], np.float64)

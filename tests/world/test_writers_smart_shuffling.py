"""Generated bilingual vectors: one list of two languages' words, fewer than fastText's; translations are near."""

import numpy as np
import pytest

from stele.encoders.word_vectors import read_word_vectors
from stele_world.writers.library import Library
from stele_world.writers.models import words


@pytest.fixture(scope="module")
def vectors(generated):
    """(language -> its words and their concepts, the vectors of English and German)."""
    library = Library(generated.world)
    own = {code: words(library, code) for code in ("en", "de")}
    path = generated.user_data / "smart_shuffling/de-en.vec"
    return own, read_word_vectors(path, {word for of_language in own.values() for word in of_language})


def test_files_are_those_of_the_pairs_in_the_world(generated):
    assert {*generated.manifest["licensed"]["smart_shuffling"]} == {"de-en.vec"}


def test_a_file_has_words_of_both_languages_each_once_and_some_are_lacking(vectors):
    own, read = vectors
    every = {*own["en"], *own["de"]}
    assert read.counts["repeated"] == 0 and read.counts["in_file"] == len(read.words)
    assert 0.7 < len(read.words) / len(every) < 0.95
    for of_language in own.values():
        assert 0.7 < sum(word in read.words for word in of_language) / len(of_language) < 0.95


def test_translations_lie_nearer_than_other_words(vectors):
    own, read = vectors
    english, german = ({word: c for word, c in own[code].items() if word in read.words} for code in ("en", "de"))
    pairs = [(a, b, english[a] == german[b]) for a in english for b in german if a != b]
    cosines = [(read.vectors[read.words[a]] @ read.vectors[read.words[b]], same) for a, b, same in pairs]
    assert np.mean([value for value, same in cosines if same]) > 0.5
    assert abs(np.mean([value for value, same in cosines if not same])) < 0.1

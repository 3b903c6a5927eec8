"""Generated vectors of words, fastText's and smart shuffling's: read by the reader, and aligned as the real ones."""

from itertools import chain

import numpy as np
import pytest

from stele.encoders.word_vectors import read_word_vectors
from stele.pairs.methods.section import terms
from stele_world.writers.library import Library
from stele_world.writers.models import FASTTEXT, words


@pytest.fixture(scope="module")
def vectors(generated):
    """language -> its vectors, of English and German, which the world has of those that are published."""
    return {
        code: read_word_vectors(generated.path(FASTTEXT.format(language=code)), _words(generated, code))
        for code in ("en", "de")
    }


def _words(generated, code):
    """All words of a language but names, in lower case."""
    lexicon = generated.world.lexicons[code]
    forms = [*chain.from_iterable(lexicon.forms.values()), *lexicon.loans.values()]
    return {word for form in forms for word in form.lower().split()}


def test_files_are_those_of_the_published_languages_in_the_world(generated):
    files = {url for url in generated.manifest["files"] if "fasttext" in url}
    assert files == {FASTTEXT.format(language=code) for code in ("de", "en")}


def test_lines_are_a_word_and_numbers_of_four_decimals(generated, vectors):
    for code, read in vectors.items():
        header, *lines = generated.open(FASTTEXT.format(language=code)).decode().splitlines()
        assert header == f"{len(lines)} 64" and len(lines) == len(read.words) == len(
            {line.split()[0] for line in lines}
        )
        assert all(len(number.partition(".")[2]) == 4 for line in lines for number in line.split()[1:])
        assert generated.manifest["counts"]["fasttext_aligned"]["words"][code] == len(lines)
        assert np.allclose(np.linalg.norm(read.vectors, axis=1), 1, atol=1e-3)


def test_some_words_are_lacking(generated, vectors):
    for code, read in vectors.items():
        known = len(read.words) / len(_words(generated, code))
        assert 0.9 < known < 1


def test_translations_lie_near_one_another_and_other_words_do_not(generated, vectors):
    concepts = generated.world.lexicons["en"].forms
    cosines, others = [], []
    rng = np.random.default_rng(0)
    for concept in concepts:
        english, german = (_vectors_of(generated, vectors, code, concept) for code in ("en", "de"))
        cosines += [a @ b for a in english for b in german]
        others += [a @ vectors["de"].vectors[rng.integers(len(vectors["de"].words))] for a in english]
    assert len(cosines) > 200 and np.mean(np.array(cosines) > 0.5) > 0.95
    assert np.mean(np.array(others) > 0.3) < 0.1


def _vectors_of(generated, vectors, code, concept):
    forms = generated.world.lexicons[code].forms[concept]
    rows = [vectors[code].words.get(form.lower()) for form in forms if " " not in form]
    return [vectors[code].vectors[row] for row in rows if row is not None]


def test_headings_of_the_world_are_words_that_have_a_vector(generated, vectors):
    for code, read in vectors.items():
        headings = [s.title for article in generated.world.articles(code) for s in article.sections if s.title]
        known = [all(term in read.words for term in terms(heading, frozenset())) for heading in headings]
        assert len(known) > 50 and np.mean(known) > 0.7


# --- smart shuffling
@pytest.fixture(scope="module")
def shuffled(generated):
    """(language -> its words and their concepts, the vectors of English and German)."""
    library = Library(generated.world)
    concepts = {code: words(library, code) for code in ("en", "de")}
    path = generated.user_data / "smart_shuffling/de-en.vec"
    return concepts, read_word_vectors(path, {word for of_language in concepts.values() for word in of_language})


def test_smart_shuffling_has_files_of_the_pairs_in_the_world(generated):
    assert {*generated.manifest["licensed"]["smart_shuffling"]} == {"de-en.vec"}


def test_a_pairs_file_has_words_of_both_languages_each_once_and_some_are_lacking(shuffled):
    concepts, read = shuffled
    every = {*concepts["en"], *concepts["de"]}
    assert read.counts["repeated"] == 0 and read.counts["in_file"] == len(read.words)
    assert 0.7 < len(read.words) / len(every) < 0.95
    for of_language in concepts.values():
        assert 0.7 < sum(word in read.words for word in of_language) / len(of_language) < 0.95


def test_translations_lie_nearer_than_other_words(shuffled):
    concepts, read = shuffled
    of_all = [{read.words[w]: concept for w, concept in concepts[code].items() if w in read.words} for code in concepts]
    english, german = ({concept: read.vectors[row] for row, concept in rows.items()} for rows in of_all)
    assert np.mean([english[concept] @ german[concept] for concept in english.keys() & german.keys()]) > 0.5
    assert abs(np.mean(np.array([*english.values()]) @ np.array([*german.values()]).T)) < 0.1

"""Generated fastText vectors: upstream's format, read by the reader, and aligned as what they stand for."""

import numpy as np
import pytest

from stele.encoders.word_vectors import read_word_vectors
from stele.pairs.methods.section import terms

URL = "https://dl.fbaipublicfiles.com/fasttext/vectors-aligned/wiki.{language}.align.vec"


@pytest.fixture(scope="module")
def vectors(generated):
    """language -> its vectors, of English and German, which the world has of those that are published."""
    return {
        code: read_word_vectors(generated.path(URL.format(language=code)), _words(generated, code))
        for code in ("en", "de")
    }


def _words(generated, code):
    """All words of a language but names, in lower case."""
    lexicon = generated.world.lexicons[code]
    forms = [form for own in lexicon.forms.values() for form in own]
    return {word for form in (*forms, *lexicon.loans.values()) for word in form.lower().split()}


def test_files_are_those_of_the_published_languages_in_the_world(generated):
    files = {url for url in generated.manifest["files"] if "fasttext" in url}
    assert files == {URL.format(language=code) for code in ("de", "en")}


def test_lines_are_a_word_and_numbers_of_four_decimals(generated, vectors):
    for code, read in vectors.items():
        header, *lines = generated.open(URL.format(language=code)).decode().splitlines()
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

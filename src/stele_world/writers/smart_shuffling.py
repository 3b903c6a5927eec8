"""Bilingual vectors of words, as smart shuffling makes them: one list of both languages' words for each pair.

The real ones are not published; the format is that of fastText's text files, in which the tools of this method's kind
write. They are learnt from sentences in which the words of a pair of languages are mixed, so a word that both languages
spell alike has one vector, that of its first language here. Fewer words have one than in fastText's (Yu et al.,
section 5.1.4: "smaller vocabulary coverage").
"""

from __future__ import annotations

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.draws import stream
from stele_world.writers.fasttext import vec_file, vector, words
from stele_world.writers.library import Library
from stele_world.writers.site import Site

NAME = "smart_shuffling"
LACKING = 0.2  # of the words
OWN = 0.8  # how much of a word's vector is its own: translations are farther apart than in fastText's


def write(site: Site, library: Library) -> None:
    world = library.world
    for pair in languages_of(dataset(NAME)):
        if not {*pair.split("-")} <= {*world.languages}:
            continue
        vectors = {}
        for language in pair.split("-"):
            for word, concept in words(library, language).items():
                lacks = stream(world.seed, NAME, "lacking", language, word).chance(LACKING)
                if word not in vectors and not lacks:
                    vectors[word] = vector(world.seed, OWN, concept, (NAME, pair, word))
        site.put_licensed(NAME, f"{pair}.vec", vec_file(vectors))

"""Stores of section pairs from lists of pages, and texts as a store gives them."""

import numpy as np

from stele.training.section_store import SectionStore, TokenSection, write_section_store
from stele.training.store import Flat


def section_store(folder, pages, pairs):
    """pages: two lists, of each language's pages; a page is a list of sections, a section a list of sentences."""
    sections = [
        TokenSection(side, number, [np.array(sentence, np.uint32) for sentence in section])
        for side, language in enumerate(pages)
        for number, page in enumerate(language)
        for section in page
    ]
    folder.mkdir(parents=True, exist_ok=True)
    write_section_store(folder, sections, np.array(pairs))
    return SectionStore(folder)


def flat(texts):
    lengths = np.array([len(text) for text in texts])
    return Flat(np.concatenate(texts).astype(np.int64), lengths, np.ones(len(texts), np.int64))


def random_sections(folder, seed=0, pages=12):
    """Pages of one to four sections, of which the first ones are pairs; sentences of 2 to 5 tokens."""
    rng = np.random.default_rng(seed)

    def section():
        return [rng.integers(5, 90, rng.integers(2, 6)) for _ in range(rng.integers(1, 4))]

    languages = [[[section() for _ in range(rng.integers(1, 5))] for _ in range(pages)] for _ in range(2)]
    sizes = [np.cumsum([0, *map(len, language)]) for language in languages]
    pairs = [(sizes[0][page], sizes[0][-1] + sizes[1][page]) for page in range(pages)]
    return section_store(folder, languages, pairs)

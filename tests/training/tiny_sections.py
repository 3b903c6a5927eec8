"""Section pairs in memory: what a store of them says of itself, from lists of pages."""

import numpy as np

from stele.training.store import Flat


class Sections:
    """pages: two lists, of each language's pages; a page is a list of sections, a section a list of sentences."""

    def __init__(self, pages, pairs):
        flat = [section for language in pages for page in language for section in page]
        self.texts = [[np.array(sentence) for sentence in section] for section in flat]
        sizes = [len(page) for language in pages for page in language]
        self.begins = np.concatenate([[0], np.cumsum(sizes)])
        self.second = sum(len(page) for page in pages[0])
        self.pairs = np.array(pairs)
        self.in_all = len(pairs)

    def __len__(self):
        return len(self.pairs)

    def of_page(self, numbers):
        page = np.searchsorted(self.begins, numbers, side="right") - 1
        return self.begins[page], self.begins[page + 1]

    def of_language(self, side):
        return (0, self.second) if side == 0 else (self.second, len(self.texts))

    def sentence_counts(self, numbers):
        return np.array([len(self.texts[number]) for number in numbers])

    def sentences(self, numbers, places):
        return flat([self.texts[number][place] for number, place in zip(numbers, places, strict=True)])

    def documents(self, numbers, most):
        return flat([np.concatenate(self.texts[number])[:most] for number in numbers])


def flat(texts):
    lengths = np.array([len(text) for text in texts])
    return Flat(np.concatenate(texts).astype(np.int64), lengths, np.ones(len(texts), np.int64))


def random_sections(seed=0, pages=12, tokens=(5, 90)):
    """Pages of one to four sections, of which the first ones are pairs; sentences of 2 to 5 tokens."""
    rng = np.random.default_rng(seed)

    def section():
        return [rng.integers(*tokens, rng.integers(2, 6)) for _ in range(rng.integers(1, 4))]

    languages = [[[section() for _ in range(rng.integers(1, 5))] for _ in range(pages)] for _ in range(2)]
    sizes = [np.cumsum([0, *map(len, language)]) for language in languages]
    pairs = [(sizes[0][page], sizes[0][-1] + sizes[1][page]) for page in range(pages)]
    return Sections(languages, pairs)

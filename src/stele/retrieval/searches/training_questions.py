"""The questions of a training set, and the passages of a collection that answer them, by id or by text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from stele.benchmarks.types import Passage, TrainingExample


class Questions:
    """The distinct questions of a collection and the passages that answer them, which are no negatives.

    Row i of each list belongs to question i: `positives` are ids, `texts` digests of the positives' texts.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.positives: list[set[str]] = []
        self.texts: list[set[str]] = []
        self.is_collection_read = False

    def add(self, example: TrainingExample) -> None:
        row = self.rows.setdefault(example.query, len(self.rows))
        if row == len(self.positives):
            self.positives.append(set())
            self.texts.append(set())
        self.positives[row].update(passage.id for passage in example.positives)
        self.texts[row].update(text_digest(passage.text) for passage in example.positives)

    def find_answers(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """Yields the passages of the collection; after the last one `excluded` is known."""
        wanted = set().union(*self.positives)
        self._present: set[str] = set()  # positives that the collection has by id
        self._ids_of_text: dict[str, list[str]] = {text: [] for texts in self.texts for text in texts}
        for passage in passages:
            if (text := text_digest(passage.text)) in self._ids_of_text:
                self._ids_of_text[text].append(passage.id)
            if passage.id in wanted:
                self._present.add(passage.id)
            yield passage
        self.is_collection_read = True

    def excluded(self) -> list[set[bytes]]:
        """For each question the ids of the collection's passages that answer it."""
        excluded = []
        for positives, texts in zip(self.positives, self.texts, strict=True):
            names = positives & self._present
            for text in texts:
                names.update(self._ids_of_text[text])
            excluded.append({name.encode() for name in names})
        return excluded


def text_digest(text: str) -> str:
    """The same for equal texts; white space around them does not count."""
    return hashlib.blake2b(text.strip().encode(), digest_size=16).hexdigest()

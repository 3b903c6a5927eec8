"""The questions of a training set, and which passages of a collection answer them: those are no negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from stele.benchmarks.types import Passage, TrainingExample


class Questions:
    """The distinct questions of a collection with what answers them; row i of each list belongs to question i."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.positives: list[set[str]] = []  # ids
        self.texts: list[set[str]] = []  # digests of the positives' texts

    def add(self, example: TrainingExample) -> None:
        row = self.rows.setdefault(example.query, len(self.rows))
        if row == len(self.positives):
            self.positives.append(set())
            self.texts.append(set())
        self.positives[row].update(passage.id for passage in example.positives)
        self.texts[row].update(text_digest(passage.text) for passage in example.positives)


class Answers:
    """Where answers stand in a collection: ids of passages by text (digest), and which positives are there by id."""

    def __init__(self, questions: Questions) -> None:
        self.ids = {text: [] for texts in questions.texts for text in texts}
        self.wanted, self.there = set().union(*questions.positives), set()
        self.whole = False

    def watch(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """The passages as they are; when all have gone by, the answers are known."""
        for passage in passages:
            if (text := text_digest(passage.text)) in self.ids:
                self.ids[text].append(passage.id)
            if passage.id in self.wanted:
                self.there.add(passage.id)
            yield passage
        self.whole = True

    def excluded(self, questions: Questions) -> list[set[bytes]]:
        """For each question the ids of the collection's passages that answer it."""
        return [
            {name.encode() for name in (ids & self.there).union(*(self.ids[text] for text in texts))}
            for ids, texts in zip(questions.positives, questions.texts, strict=True)
        ]


def text_digest(text: str) -> str:
    """What equal texts have in common; white space around them does not count."""
    return hashlib.blake2b(text.strip().encode(), digest_size=16).hexdigest()

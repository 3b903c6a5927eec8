"""Articles cut into passages, in the two ways of the benchmarks, and where a question's answer stands.

Mr. TyDi: a passage is a paragraph, its id `{page id}#{paragraph}` (castorini/mr.tydi). DPR and XOR-Retrieve: passages
of 100 words, the last one shorter, numbered from 1 (facebookresearch/DPR, AkariAsai/XORQA).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stele_world.content.model import Article, Fact, Question, Sentence
from stele_world.writers.negatives import Lexical

WORDS = 100


class Passage(NamedTuple):
    """A passage; `first` to `last` are the article's sentences that it holds at least a part of.

    `facts` are those that it tells, in a whole sentence, of its own entity or of another one (model.Sentence).
    """

    id: str
    title: str
    text: str
    entity: str
    first: int
    last: int
    facts: frozenset[Fact] = frozenset()


def paragraphs(article: Article, page: int, between: str) -> list[Passage]:
    """The paragraphs of an article as passages."""
    passages, sentence = [], 0
    for number, paragraph in enumerate(article.paragraphs()):
        text = between.join(s.text for s in paragraph)
        last = sentence + len(paragraph) - 1
        name = f"{page}#{number}"
        passages.append(Passage(name, article.title, text, article.entity, sentence, last, _facts(paragraph)))
        sentence = last + 1
    return passages


def hundred_words(article: Article, first_id: int) -> list[Passage]:
    """The running text of an article in blocks of 100 words."""
    sentences, passages = article.sentences(), []
    tagged = [(word, n, end) for n, s in enumerate(sentences) for word, end in _words(s.text)]
    for start in range(0, len(tagged), WORDS):
        block = tagged[start : start + WORDS]
        text, first, last = " ".join(word for word, _, _ in block), block[0][1], block[-1][1]
        cut = (
            start > 0 and not tagged[start - 1][2],
            not block[-1][2],
        )  # a sentence is cut where the block begins, ends
        whole = sentences[first + cut[0] : last + 1 - cut[1]]
        name = str(first_id + len(passages))
        passages.append(Passage(name, article.title, text, article.entity, first, last, _facts(whole)))
    return passages


def _words(text: str) -> list[tuple[str, bool]]:
    """The words of a sentence, each with whether it is the last."""
    *words, last = text.split()
    return [*((word, False) for word in words), (last, True)]


def _facts(sentences: Iterable[Sentence]) -> frozenset[Fact]:
    return frozenset(s.fact for s in sentences if s.fact)


class Collection:
    """Passages, among which the one that answers a question is found, and those that nearly do."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages: list[Passage] = list(passages)
        self._of: dict[str, list[int]] = defaultdict(list)
        self._telling: dict[Fact, list[int]] = defaultdict(list)
        for number, passage in enumerate(self.passages):
            self._of[passage.entity].append(number)
            for fact in passage.facts:
                self._telling[fact].append(number)
        self._lexical: Lexical | None = None

    def gold(self, question: Question, answers: Sequence[str] | None = None) -> int | None:
        """Number of the passage that holds the gold sentence and an answer; None when a cut went through the answer."""
        answers = question.answers if answers is None else answers
        for number in self._of.get(question.gold.entity, ()):
            passage = self.passages[number]
            if passage.first <= question.gold.sentence <= passage.last and any(a in passage.text for a in answers):
                return number
        return None

    def positives(self, question: Question) -> list[int]:
        """Numbers of the passages that answer a question: the gold one first, then any other that tells the fact.

        Those others tell it the other way round, on the page of the answer. Empty where there is no gold passage.
        """
        gold = self.gold(question)
        if gold is None:
            return []
        return [gold, *(n for n in self._telling[question.fact] if n != gold)]

    def hard(self, question: Question, query: str, gold: int, count: int) -> list[int]:
        """Numbers of `count` hard negatives: one of the same page where it has one, the others near by words.

        A passage that holds an answer is none (upstream excludes them in the same way), nor is one that tells the fact.
        """
        same = [n for n in self._of[question.gold.entity] if n != gold and not self._answers(n, question)][:1]
        if self._lexical is None:
            self._lexical = Lexical([f"{p.title} {p.text}" for p in self.passages])
        near = self._lexical.nearest(query, count + 5, {gold, *same})
        return (same + [n for n in near if not self._answers(n, question)])[:count]

    def _answers(self, number: int, question: Question) -> bool:
        """Whether a passage tells the fact or holds an answer: a number as a word of its own, not within another."""
        if question.fact in self.passages[number].facts:
            return True
        text = self.passages[number].text
        return any(a in text and (not a.isdigit() or re.search(rf"(?<!\d){a}(?!\d)", text)) for a in question.answers)

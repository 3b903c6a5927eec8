"""Derived data that several writers share, such as titles, passages and hard negatives; and templates of files."""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from stele.catalogue import entries
from stele.catalogue.schema.languages import Language
from stele_world.content.model import Article, Fact, Question, Sentence

if TYPE_CHECKING:
    from jinja2 import Template

    from stele_world.content.generate import World

WORD = re.compile(r"\w+")
LONG = 12  # characters; longer runs come from scripts without blanks and are cut into trigrams
COMMON = 0.05  # words in more than this share of the passages are ignored


def _words_of(text: str) -> set[str]:
    """Set of the lower-cased words of a text; long runs of letters are split into trigrams.

    >>> sorted(_words_of("Is it it?"))
    ['is', 'it']
    """
    distinct: set[str] = set()
    for word in WORD.findall(text.lower()):
        distinct.update([word] if len(word) <= LONG else (word[i : i + 3] for i in range(len(word) - 2)))
    return distinct


class Lexical:
    """An inverted index over passages, which finds those nearest to a query by words, as BM25 would.

    Upstream's training sets take their hard negatives from a BM25 run; without the length term it is enough for
    passages of about equal length.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for word in _words_of(text):
                self._postings[word].append(number)
        self._size = len(texts)

    def nearest(self, query: str, count: int, without: Set[int]) -> list[int]:
        """Numbers of at most `count` passages outside `without`, nearest first, ties by number."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(_words_of(query)):
            posting = self._postings.get(word, ())
            if len(posting) <= max(20, COMMON * self._size):
                weight = math.log(1 + self._size / (len(posting) or 1))
                for number in posting:
                    scores[number] += weight
        ranked = sorted((-score, number) for number, score in scores.items() if number not in without)
        return [number for _, number in ranked[:count]]


WORDS = 100  # words per passage of DPR


class Passage(NamedTuple):
    """A passage; `first` and `last` number the first and last of the article's sentences in it, even in part.

    `facts` are those stated by a whole sentence of it, about its own entity or another one (model.Sentence).
    """

    id: str
    title: str
    text: str
    entity: str
    first: int
    last: int
    facts: frozenset[Fact] = frozenset()


def paragraphs(article: Article, page: int, between: str) -> list[Passage]:
    """Makes passages from an article's paragraphs, with Mr. TyDi's ids {page id}#{paragraph} (castorini/mr.tydi)."""
    passages, sentence = [], 0
    for number, paragraph in enumerate(article.paragraphs()):
        text = between.join(s.text for s in paragraph)
        last = sentence + len(paragraph) - 1
        name = f"{page}#{number}"
        passages.append(Passage(name, article.title, text, article.entity, sentence, last, _facts(paragraph)))
        sentence = last + 1
    return passages


def hundred_words(article: Article, first_id: int) -> list[Passage]:
    """Cuts an article's running text into blocks of 100 words, the last one shorter, as in DPR and XOR-Retrieve.

    Their ids are numbers from `first_id` (facebookresearch/DPR, AkariAsai/XORQA).
    """
    sentences, passages = article.sentences(), []
    tagged = [(word, n, end) for n, s in enumerate(sentences) for word, end in _words(s.text)]
    for start in range(0, len(tagged), WORDS):
        block = tagged[start : start + WORDS]
        text, first, last = " ".join(word for word, _, _ in block), block[0][1], block[-1][1]
        begins_within = start > 0 and not tagged[start - 1][2]  # a sentence is cut there
        ends_within = not block[-1][2]
        whole = sentences[first + begins_within : last + 1 - ends_within]
        name = str(first_id + len(passages))
        passages.append(Passage(name, article.title, text, article.entity, first, last, _facts(whole)))
    return passages


def _words(text: str) -> list[tuple[str, bool]]:
    """Words of a sentence, each with a flag for the last."""
    *words, last = text.split()
    return [*((word, False) for word in words), (last, True)]


def _facts(sentences: Iterable[Sentence]) -> frozenset[Fact]:
    return frozenset(s.fact for s in sentences if s.fact)


class Collection:
    """Passages in which to find the one that answers a question, and hard negatives."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages: list[Passage] = list(passages)
        self._of: dict[str, list[int]] = defaultdict(list)
        self._telling: dict[Fact, list[int]] = defaultdict(list)
        for number, passage in enumerate(self.passages):
            self._of[passage.entity].append(number)
            for fact in passage.facts:
                self._telling[fact].append(number)

    def gold(self, question: Question) -> int | None:
        """Number of the passage with the gold sentence and the answer; None if no passage has the whole answer."""
        for number in self._of.get(question.entity, ()):
            passage = self.passages[number]
            if passage.first <= question.sentence <= passage.last and question.answer in passage.text:
                return number
        return None

    def positives(self, question: Question) -> list[int]:
        """Numbers of the passages that answer a question: the gold one, then any other that states the fact.

        Those others state it in reverse, on the page of the answer. Empty if there is no gold passage.
        """
        gold = self.gold(question)
        if gold is None:
            return []
        return [gold, *(n for n in self._telling[question.fact] if n != gold)]

    def hard(self, question: Question, query: str, gold: int, count: int) -> list[int]:
        """Numbers of `count` hard negatives: one of the same page if possible, the others nearest by words.

        Passages that contain an answer (upstream excludes them in the same way) or state the fact are excluded.
        """
        same = [n for n in self._of[question.entity] if n != gold and not self._answers(n, question)][:1]
        near = self._lexical.nearest(query, count + 5, {gold, *same})
        return (same + [n for n in near if not self._answers(n, question)])[:count]

    @cached_property
    def _lexical(self) -> Lexical:
        return Lexical([f"{p.title} {p.text}" for p in self.passages])

    def _answers(self, number: int, question: Question) -> bool:
        """Whether a passage states the fact or contains an answer; numbers must be words of their own."""
        passage, answer = self.passages[number], question.answer
        digits = answer.isdigit()
        holds = re.search(rf"(?<!\d){answer}(?!\d)", passage.text) if digits else answer in passage.text
        return bool(holds) or question.fact in passage.facts


FIRST_PAGE, PAGE_STEP = 10, 3  # page ids have gaps, as those of real wikis do; redirects and other pages sit in them


class Library:
    """A world, with the data that writers derive from it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.articles = cache(world.articles)
        self.paragraphs = cache(self._paragraphs)

    def titles(self, language: str) -> dict[str, str]:
        """Titles of entities' pages in the Wikipedia of `language`, by entity."""
        return {a.entity: a.title for a in self.articles(language)}

    def pages(self, language: str) -> dict[str, int]:
        """Ids of entities' pages in the Wikipedia of `language`, by entity."""
        return {a.entity: FIRST_PAGE + PAGE_STEP * n for n, a in enumerate(self.articles(language))}

    def languages_with(self, field: str) -> dict[str, str]:
        """The world's languages with a value for `field` in languages.yaml, and that value (e.g. a file code)."""
        known = entries(Language)
        return {code: name for code in self.world.languages if (name := getattr(known[code], field))}

    def between(self, language: str) -> str:
        """Separator of sentences in running text: none in Chinese and Japanese, else a blank."""
        return "" if entries(Language)[language].script in ("Han", "Japanese") else " "

    def text(self, language: str, sentences: Iterable[Sentence]) -> str:
        return self.between(language).join(sentence.text for sentence in sentences)

    def _paragraphs(self, language: str) -> Collection:
        pages, between = self.pages(language), self.between(language)
        return Collection(p for a in self.articles(language) for p in paragraphs(a, pages[a.entity], between))

    @cached_property
    def hundred_words(self) -> Collection:
        """Passages of 100 words of the English Wikipedia, numbered from 1."""
        passages = []
        for article in self.articles("en"):
            passages += hundred_words(article, len(passages) + 1)
        return Collection(passages)


def spans(texts: Sequence[str], between: str, offset: int = 0) -> list[dict[str, int]]:
    """Character ranges of sentences joined by `between`, the first of which starts at `offset`."""
    spans_found = []
    for text in texts:
        spans_found.append({"start": offset, "end": offset + len(text)})
        offset += len(text) + len(between)
    return spans_found


def hex_id(key: str) -> str:
    """Makes an id like SQuAD's: 24 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def long_id(key: str) -> str:
    """Makes an id like TyDi's: a signed 64-bit number."""
    return str(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True))


# --- templates of files: *.j2 beside this module, and those of collections.yaml ---
FOLDER = Path(__file__).parent


def filled(template: str, **values: Any) -> str:
    """Fills in a template; its filters `xml` and `attribute` escape values for XML."""
    return _compiled(template).render(values)


@cache
def template(name: str) -> str:
    """Loads the template of a file beside this module."""
    return (FOLDER / f"{name}.j2").read_text(encoding="utf-8")


@cache
def _compiled(text: str) -> Template:
    import jinja2

    options = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, **options)
    environment.filters |= {"xml": escape, "attribute": quoteattr}
    return environment.from_string(text)

"""The generated world as plain values: entities, facts, articles, questions.

Nothing here draws or computes: `stele_world.content.generate.generate` fills these types and the writers turn them into
upstream file formats. All offsets are in Unicode characters; all order is significant and reproducible.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One frame of the world: `subject` stands in `relation` to `value`.

    `kind` says what `value` is: "entity" (a Qid), "year", "number" (both decimal strings) or "noun" (a concept).
    """

    subject: str
    relation: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Link:
    """Characters [start, end) of a sentence name the entity `entity`; affixes stay outside the span."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of running text, closing punctuation included.

    `mentions` are all spans that name an entity, `links` those of them that Wikipedia would link: not the article's own
    subject, and only entities that have an article in the language. `fact` is the frame that the sentence tells (None
    if it tells none), and characters `value[0]` to `value[1]` are its value; a sentence that is about the value itself
    tells the fact the other way round and has no `value`.
    """

    text: str
    links: tuple[Link, ...] = ()
    fact: Fact | None = None
    mentions: tuple[Link, ...] = ()
    value: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Paragraphs under one heading; the lead has the empty title."""

    title: str
    paragraphs: tuple[tuple[Sentence, ...], ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A page about `entity` in one language; section 0 is the lead and has no title."""

    entity: str
    language: str
    title: str
    sections: tuple[Section, ...]

    def sentences(self) -> list[Sentence]:
        """All sentences in reading order; `Question.sentence` counts in this list."""
        return [sentence for paragraph in self.paragraphs() for sentence in paragraph]

    def paragraphs(self) -> list[tuple[Sentence, ...]]:
        """All paragraphs in reading order, section headings left out."""
        return [paragraph for section in self.sections for paragraph in section.paragraphs]

    def paragraph_of(self, sentence: int) -> tuple[int, int]:
        """(paragraph index, sentence index within it) of a sentence counted over the whole article."""
        left = sentence
        for index, paragraph in enumerate(self.paragraphs()):
            if 0 <= left < len(paragraph):
                return index, left
            left -= len(paragraph)
        raise IndexError(f"article {self.entity} ({self.language}) has no sentence {sentence}")


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that has a name: `id` "Q123", its type, one name per language and the languages with an article.

    `split` is the one that may ask about it: "train", "dev", "test", or "none" for those that are only talked about.
    """

    id: str
    type: str
    names: dict[str, str]
    coverage: frozenset[str]
    split: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question in `language` about a fact; its answer stands in a sentence of the article about the fact's subject.

    `sentence` counts over the whole article; `answer` occurs in it verbatim.
    """

    id: str
    language: str
    text: str
    answer: str
    fact: Fact
    sentence: int

    @property
    def entity(self) -> str:
        """What it is about."""
        return self.fact.subject


@dataclass(frozen=True, slots=True)
class Mention:
    """Entity linking: characters [start, end) of `sentence` (in `context`, one paragraph) mean `entity`."""

    id: str
    language: str
    context: tuple[str, ...]
    sentence: int
    start: int
    end: int
    entity: str

    @property
    def text(self) -> str:
        """The sentence that holds the mention."""
        return self.context[self.sentence]

    @property
    def surface(self) -> str:
        """The mention as written."""
        return self.text[self.start : self.end]

"""The generated world as plain values: entities, facts, articles, questions.

`stele_world.content.generate.generate` fills these types, and the writers turn them into upstream file formats. All
offsets are in Unicode characters; all order is significant and reproducible.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the world: `subject` has the relation `relation` to `value`.

    `kind` says what `value` is: "entity" (a Qid), "year", "number" (both decimal strings) or "noun" (a concept).
    """

    subject: str
    relation: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Link:
    """Characters [start, end) of a sentence that name the entity `entity`, without affixes."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of running text, closing punctuation included.

    `mentions` are all spans that name an entity; `links` are those that Wikipedia would link: not the article's own
    subject, and only entities with an article in the language. `fact` is the fact that the sentence states, if any, and
    characters `value[0]` to `value[1]` name its value. A sentence about the value itself states the fact in reverse and
    has no `value`.
    """

    text: str
    links: tuple[Link, ...] = ()
    fact: Fact | None = None
    mentions: tuple[Link, ...] = ()
    value: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Paragraphs under one heading, `title`; the lead's title is empty."""

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
        """All paragraphs in reading order, without section headings."""
        return [paragraph for section in self.sections for paragraph in section.paragraphs]

    def paragraph_of(self, sentence: int) -> tuple[int, int]:
        """Converts a sentence's index to (paragraph, place in the paragraph). Raises IndexError beyond the last."""
        left = sentence
        for index, paragraph in enumerate(self.paragraphs()):
            if 0 <= left < len(paragraph):
                return index, left
            left -= len(paragraph)
        raise IndexError(f"article {self.entity} ({self.language}) has no sentence {sentence}")


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with a name: its `id` "Q123", type, name by language, and the languages that have an article.

    `split` is the one whose questions may be about it: "train", "dev", "test", or "none" if texts only mention it.
    """

    id: str
    type: str
    names: dict[str, str]
    coverage: frozenset[str]
    split: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question in `language` about a fact; a sentence of the article about the fact's subject has the answer.

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
        """Entity that the question is about."""
        return self.fact.subject


@dataclass(frozen=True, slots=True)
class Mention:
    """Mention for entity linking: characters [start, end) of `sentence` (in paragraph `context`) mean `entity`."""

    id: str
    language: str
    context: tuple[str, ...]
    sentence: int
    start: int
    end: int
    entity: str

    @property
    def surface(self) -> str:
        """The mention as it is written."""
        return self.context[self.sentence][self.start : self.end]

"""Texts of the generated internet: articles, web documents and parallel sentences, written from the facts.

An entity's type fixes the order of facts in its articles, in every language (up to omissions, swaps and sentences
without a fact), so that a model can learn from a sentence's position.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from stele_world.content.concepts import Inventory
from stele_world.content.draws import Draws, stream
from stele_world.content.facts import Facts
from stele_world.content.model import Article, Fact, Section, Sentence
from stele_world.language.grammar import Frame, Grammar
from stele_world.language.lexicon import capitalised

TRANSLATED = 0.8  # share of the languages that have a given sentence of `translations`


class Teller:
    """Writer of texts in one language."""

    def __init__(self, grammar: Grammar, facts: Facts) -> None:
        self.grammar, self.code = grammar, grammar.language.code
        self.facts, self.concepts, self.sizes, self.seed = facts, facts.concepts, facts.sizes, facts.seed
        self._entities, self._ids = facts.entities, list(facts.entities)
        self._article_frames = cache(lambda entity: self._chosen(entity, self._stream("frames", entity)))

    def article(self, entity: str) -> Article:
        """Writes the article about an entity: a lead, up to two sections, and one on facts that have it as value."""
        draws = self._stream("article", entity)
        type_ = self.concepts.types[self._entities[entity].type]
        lead, later = self._article_frames(entity)
        sections = [Section("", self._paragraphs(self._told(entity, lead, draws, opening=True), draws))]
        half = (len(later) + 1) // 2
        parts = (later[:half], later[half:], self._inverse_frames(entity))
        for heading, frames in zip((*type_.sections, self.concepts.inverse_heading), parts, strict=True):
            if frames:
                sentences = self._told(entity, frames, draws, opening=False)
                title = capitalised(self.grammar.lexicon.word(heading, draws))
                sections.append(Section(title, self._paragraphs(sentences, draws)))
        return Article(entity, self.code, self._entities[entity].names[self.code], tuple(sections))

    def parallel_article(self, entity: str) -> Article:
        """Writes an article whose n-th sentence says the same in every language (as in XQuAD)."""
        draws = self._stream("parallel article", entity)
        frames = [self.frame(fact) for fact in self.facts.of[entity]]
        sentences = [self._sentence(f, entity, "name" if i % 3 == 0 else "noun", draws) for i, f in enumerate(frames)]
        title = self._entities[entity].names[self.code]
        return Article(entity, self.code, title, (Section("", (tuple(sentences),)),))

    def document(self, purpose: str, number: int) -> list[tuple[Sentence, ...]]:
        """Writes a page of the crawl or the news: paragraphs about an entity, then about others that it mentions."""
        draws = self._stream(purpose, number)
        target = draws.between(*self.sizes.web_sentences)
        entity, seen, sentences = draws.pick(self._ids), set(), []
        while len(sentences) < target:
            seen.add(entity)
            lead, later = self._chosen(entity, draws)
            sentences += self._told(entity, lead + later, draws, opening=True)
            near = [f.value for f in self.facts.of[entity] if f.kind == "entity" and f.value not in seen]
            entity = draws.pick(near or self._ids)
        return list(self._paragraphs(sentences[:target], draws))

    def statement(self, fact: Fact, draws: Draws) -> Sentence:
        """Writes one fact as a separate sentence that names its subject."""
        return self._sentence(self.frame(fact), "", "name", draws)

    def told_again(self, sentences: Sequence[Sentence], draws: Draws) -> list[str]:
        """Translates sentences: states their facts and names the subjects; leaves out sentences without a fact."""
        return [self.statement(sentence.fact, draws).text for sentence in sentences if sentence.fact]

    def frame(self, fact: Fact) -> Frame:
        """Frame of a fact, equal in all languages. A definition has an adjective; another fact may have a year."""
        draws = stream(self.seed, "frame", fact.subject, fact.relation)
        if self.concepts.relations[fact.relation].is_definition:
            return Frame(fact, adjective=f"adjective.{draws.pick(self.concepts.adjectives)}")
        dated = fact.kind in ("entity", "noun") and draws.chance(self.sizes.dials.dated)
        return Frame(fact, dated=str(draws.between(1900, 2020)) if dated else "")

    def _inverse_frames(self, entity: str) -> list[Frame]:
        """Frames of facts with this entity as value, as its own page states them: a share of all such facts."""
        frames = []
        for fact in self.facts.about[entity]:
            if self.code not in self._entities[fact.subject].coverage:
                continue
            draws = self._stream("inverse", fact.subject, fact.relation)
            if draws.chance(self.sizes.dials.inverse):
                lead, later = self._article_frames(fact.subject)
                frames += [replace(f, inverse=True) for f in (*lead, *later) if f.fact == fact]
        return frames

    def _chosen(self, entity: str, draws: Draws) -> tuple[list[Frame], list[Frame]]:
        """Chooses the frames stated about an entity: those of the lead (definition first), and the later ones."""
        definition, *facts = self.facts.of[entity]
        dials, lead = self.sizes.dials, self.concepts.lead
        told = [(i < lead, fact) for i, fact in enumerate(facts) if draws.chance(dials.keep)]
        for i in range(len(told) - 1):
            if told[i][0] == told[i + 1][0] and draws.chance(dials.swap):
                told[i], told[i + 1] = told[i + 1], told[i]
        frames = [(True, definition), *told]
        framed = [(early, self.frame(fact)) for early, fact in frames]
        return [f for early, f in framed if early], [f for early, f in framed if not early]

    def _told(self, entity: str, frames: list[Frame], draws: Draws, opening: bool) -> list[Sentence]:
        """Writes sentences for frames, the first with the subject's name, and others without a fact among them."""
        dials, sentences = self.sizes.dials, []
        for i, frame_ in enumerate(frames):
            named = (opening and i == 0) or draws.chance(dials.named)
            how = "name" if named else "noun" if draws.chance(0.5) else "pronoun"
            sentences.append(self._sentence(frame_, entity, how, draws))
            if draws.chance(dials.distractor):
                sentences.append(self.grammar.plain(*plain_concepts(self.concepts, draws), draws))
        return sentences

    def _sentence(self, frame_: Frame, about: str, how: str, draws: Draws) -> Sentence:
        """Writes a frame, with links to entities other than `about` that have an article in this language."""
        told = self.grammar.statement(frame_, how, draws)
        others = (link for link in told.mentions if link.entity != about)
        links = tuple(link for link in others if self.code in self._entities[link.entity].coverage)
        return replace(told, links=links, fact=frame_.fact)

    def _paragraphs(self, sentences: list[Sentence], draws: Draws) -> tuple[tuple[Sentence, ...], ...]:
        low, high = self.sizes.paragraph_sentences
        result, start = [], 0
        while start < len(sentences):
            end = start + draws.between(low, high)
            if len(sentences) - end < low:  # no stub of a paragraph at the end
                end = len(sentences)
            result.append(tuple(sentences[start:end]))
            start = end
        return tuple(result)

    def _stream(self, *key: str | int) -> Draws:
        return stream(self.seed, "text", self.code, *key)


def plain_concepts(concepts: Inventory, draws: Draws) -> tuple[str, str, str, str]:
    """Draws subject, verb, object and adjective of a sentence that states no fact."""
    return (
        draws.pick(concepts.nouns),
        f"verb.{draws.pick(concepts.verbs)}",
        draws.pick(concepts.nouns),
        f"adjective.{draws.pick(concepts.adjectives)}",
    )


def parallel_pairs(english: Teller, foreign: Teller, purpose: str, count: int) -> Iterator[tuple[str, str]]:
    """Yields up to `count` pairs (English, foreign) of sentences with the same meaning, none of them twice.

    Purpose "tatoeba": native words only, no names, no digits, and no pair of another purpose. Any other purpose: half
    of the pairs state facts.
    """
    seen: set[str] = set()
    facts, tested = english.facts.of, purpose == "tatoeba"
    ids = list(facts)
    for number in range(40 * count):
        draws = stream(english.seed, "pairs", purpose, foreign.code, number)
        if tested or draws.chance(0.5):
            drawn = plain_concepts(english.concepts, draws)
            if _of_the_test_set(drawn, english.seed) != tested:
                continue
            pair = tuple(t.grammar.plain(*drawn, draws, native=tested).text for t in (english, foreign))
        else:
            fact = draws.pick(facts[draws.pick(ids)])
            pair = tuple(teller.statement(fact, draws).text for teller in (english, foreign))
        if pair[0] != pair[1] and seen.isdisjoint(pair):  # a sentence all of loans is its own translation
            seen.update(pair)
            yield pair
            if len(seen) == 2 * count:
                return


def translations(
    tellers: Sequence[Teller], count: int, purpose: str, share: float = TRANSLATED, native: bool = True
) -> Iterator[dict[str, str]]:
    """Yields up to `count` sentences, each in a share of the languages: language -> text.

    With `native` the sentences have only native words. None is among the training pairs of `parallel_pairs`. A sentence
    may come more than once.
    """
    concepts, seed = tellers[0].concepts, tellers[0].seed
    every = ((number, plain_concepts(concepts, stream(seed, purpose, number))) for number in range(40 * count))
    for number, drawn in islice((pair for pair in every if _of_the_test_set(pair[1], seed)), count):
        draws = {teller: stream(seed, purpose, number, teller.code) for teller in tellers}
        chosen = [teller for teller in tellers if draws[teller].chance(share)]
        yield {t.code: t.grammar.plain(*drawn, draws[t], native=native).text for t in chosen}


def _of_the_test_set(concepts_drawn: tuple[str, str, str, str], seed: int) -> bool:
    """Whether a sentence without a fact belongs to Tatoeba: a tenth of them do, in every language."""
    return stream(seed, "pair", *concepts_drawn).chance(0.1)

"""Grammar of the generated languages: writes the same frame in any language, and marks the entities it names.

`Grammar` puts subject, verb and marked value in the order of a language's facts (languages.yaml). It knows no facts of
the world: its caller chooses what a sentence says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stele_world.content.concepts import Inventory, Relation
from stele_world.content.draws import Draws
from stele_world.content.model import Entity, Fact, Link, Sentence
from stele_world.language.lexicon import Lexicon, capitalised

CASED = ("Latin", "Cyrillic", "Greek")  # scripts with capitals
QUESTION_MARKS = {"Arabic": "؟", "Greek": ";", "Japanese": "？", "Han": "？"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a sentence; `glue` attaches it to the piece before, `hook` attaches the next piece to it."""

    text: str
    entity: str = ""
    value: bool = False
    glue: bool = False
    hook: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Content of a sentence, the same in every language: a fact, an adjective, and a year beside the fact.

    `inverse`: the sentence is about the fact's value (Y was founded by X), a passive with the subject as its agent.
    """

    fact: Fact
    adjective: str = ""
    dated: str = ""
    inverse: bool = False

    @property
    def about(self) -> str:
        """Entity that the sentence is about."""
        return self.fact.value if self.inverse else self.fact.subject


class Grammar:
    """Grammar of one language, which writes statements and questions."""

    def __init__(self, lexicon: Lexicon, concepts: Inventory, entities: Mapping[str, Entity]) -> None:
        self.lexicon = lexicon
        self.language = lexicon.language
        self.concepts = concepts
        self.entities = entities
        self._facts = self.language.facts
        self._space = " " if self.language.spaced else ""
        self._stop = self.language.writing.stop
        self._question_mark = QUESTION_MARKS.get(self.language.script, "?")

    # --- whole sentences

    def statement(self, frame: Frame, subject: str, draws: Draws) -> Sentence:
        """Writes a frame as a sentence; `subject` says how it names its subject: "name", "noun" or "pronoun"."""
        fact = frame.fact
        relation = self.concepts.relations[fact.relation]
        if relation.is_definition:
            return self.line(self._definition(frame, relation, draws), self._stop)
        verb = [Piece(self.lexicon.word(relation.name, draws))]
        if frame.inverse:
            verb, value = self._passive(verb), self.marked([self.name(fact.subject)], "by")
        else:
            value = self.marked(self.value(fact, relation, draws), relation.role)
        date = self.marked([Piece(frame.dated)], "in") if frame.dated else []
        return self.line(self._ordered(self.subject(frame.about, subject, draws), verb, value, date), self._stop)

    def question(self, fact: Fact, draws: Draws, mark: str | None = None) -> str:
        """Writes a question for a fact's value that names its subject; `mark` replaces the usual question mark."""
        relation = self.concepts.relations[fact.relation]
        wanted = self._asked(relation, draws)
        verb = [Piece(self.lexicon.word(relation.name, draws))]
        name = self.subject(fact.subject, "name", draws)
        if self._facts.question == "initial":
            pieces = [*wanted, *verb, *name] if self._facts.order == "VSO" else [*wanted, *name, *verb]
        elif self._facts.question == "final":
            pieces = [*name, *verb, *wanted]
        else:
            pieces = self._ordered(name, verb, wanted, [])
        if self._facts.question_particle:
            pieces.append(Piece(self.lexicon.function("question")))
        return self.line(pieces, self._question_mark if mark is None else mark).text

    def plain(self, agent: str, verb: str, thing: str, adjective: str, draws: Draws, native: bool = False) -> Sentence:
        """Writes a sentence that states no fact, such as "The old woman found a letter"."""
        word = self.lexicon.native if native else self.lexicon.word
        subject = self.noun(word(agent, draws), word(adjective, draws), definite=True)
        object_ = self.marked(self.noun(word(thing, draws), "", definite=False), "object")
        verb_ = [Piece(word(verb, draws))]
        return self.line(self._ordered(self._as_subject(subject), verb_, object_, []), self._stop)

    # --- parts of sentences

    def name(self, entity: str) -> Piece:
        """Name of an entity."""
        return Piece(self.entities[entity].names[self.language.code], entity)

    def value(self, fact: Fact, relation: Relation, draws: Draws) -> list[Piece]:
        """Value of a fact: a name, digits (with the unit that they count), or a noun."""
        if fact.kind == "entity":
            return [replace(self.name(fact.value), value=True)]
        if fact.kind == "noun":
            return [Piece(self.lexicon.word(fact.value, draws), value=True)]
        number = Piece(fact.value, value=True)
        if relation.unit is None:
            return [number]
        unit = Piece(self.lexicon.word(relation.unit, draws))
        return [number, unit] if self._facts.adjective == "before" else [unit, number]

    def subject(self, entity: str, how: str, draws: Draws) -> list[Piece]:
        """Subject of a sentence: its name, its type with an article, or a pronoun."""
        type_ = self.concepts.types[self.entities[entity].type]
        if how == "name":
            pieces = [self.name(entity)]
        elif how == "noun":
            pieces = self.noun(self.lexicon.word(self.entities[entity].type, draws), "", definite=True)
        else:
            pieces = [Piece(self.lexicon.function(pronoun(self.entities[entity], type_.pronouns)))]
        return self._as_subject(pieces)

    def marked(self, pieces: list[Piece], role: str) -> list[Piece]:
        """Marks the role of a noun phrase: by a word before or after it, or by a suffix."""
        if self._facts.role_marking == "preposition":
            return pieces if role == "object" else [Piece(self.lexicon.function(role)), *pieces]
        foreign = pieces[-1].entity and pieces[-1].text.isascii() and not self.language.latin
        return [*pieces, Piece(self.lexicon.function(role), glue=self._facts.role_marking == "suffix" and not foreign)]

    def noun(self, noun: str, adjective: str, definite: bool) -> list[Piece]:
        core = [Piece(noun)]
        if adjective:
            core = [Piece(adjective), *core] if self._facts.adjective == "before" else [*core, Piece(adjective)]
        if self._facts.article == "none" or (not definite and self._facts.article != "word"):
            return core
        article = self.article(definite, core[0].text)
        if self._facts.article == "word":
            return [Piece(article), *core]
        if self._facts.article == "prefix":
            return [Piece(article, hook=True), *core]
        where = len(core) if self._facts.adjective == "before" else 1
        return [*core[:where], Piece(article, glue=True), *core[where:]]

    def article(self, definite: bool, before: str) -> str:
        return self.lexicon.function("the" if definite else "a")

    def described(self, frame: Frame, draws: Draws) -> list[Piece]:
        """Description of a definition's subject, such as "a famous city": its type, or a profession."""
        entity = frame.fact.subject
        concept = self.entities[entity].type
        if members := self.concepts.classes.get(self.concepts.types[concept].definition.noun):
            concept = members[int(entity[1:]) * 7 % len(members)]
        noun = self.lexicon.word(concept, draws)
        return self.noun(noun, self.lexicon.word(frame.adjective, draws), definite=False)

    def _definition(self, frame: Frame, relation: Relation, draws: Draws) -> list[Piece]:
        """Writes a definition: X is a famous city in Y."""
        described = self.described(frame, draws)
        name = self.subject(frame.fact.subject, "name", draws)
        where = self.marked(self.value(frame.fact, relation, draws), relation.role)
        copula = [Piece(self.lexicon.function("is"))] if self._facts.copula else []
        if self._facts.order == "SOV":
            return [*name, *where, *described, *copula]
        return (
            [*copula, *name, *described, *where] if self._facts.order == "VSO" else [*name, *copula, *described, *where]
        )

    def _passive(self, verb: list[Piece]) -> list[Piece]:
        """Puts a verb in the passive: by a word before or after it, or a suffix, as the language marks nouns."""
        mark = Piece(self.lexicon.function("passive"), glue=self._facts.role_marking == "suffix")
        return [mark, *verb] if self._facts.role_marking == "preposition" else [*verb, mark]

    def _as_subject(self, pieces: list[Piece]) -> list[Piece]:
        return [*pieces, Piece(self.lexicon.function("subject"), glue=True)] if self._facts.subject_marker else pieces

    def _ordered(self, subject: list[Piece], verb: list[Piece], value: list[Piece], date: list[Piece]) -> list[Piece]:
        if self._facts.order == "SVO":
            return [*subject, *verb, *value, *date]
        return [*subject, *date, *value, *verb] if self._facts.order == "SOV" else [*verb, *subject, *value, *date]

    def _asked(self, relation: Relation, draws: Draws) -> list[Piece]:
        """Question phrase for a value, marked with its role: which city, how many inhabitants, which year."""
        if relation.unit is not None:
            phrase = [Piece(self.lexicon.function("how_many")), Piece(self.lexicon.word(relation.unit, draws))]
        else:
            year = relation.kind == "year"
            noun = self.lexicon.function("year") if year else self.lexicon.word(relation.value, draws)
            phrase = [Piece(self.lexicon.function("which")), Piece(noun)]
        return self.marked(phrase, relation.role)

    # --- letters

    def line(self, pieces: list[Piece], stop: str) -> Sentence:
        """Joins pieces into text with an initial capital; offsets are those of the joined text."""
        text, mentions, value, hooked = "", [], None, True
        for piece in pieces:
            if not piece.text:
                continue
            if not (piece.glue or hooked):
                text += self._space
            start = len(text)
            text += piece.text
            hooked = piece.hook
            if piece.entity:
                mentions.append(Link(start, len(text), piece.entity))
            if piece.value:
                value = (start, len(text))
        if stop == "." and text.endswith("."):  # an abbreviation closes the sentence
            stop = ""
        text = (capitalised(text) if self.language.script in CASED else text) + stop
        return Sentence(text, mentions=tuple(mentions), value=value)


def pronoun(entity: Entity, pronouns: Sequence[str]) -> str:
    """Pronoun of an entity, always the same one of its type's."""
    return pronouns[int(entity.id[1:]) % len(pronouns)]

"""Words: every concept's forms in one language, its loan words, and names in its letters.

English has its real words; the other vocabularies are invented.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.errors import SteleError
from stele.recipes.world import Dials
from stele_world.content.concepts import Inventory
from stele_world.content.draws import Draws, stream, syllables
from stele_world.language.scripts import Writing, tables
from stele_world.language.sounds import ENGLISH, Language, Sounds, with_ending

SYNONYM = {"noun": 0.25, "verb": 0.5, "adjective": 0.25, "function": 0.0}
LATIN = Writing("Latin")


class Lexicon:
    """The words of one language in one world."""

    def __init__(self, language: Language, concepts: Inventory, dials: Dials, seed: int) -> None:
        self.language = language
        self.seed = seed
        self.dials = dials
        self.sounds = Sounds(concepts, dials, seed)
        self.forms: dict[str, tuple[str, ...]] = {}
        self.loans: dict[str, str] = {}
        self._concepts = concepts
        self._taken: set[str] = set()
        for concept, english in concepts.words.items():
            if language.code == ENGLISH:
                self.forms[concept] = english
                continue
            part = concepts.parts[concept]
            draws = self._stream("synonym", concept)
            count = 2 if draws.chance(SYNONYM[part]) else 1
            self.forms[concept] = tuple(self._form(concept, part, variant) for variant in range(count))
            if part != "function" and draws.chance(dials.loan):
                self.loans[concept] = english[0]

    def word(self, concept: str, draws: Draws) -> str:
        """One of the forms of a concept, or its loan word."""
        loan = self.loans.get(concept)
        if loan is not None and draws.chance(self.dials.loan_use):
            return loan
        return self.native(concept, draws)

    def native(self, concept: str, draws: Draws) -> str:
        """One of the forms of a concept, never its loan word."""
        forms = self.forms[concept]
        return forms[0] if len(forms) == 1 else draws.zipf(forms)

    def function(self, name: str) -> str:
        """The word or affix for a grammatical task."""
        return self.forms[f"function.{name}"][0]

    def name(self, sounds: Sequence[str], entity: str) -> str:
        """A name of one or more words: as in English where the script is Latin, else Latin or transliterated."""
        if self.language.latin or self._stream("verbatim", entity).chance(self.dials.verbatim):
            return written_name(LATIN, sounds)
        return written_name(self.language.writing, sounds)

    def _stream(self, *key: str | int) -> Draws:
        return stream(self.seed, "lexicon", self.language.code, *key)

    def _form(self, concept: str, part: str, variant: int) -> str:
        """The variant-th form of a concept; a word that already means something else is made anew."""
        for attempt in range(100):
            word = self._in_han(concept, part, variant, attempt) or self._spelled(concept, part, variant, attempt)
            if word and word not in self._taken:
                self._taken.add(word)
                return word
        raise SteleError(f"world: the sounds of {self.language.code} are too few for a word for {concept!r}")

    def _spelled(self, concept: str, part: str, variant: int, attempt: int) -> str:
        facts, writing = self.language.facts, self.language.writing
        draws = self._stream("form", concept, variant, attempt)
        if facts.syllable_space and part != "function":
            apart = syllables(facts.syllables, draws.pick((1, 2, 2)) + (attempt > 3), draws)
            return " ".join(writing.write(syllable) for syllable in apart)
        ending, prefix, written = (
            draws.pick(words.get(part, [""])) for words in (facts.endings, facts.prefixes, facts.written_endings)
        )
        stem = self.sounds.of(self.language.code, concept, variant, attempt)
        return writing.write(prefix + with_ending(stem, ending)) + written

    def _in_han(self, concept: str, part: str, variant: int, attempt: int) -> str:
        """A word in Chinese characters, the same in every language that writes this concept with them."""
        facts = self.language.facts
        if not stream(self.seed, "han", "use", concept).chance(getattr(facts.han, part)):
            return ""
        draws = stream(self.seed, "han", concept, variant, attempt)
        count = 1 if part in ("function", "adjective") else 2
        word = "".join(draws.pick(tables()["Han"]["native"]) for _ in range(count))
        return word + self._stream("ending", concept).pick(facts.written_endings.get(part, [""]))


def written_name(writing: Writing, sounds: Sequence[str]) -> str:
    """A name of one or more words in the letters of a script."""
    return writing.dot.join(capitalised(writing.write(word, full=True)) for word in sounds)


def capitalised(text: str) -> str:
    """The text with its first letter in upper case, the rest untouched."""
    return text[:1].upper() + text[1:]

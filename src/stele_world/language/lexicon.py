"""Words of each language: their sounds (inherited, borrowed or native), their letters, and names.

Sounds are characters of the notation of scripts.yaml; `stele_world.language.scripts` turns them into letters. English
has its real words; the other vocabularies are invented.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from stele import catalogue
from stele.catalogue.schema import languages as schema
from stele.errors import SteleError, unknown
from stele.recipes.world import Dials
from stele_world.content.concepts import Inventory
from stele_world.content.draws import Draws, stream, syllables
from stele_world.language.scripts import VOWELS, Script, scripts, writing

ENGLISH = "en"
# syllables of ancestral words: every script can write them
ANCESTOR = schema.Syllables(onsets="p t k b d g m n s l r v z tr kr st", nuclei="a e i o u", codas="- - n r s l")
LENGTHS = {"noun": (2, 2, 2, 3), "verb": (2, 2, 3), "adjective": (2, 2), "function": (1,)}


class Language:
    """A language of languages.yaml that can be generated: its facts, its script, and whether it separates words."""

    def __init__(self, code: str) -> None:
        entries = catalogue.entries(schema.Language)
        if code not in entries:
            raise unknown("language", code, [c for c, e in entries.items() if e.world])
        entry = entries[code]
        if entry.world is None:
            raise SteleError(f"languages.yaml: {code} ({entry.name}) cannot be generated: it has no `world:` facts")
        self.code = code
        self.facts = entry.world
        self.spaced = entry.spaces
        self.script = entry.script
        self.writing = writing(entry.script, self.facts.spelling, code)
        self.latin = entry.script == "Latin"


language = cache(Language)


@cache
def foreign_writings() -> Mapping[str, Script]:
    """Scripts other than Latin of the generated languages, by language."""
    languages = [language(code) for code, entry in catalogue.entries(schema.Language).items() if entry.world]
    return {known.code: known.writing for known in languages if not known.latin}


@dataclass(frozen=True)
class Sounds:
    """Sounds of the words of all languages in one world."""

    concepts: Inventory
    dials: Dials
    seed: int

    def of(self, code: str, concept: str, variant: int = 0, attempt: int = 0) -> str:
        """Stem of a concept in a language; `variant` 0 is the main word, which alone can have cognates.

        Whether languages inherit a concept is drawn once for each source, so that related languages keep the same
        words.
        """
        facts, part = language(code).facts, self.concepts.parts[concept]
        source = self.source(code, concept) if variant == 0 and attempt == 0 else None
        if source is not None:
            changes = facts.changes
            return "".join([changes.get(sound, sound) for sound in self.lent(source, concept)])
        draws = stream(self.seed, "sounds", code, concept, variant, attempt)
        length = draws.pick(LENGTHS[part]) + (attempt > 3) + (attempt > 30)
        return "".join(syllables(facts.syllables, length, draws))

    def source(self, code: str, concept: str) -> str | None:
        """Family or language from which a concept's main word comes, or None if it is the language's own."""
        if self.concepts.parts[concept] == "function":
            return None
        for source, share in language(code).facts.cognates.items():
            if stream(self.seed, "cognate", source, concept).chance(share * self.dials.cognate):
                return source
        return None

    def lent(self, source: str, concept: str) -> str:
        """Sounds of a concept in an ancestor (a family's name) or a lender (a language's code)."""
        if source == ENGLISH:
            return english_sounds(self.concepts.words[concept][0])
        if source in catalogue.entries(schema.Language):
            return self.of(source, concept)
        draws = stream(self.seed, "ancestor", source, concept)
        return "".join(syllables(ANCESTOR, draws.pick(LENGTHS[self.concepts.parts[concept]]), draws))


def english_sounds(word: str) -> str:
    """Converts an English word roughly to sounds, as a borrowing language hears it.

    >>> english_sounds("church"), english_sounds("king"), english_sounds("cheese")
    ('CurC', 'king', 'Cis')
    """
    for letters, sounds in _ENGLISH:
        word = word.replace(letters, sounds)
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


_ENGLISH = (
    *((f"{2 * c}", c) for c in "bdfglmnprst"),
    ("sh", "S"), ("ch", "C"), ("th", "T"), ("ph", "f"), ("ck", "k"), ("qu", "kw"), ("x", "ks"), ("ee", "i"),
    ("ea", "i"), ("oo", "u"), ("ou", "au"), ("ce", "s"), ("ci", "si"), ("j", "J"), ("c", "k"), ("y", "i"),
)  # fmt: skip


def with_ending(stem: str, ending: str) -> str:
    """Joins stem and ending; a stem's final vowels are dropped before an ending that begins with a vowel.

    >>> with_ending("kasa", "os"), with_ending("kasa", "nik"), with_ending("kasa", "ión")
    ('kasos', 'kasanik', 'kasión')
    """
    if ending and is_vowel(ending[0]):
        shorter = stem
        while shorter and is_vowel(shorter[-1]):
            shorter = shorter[:-1]
        stem = shorter or stem
    return stem + ending


def is_vowel(sound: str) -> bool:
    """Whether a sound, or a Latin letter with marks, is a vowel."""
    return sound in VOWELS or unicodedata.normalize("NFD", sound)[0] in VOWELS


SYNONYM = {"noun": 0.25, "verb": 0.5, "adjective": 0.25, "function": 0.0}
LATIN = scripts()["Latin"]


class Lexicon:
    """Words of one language in one world."""

    def __init__(self, language: Language, concepts: Inventory, dials: Dials, seed: int) -> None:
        self.language = language
        self.seed = seed
        self.dials = dials
        self.sounds = Sounds(concepts, dials, seed)
        self.forms: dict[str, tuple[str, ...]] = {}
        self.loans: dict[str, str] = {}
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
        """Draws one of a concept's forms, or its loan word."""
        loan = self.loans.get(concept)
        if loan is not None and draws.chance(self.dials.loan_use):
            return loan
        return self.native(concept, draws)

    def native(self, concept: str, draws: Draws) -> str:
        """Draws one of a concept's forms, never its loan word."""
        forms = self.forms[concept]
        return forms[0] if len(forms) == 1 else draws.zipf(forms)

    def function(self, name: str) -> str:
        """Word or affix with a grammatical function."""
        return self.forms[f"function.{name}"][0]

    def name(self, sounds: Sequence[str], entity: str) -> str:
        """Spells a name of one or more words: as in English if the script is Latin, else Latin or transliterated."""
        if self.language.latin or self._stream("verbatim", entity).chance(self.dials.verbatim):
            return written_name(LATIN, sounds)
        return written_name(self.language.writing, sounds)

    def _stream(self, *key: str | int) -> Draws:
        return stream(self.seed, "lexicon", self.language.code, *key)

    def _form(self, concept: str, part: str, variant: int) -> str:
        """Invents the variant-th form of a concept, again if the word already has another meaning."""
        for attempt in range(100):
            word = self._in_han(concept, part, variant, attempt) or self._spelled(concept, part, variant, attempt)
            if word and word not in self._taken:
                self._taken.add(word)
                return word
        raise SteleError(f"world: the sounds of {self.language.code} allow no new word for {concept!r}; add sounds")

    def _spelled(self, concept: str, part: str, variant: int, attempt: int) -> str:
        facts, writing = self.language.facts, self.language.writing
        draws = self._stream("form", concept, variant, attempt)
        if facts.syllable_space and part != "function":
            parts = syllables(facts.syllables, draws.pick((1, 2, 2)) + (attempt > 3), draws)
            return " ".join(writing.write(syllable) for syllable in parts)
        ending, prefix, written = (
            draws.pick(words.get(part, [""])) for words in (facts.endings, facts.prefixes, facts.written_endings)
        )
        stem = self.sounds.of(self.language.code, concept, variant, attempt)
        return writing.write(prefix + with_ending(stem, ending)) + written

    def _in_han(self, concept: str, part: str, variant: int, attempt: int) -> str:
        """Makes a word in Chinese characters, equal in all languages that write this concept with them."""
        facts = self.language.facts
        if not stream(self.seed, "han", "use", concept).chance(getattr(facts.han, part)):
            return ""
        draws = stream(self.seed, "han", concept, variant, attempt)
        count = 1 if part in ("function", "adjective") else 2
        word = "".join(draws.pick(scripts()["Han"].native) for _ in range(count))
        return word + self._stream("ending", concept).pick(facts.written_endings.get(part, [""]))


def written_name(writing: Script, sounds: Sequence[str]) -> str:
    """Spells a name of one or more words in the letters of a script."""
    return writing.dot.join(capitalised(writing.write(word, full=True)) for word in sounds)


def capitalised(text: str) -> str:
    """Turns the first letter into upper case and leaves the rest unchanged."""
    return text[:1].upper() + text[1:]

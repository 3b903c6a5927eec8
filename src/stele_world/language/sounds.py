"""Sounds: the spoken form of every concept, inherited within families, borrowed, or a language's own.

Sounds are characters of the notation of scripts.yaml; `stele_world.language.scripts` turns them into letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from stele import catalogue
from stele.catalogue.schema import languages as schema
from stele.errors import SteleError, unknown
from stele.recipes.world import Dials
from stele_world.content.concepts import Inventory
from stele_world.content.draws import stream, syllables
from stele_world.language.scripts import VOWELS, Writing

ENGLISH = "en"
# syllables of the ancestors of families: what every script can write
ANCESTOR = schema.Syllables(onsets="p t k b d g m n s l r v z tr kr st", nuclei="a e i o u", codas="- - n r s l")
LENGTHS = {"noun": (2, 2, 2, 3), "verb": (2, 2, 3), "adjective": (2, 2), "function": (1,)}


class Language:
    """A language of languages.yaml that can be generated: its facts, its script, whether it separates words."""

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
        self.writing = Writing(entry.script, self.facts.spelling, code)
        self.latin = entry.script == "Latin"


language = cache(Language)


@cache
def foreign_writings() -> Mapping[str, Writing]:
    """How names are written outside Latin script, by the first language that writes them so."""
    writings: dict[str, Writing] = {}
    for code, entry in catalogue.entries(schema.Language).items():
        if entry.world is None or language(code).latin:
            continue
        writing = language(code).writing
        if all((writing.script, writing.letters) != (w.script, w.letters) for w in writings.values()):
            writings[code] = writing
    return writings


@dataclass(frozen=True)
class Sounds:
    """The sounds of all languages of one world."""

    concepts: Inventory
    dials: Dials
    seed: int

    def of(self, code: str, concept: str, variant: int = 0, attempt: int = 0) -> str:
        """A concept's stem in a language; `variant` 0 is the main word, which alone can have relatives.

        Whether a concept goes back to a source is drawn once for the source, so that relatives keep the same words.
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
        """The family or language that a concept's main word comes from, or None: it is the language's own."""
        if self.concepts.parts[concept] == "function":
            return None
        for source, share in language(code).facts.cognates.items():
            if stream(self.seed, "cognate", source, concept).chance(share * self.dials.cognate):
                return source
        return None

    def lent(self, source: str, concept: str) -> str:
        """The sounds of a concept in an ancestor (a family's name) or a lender (a language's code)."""
        if source == ENGLISH:
            return english_sounds(self.concepts.words[concept][0])
        if source in catalogue.entries(schema.Language):
            return self.of(source, concept)
        draws = stream(self.seed, "ancestor", source, concept)
        return "".join(syllables(ANCESTOR, draws.pick(LENGTHS[self.concepts.parts[concept]]), draws))


def english_sounds(word: str) -> str:
    """An English word as sounds, roughly: what a borrower hears.

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
    """Stem and ending; a stem's last vowels give way to an ending that opens with a vowel.

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

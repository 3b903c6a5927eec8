"""Scripts of the generated languages, which turn sounds into letters. The letters are data (scripts.yaml)."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from stele.catalogue import read_yaml
from stele.catalogue.schema import Facts, choice
from stele.errors import unknown
from stele.files.strict import Strict, Values, validate

VOWELS = frozenset("aeiouAIUEXOY")
FILE = Path(__file__).with_name("scripts.yaml")
Letters = dict[str, str]
Number = Annotated[int, Field(ge=0)]
Syllable = tuple[Sequence[str], str, Sequence[str]]  # onset, vowel, coda


class Script(Strict):
    """Keys of every script: its way of writing a word's sounds, sentences, and names."""

    kind: str
    stop: str = Field(".", description="what closes a sentence")
    stops: dict[str, str] = Field({}, description="of a language that has another one")
    dot: str = Field(" ", description="between the words of a foreign name")

    @abstractmethod
    def write(self, sounds: str, full: bool = False) -> str:
        """Writes one word in letters.

        `full` adds sounds that the script usually omits (the short vowels of an abjad) and chooses katakana, as for
        names and loan words.
        """


class Lettered(Script):
    """A script with letters for each sound; a sound without letters stands for itself."""

    letters: Letters = Field(description="sound -> letters")

    def spelled(self, sounds: Iterable[str]) -> str:
        return "".join([self.letters.get(sound, sound) for sound in sounds])


class Alphabet(Lettered):
    final: Letters = Field({}, description="letter -> its form at the end of a word")

    def write(self, sounds: str, full: bool = False) -> str:
        word = self.spelled(sounds)
        return word[:-1] + self.final.get(word[-1], word[-1]) if word else word


class Abjad(Lettered):
    dropped: str = Field(description="sounds that are not written inside a word")
    initial: Letters = Field(description="of sounds at a word's beginning")

    def write(self, sounds: str, full: bool = False) -> str:
        first = self.initial.get(sounds[:1], "")
        rest = sounds[1:] if first else sounds
        written = (sound for sound in rest[:-1] if full or sound not in self.dropped)
        return first + self.spelled([*written, *rest[-1:]])


class Abugida(Lettered):
    virama: str = Field(description="between consonants without a vowel")
    final_virama: bool = Field(description="and behind a last one")
    signs: Letters = Field(description="vowels behind a consonant")
    vowels: Letters = Field(description="vowels that stand alone")

    def write(self, sounds: str, full: bool = False) -> str:
        word, bare = [], False  # bare: the last letter is a consonant without its vowel yet
        for sound in sounds:
            if sound in self.signs:
                word.append(self.signs[sound] if bare else self.vowels[sound])
                bare = False
            elif letter := self.spelled(sound):
                word += [self.virama, letter] if bare else [letter]
                bare = True
        return "".join(word) + (self.virama if bare and self.final_virama else "")


class Thai(Lettered):
    signs: Letters = Field(description="vowels; {} is the consonant")
    bearer: str = Field(description="the consonant of a vowel that stands alone")

    def write(self, sounds: str, full: bool = False) -> str:
        word = ""
        for onset, vowel, coda in syllables(sounds):
            head, tail = self.spelled(onset) or (vowel and self.bearer), self.spelled(coda)
            # the short a of a closed syllable is a sign of its own
            pattern = "{}ั" if tail and vowel == "a" else self.signs.get(vowel, "{}")
            word += pattern.format(head) + tail
        return word


class Hangul(Script):
    initials: dict[str, Number] = Field(description="sound -> its place among the first letters of blocks")
    medials: dict[str, Number]
    finals: dict[str, Number]

    def write(self, sounds: str, full: bool = False) -> str:
        silent, filler = self.initials[""], self.medials["X"]  # a consonant without a vowel gets a weak one
        blocks: list[tuple[int, int, int]] = []
        for onset, vowel, coda in syllables(sounds):
            alone, head = (onset[:-1], "".join(onset[-1:])) if vowel else ([*onset, *coda], "")
            blocks += [(self.initials.get(c, silent), filler, 0) for c in alone]
            if vowel:
                closed = bool(coda) and coda[0] in self.finals
                last = self.finals[coda[0]] if closed else 0
                blocks.append((self.initials.get(head, silent), self.medials[vowel], last))
                blocks += [(self.initials.get(c, silent), filler, 0) for c in coda[closed:]]
        return "".join(chr(0xAC00 + (i * 21 + m) * 28 + f) for i, m, f in blocks)


class Syllabic(Script):
    """A script of characters for syllables; it omits consonants that it cannot write."""

    merged: Letters = Field(description="sounds that are written as others")

    def heard(self, sounds: str) -> list[Syllable]:
        """Splits sounds into syllables, merging or dropping sounds as the script does."""
        return [
            (self._merged(onset), self.merged.get(vowel, vowel), self._merged(coda))
            for onset, vowel, coda in syllables(sounds)
        ]

    def _merged(self, consonants: Iterable[str]) -> list[str]:
        return [merged for c in consonants if (merged := self.merged.get(c, c))]


class Kana(Syllabic):
    rows: Letters = Field(description="consonant -> the syllables with a i u e o")

    def write(self, sounds: str, full: bool = False) -> str:
        text = ""
        for onset, vowel, coda in self.heard(sounds):
            text += "".join(map(self._alone, onset[:-1] if vowel else onset))
            if vowel:
                text += self._mora(onset[-1] if onset else "", vowel)
            text += "".join(map(self._alone, coda))
        if full:  # katakana lie 0x60 above hiragana
            text = "".join(chr(ord(c) + 0x60) if "ぁ" <= c <= "ゖ" else c for c in text)
        return text

    def _mora(self, consonant: str, vowel: str) -> str:
        return self.rows[consonant]["aiueo".index(vowel)] if consonant in self.rows else ""

    def _alone(self, consonant: str) -> str:
        """Writes a consonant without a vowel: as the syllabic n, or with a weak vowel."""
        return "ん" if consonant in ("n", "m") else self._mora(consonant, "o" if consonant in "td" else "u")


class Han(Syllabic):
    rows: Letters = Field(description="consonant -> characters with a e i o u; a lone consonant takes the last")
    native: str = Field(description="characters of which native words are made")

    def write(self, sounds: str, full: bool = False) -> str:
        text = ""
        for onset, vowel, coda in self.heard(sounds):
            text += self._alone(onset[:-1] if vowel else onset)
            if vowel:
                text += self.rows.get(onset[-1] if onset else "", self.rows[""])["aeiou".index(vowel)]
            text += self._alone(coda)
        return text

    def _alone(self, consonants: Iterable[str]) -> str:
        return "".join(self.rows[c][5] for c in consonants if c in self.rows)


KINDS = {kind.__name__.lower(): kind for kind in (Alphabet, Abjad, Abugida, Thai, Hangul, Kana, Han)}


def check_scripts(values: Facts, where: str) -> None:
    """Validates every script by its kind; raises SteleError with the key at fault."""
    validate(dict[str, Values], values, where)
    for name, entry in values.items():
        validate(KINDS[choice(entry, "kind", KINDS, where, [name], required=True)], entry, where, [name])


@cache
def scripts() -> Mapping[str, Script]:
    """Loads all scripts of scripts.yaml, by name."""
    return {name: validate(KINDS[entry["kind"]], entry, FILE, [name]) for name, entry in read_yaml(FILE).items()}


def writing(name: str, spelling: Mapping[str, str], language: str) -> Script:
    """Script as one language uses it; `spelling` replaces letters of its table. Raises SteleError if unknown."""
    if name not in scripts():
        raise unknown("script", name, scripts(), "languages.yaml")
    script = scripts()[name]
    changes = {"letters": {**script.letters, **spelling}} if isinstance(script, Lettered) else {}
    return script.model_copy(update={"stop": script.stops.get(language, script.stop), **changes})


def syllables(sounds: str) -> list[Syllable]:
    """Splits sounds into (onset, vowel, coda): the last consonant before a vowel opens its syllable.

    >>> syllables("kantra")
    [('k', 'a', 'n'), ('tr', 'a', '')]
    """
    nuclei = [i for i, sound in enumerate(sounds) if sound in VOWELS]
    if not nuclei:
        return [(sounds, "", "")] if sounds else []
    result, start = [], 0
    for nucleus, following in zip(nuclei, [*nuclei[1:], None], strict=True):
        coda = sounds[nucleus + 1 : following]
        if following is not None:  # a stop and a liquid stay together, else one consonant opens the next syllable
            opens = 2 if len(coda) > 1 and coda[-1] in "rl" and coda[-2] in "ptkbdgfs" else 1
            coda = coda[:-opens]
        result.append((sounds[start:nucleus], sounds[nucleus], coda))
        start = nucleus + 1 + len(coda)
    return result

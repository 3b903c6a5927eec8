"""Writing: sounds to letters, for every script of the generated languages. The letters are data (scripts.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from stele.catalogue import read_yaml
from stele.errors import unknown

VOWELS = frozenset("aeiouAIUEXOY")


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """scripts.yaml, by the script's name."""
    return read_yaml(Path(__file__).with_name("scripts.yaml"))


class Writing:
    """One script as one language writes it: `write("karvel")` gives letters.

    `spelling` replaces letters of the script's table; `full` writes what the script otherwise leaves out (the short
    vowels of an abjad) and chooses katakana, as names and loans do.
    """

    def __init__(self, script: str, spelling: Mapping[str, str] | None = None, language: str = "") -> None:
        if script not in tables():
            raise unknown("script", script, tables(), "languages.yaml")
        table = tables()[script]
        self.script = script
        self.table = table
        self.letters = {**table.get("letters", {}), **(spelling or {})}
        self.stop = table.get("stops", {}).get(language, table.get("stop", "."))
        self.dot = table.get("dot", " ")
        self._write = _KINDS[table["kind"]]

    def write(self, sounds: str, full: bool = False) -> str:
        """The letters of one word."""
        return self._write(self, sounds, full)


def _alphabet(writing: Writing, sounds: str, full: bool) -> str:
    letters = writing.letters
    word = "".join([letters.get(sound, sound) for sound in sounds])
    final = writing.table.get("final", {})
    return word[:-1] + final.get(word[-1], word[-1]) if word else word


def _abjad(writing: Writing, sounds: str, full: bool) -> str:
    letters, dropped = writing.letters, writing.table["dropped"]
    initial, last = writing.table["initial"], len(sounds) - 1
    word = []
    for i, sound in enumerate(sounds):
        if i == 0 and sound in initial:
            word.append(initial[sound])
        elif full or i == last or sound not in dropped:
            word.append(letters.get(sound, sound))
    return "".join(word)


def _abugida(writing: Writing, sounds: str, full: bool) -> str:
    letters, table = writing.letters, writing.table
    signs, vowels, virama = table["signs"], table["vowels"], table["virama"]
    word, bare = [], False  # bare: the last letter is a consonant without its vowel yet
    for sound in sounds:
        if sound in signs:
            word.append(signs[sound] if bare else vowels[sound])
            bare = False
        elif letter := letters.get(sound, sound):
            if bare:
                word.append(virama)
            word.append(letter)
            bare = True
    if bare and table["final_virama"]:
        word.append(virama)
    return "".join(word)


def _thai(writing: Writing, sounds: str, full: bool) -> str:
    letters, signs = writing.letters, writing.table["signs"]
    word = []
    for onset, vowel, coda in syllables(sounds):
        head = "".join([letters.get(c, c) for c in onset]) or (vowel and writing.table["bearer"])
        tail = "".join([letters.get(c, c) for c in coda])
        pattern = signs.get(vowel, "{}")
        if tail and vowel == "a":
            pattern = "{}ั"  # the short a of a closed syllable is a sign of its own
        word.append((pattern.format(head) if vowel else head) + tail)
    return "".join(word)


def _hangul(writing: Writing, sounds: str, full: bool) -> str:
    initials, medials, finals = (writing.table[k] for k in ("initials", "medials", "finals"))
    silent, filler = initials[""], medials["X"]  # a consonant without a vowel of its own gets a weak one
    blocks: list[tuple[int, int, int]] = []
    for onset, vowel, coda in syllables(sounds):
        *alone, head = onset or ("",)
        if not vowel:
            alone, coda = onset, ()
        blocks += [(initials.get(c, silent), filler, 0) for c in alone]
        if vowel:
            closed = bool(coda) and coda[0] in finals
            blocks.append((initials.get(head, silent), medials[vowel], finals[coda[0]] if closed else 0))
            coda = coda[1:] if closed else coda
        blocks += [(initials.get(c, silent), filler, 0) for c in coda]
    return "".join(chr(0xAC00 + (i * 21 + m) * 28 + f) for i, m, f in blocks)


def _kana(writing: Writing, sounds: str, full: bool) -> str:
    rows, merged = writing.table["rows"], writing.table["merged"]

    def mora(consonant: str, vowel: str) -> str:
        return rows[consonant]["aiueo".index(vowel)] if consonant in rows else ""

    def alone(consonant: str) -> str:
        """A consonant without a vowel: the syllabic n, or with a weak vowel."""
        return "ん" if consonant in ("n", "m") else consonant and mora(consonant, "o" if consonant in "td" else "u")

    text = ""
    for onset, vowel, coda in _merged(sounds, merged):
        text += "".join(map(alone, onset[:-1] if vowel else onset))
        if vowel:
            text += mora(onset[-1] if onset else "", vowel)
        text += "".join(map(alone, coda))
    if full:  # katakana lie 0x60 above hiragana
        text = "".join(chr(ord(c) + 0x60) if "ぁ" <= c <= "ゖ" else c for c in text)
    return text


def _han(writing: Writing, sounds: str, full: bool) -> str:
    rows, merged = writing.table["rows"], writing.table["merged"]
    text = ""
    for onset, vowel, coda in _merged(sounds, merged):
        text += "".join(rows[c][5] for c in (onset[:-1] if vowel else onset) if c in rows)
        if vowel:
            text += rows.get(onset[-1] if onset else "", rows[""])["aeiou".index(vowel)]
        text += "".join(rows[c][5] for c in coda if c in rows)
    return text


def _merged(sounds: str, merged: Mapping[str, str]) -> list[tuple[list[str], str, list[str]]]:
    """Syllables with the sounds that a script does not tell apart made one; sounds that it does not write are gone."""

    def written(consonants: tuple[str, ...]) -> list[str]:
        return [merged.get(c, c) for c in consonants if merged.get(c, c)]

    return [(written(onset), merged.get(vowel, vowel), written(coda)) for onset, vowel, coda in syllables(sounds)]


def syllables(sounds: str) -> list[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    """Splits sounds into (onset, vowel, coda): the last consonant before a vowel opens its syllable.

    >>> syllables("kantra")
    [(('k',), 'a', ('n',)), (('t', 'r'), 'a', ())]
    """
    nuclei = [i for i, sound in enumerate(sounds) if sound in VOWELS]
    if not nuclei:
        return [(tuple(sounds), "", ())] if sounds else []
    result, start = [], 0
    for n, nucleus in enumerate(nuclei):
        end = nuclei[n + 1] if n + 1 < len(nuclei) else len(sounds)
        between = sounds[nucleus + 1 : end]
        if n + 1 == len(nuclei):
            coda = between
        else:  # a stop and a liquid stay together, else one consonant opens the next syllable
            opens = 2 if len(between) > 1 and between[-1] in "rl" and between[-2] in "ptkbdgfs" else 1
            coda = between[:-opens] if between else ""
        result.append((tuple(sounds[start:nucleus]), sounds[nucleus], tuple(coda)))
        start = nucleus + 1 + len(coda)
    return result


_KINDS = {
    "alphabet": _alphabet,
    "abjad": _abjad,
    "abugida": _abugida,
    "thai": _thai,
    "hangul": _hangul,
    "kana": _kana,
    "han": _han,
}

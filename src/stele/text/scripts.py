"""The scripts that letters are of, by their Unicode names."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

# what Unicode calls the scripts of languages.yaml, where it is not the same word
_UNICODE = {
    "Burmese": {"MYANMAR"},
    "Han": {"CJK"},
    "Hangul": {"HANGUL", "CJK"},
    "Japanese": {"HIRAGANA", "KATAKANA", "CJK"},
    "Odia": {"ORIYA"},
}


@lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    name = unicodedata.name(character, "") if character.isalpha() else ""
    return name.partition(" ")[0]


def letters_by_script(text: str) -> Counter[str]:
    """How many letters of a text each script has.

    >>> dict(letters_by_script("Рига, Rīga 1201"))
    {'CYRILLIC': 4, 'LATIN': 4}
    """
    letters: Counter[str] = Counter()
    for character, number in Counter(text).items():
        if script := _script(character):
            letters[script] += number
    return letters


def unicode_scripts(script: str) -> set[str]:
    """What the names of a script's letters begin with, for a script as languages.yaml calls it.

    >>> unicode_scripts("Latin"), unicode_scripts("Han")
    ({'LATIN'}, {'CJK'})
    """
    return _UNICODE.get(script, {script.upper()})

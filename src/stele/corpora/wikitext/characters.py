"""Patterns that are fast on long texts with many matches, and character references as MediaWiki decodes them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import lru_cache

# what stands in a tag before its ">", which no quotation mark hides (MediaWiki's preprocessor): a "<" that begins no
# tag or stands in quotation marks is text of an attribute
ATTRIBUTES = r"""(?:[^<>"']++|"[^">]*+(?:"|(?=>))|'[^'>]*+(?:'|(?=>))|["']|<(?![a-zA-Z/!]))*+"""


def one_of(names: str) -> str:
    """A pattern for any of the names `a|b|...`: what begins with none of their first letters is passed at once.

    >>> one_of("ref|math|references")
    '(?=[rm])(?:r(?:ef|eferences)|m(?:ath))'
    """
    rests: dict[str, list[str]] = {}
    for name in names.split("|"):
        rests.setdefault(name[0], []).append(name[1:])
    groups = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return f"(?=[{''.join(rests)}])(?:{groups})"


def replaced(pattern: re.Pattern[str], replacement: Callable[[str], str], text: str) -> str:
    """`pattern.sub` for a pattern in one group and a replacement that needs the matched characters alone.

    With a lookup or a cached function it is nearly twice as fast, because no match objects are made.

    >>> replaced(re.compile("([ab])"), {"a": "1", "b": "2"}.__getitem__, "abc")
    '12c'
    """
    parts = pattern.split(text)  # what stands between matches and the matches, in turn
    parts[1::2] = map(replacement, parts[1::2])
    return "".join(parts)


_REFERENCE = re.compile(r"(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_MARK = re.compile(r"([\[\]{}|'=<>*#:;_~\-&!])")
_reference = {mark: f"&#{ord(mark)};" for mark in "[]{}|'=<>*#:;_~-&!"}.__getitem__
_character = lru_cache(maxsize=1 << 10)(html.unescape)  # a few references are nearly all


def decode(text: str) -> str:
    """`&eacute;`, `&#233;` and `&#xE9;` become é; anything else stays.

    >>> decode("Caf&eacute; &sect; ?a&section=1")
    'Café § ?a&section=1'
    """
    return replaced(_REFERENCE, _character, text) if "&" in text else text


def escape(text: str) -> str:
    """The text with references for all characters that could be markup; references in it stay what they are."""
    parts = _REFERENCE.split(text)
    parts[0::2] = [replaced(_MARK, _reference, part) for part in parts[0::2]]
    return "".join(parts)

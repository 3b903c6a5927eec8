"""Character references in wikitext: decoded only when closed by a semicolon, as MediaWiki does."""

from __future__ import annotations

import html
import re
from functools import lru_cache

from stele.corpora.wikitext.patterns import replaced

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

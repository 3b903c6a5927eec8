"""Character references in wikitext: decoded only when closed by a semicolon, as MediaWiki does."""

from __future__ import annotations

import html
import re

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPED = re.compile(r"[\[\]{}|'=<>*#:;_~\-&!]")


def decode(text: str) -> str:
    """`&eacute;`, `&#233;` and `&#xE9;` become é; anything else stays.

    >>> decode("Caf&eacute; &sect; ?a&section=1")
    'Café § ?a&section=1'
    """
    return _REFERENCE.sub(lambda match: html.unescape(match.group()), text) if "&" in text else text


def escape(text: str) -> str:
    """The text with references for all characters that could be markup; references in it stay what they are."""
    kept = _REFERENCE.split(text)
    references = _REFERENCE.findall(text)
    safe = [_ESCAPED.sub(lambda match: f"&#{ord(match.group())};", part) for part in kept]
    return "".join(part + reference for part, reference in zip(safe, [*references, ""], strict=True))

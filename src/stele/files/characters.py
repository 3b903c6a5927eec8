"""Characters that no label needs and no output shows: they end a text early, or turn what follows them around."""

from __future__ import annotations

import re
import unicodedata

# controls but for blanks, lone surrogates, separators of lines and paragraphs, embeddings and overrides of direction
_HIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
_IN_OUTPUT, _IN_LABELS = re.compile(f"[{_HIDDEN}]"), re.compile(f"[{_HIDDEN}\t\n\r]")


def neutralised(text: str) -> str:
    """A text for an output, such characters replaced by U+FFFD.

    >>> neutralised("abc\\u202edef")
    'abc\\ufffddef'
    """
    return _IN_OUTPUT.sub("\ufffd", text)


def plain_label(text: str) -> str:
    """A label as it was given; one that holds such a character or a line break is a ValueError that names it."""
    if match := _IN_LABELS.search(text):
        name = unicodedata.name(match.group(), "a control character")
        raise ValueError(f"holds U+{ord(match.group()):04X} ({name}) at {match.start() + 1}; leave it out")
    return text

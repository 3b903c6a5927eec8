"""Rendering of texts, commands and nested facts as HTML. All text is escaped."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from html import escape as escape_html
from typing import Any

from stele.files.formats import neutralised
from stele.tables.render.direction import runs_leftwards

MARK_WIDTHS = range(1, 15)  # classes `w1` to `w14` of page.css.j2: letters


@lru_cache(maxsize=1 << 14, typed=True)
def escape(text: str) -> str:
    """Escapes plain text, so that HTML shows exactly that text, also inside an attribute."""
    return escape_html(neutralised(str(text)), quote=True)


def isolated(text: str) -> str:
    """Wraps plain text in HTML with its own direction, so that text beside an Arabic label keeps its order."""
    return f"<bdi>{escape(text)}</bdi>" if runs_leftwards(text) else escape(text)


def code(text: str) -> str:
    """HTML of a command with a button that copies it."""
    return f'<span class="command"><code>{escape(text)}</code><button type="button" class="copy">copy</button></span>'


def facts(value: Any, known: Collection[str] = ()) -> str:
    """HTML of a nested JSON value as lists of names and values; a digest in `known` is a button that opens its box."""
    if isinstance(value, Mapping):
        entries = "".join(f"<dt>{escape(key)}</dt><dd>{_fact(key, entry, known)}</dd>" for key, entry in value.items())
        return f"<dl>{entries}</dl>"
    if isinstance(value, list):
        if any(isinstance(entry, Mapping) for entry in value):
            return "".join(facts(entry, known) for entry in value)
        return ", ".join(facts(entry, known) for entry in value)
    if value in known:
        target = escape(ancestor_id(value))
        return f'<button type="button" class="record" popovertarget="{target}">{escape(value)}</button>'
    return escape(value)


def ancestor_id(digest: str) -> str:
    """The id of an ancestor's box."""
    return f"a-{digest}"


def _fact(key: str, value: Any, known: Collection[str]) -> str:
    return code(value) if key == "command" and isinstance(value, str) else facts(value, known)

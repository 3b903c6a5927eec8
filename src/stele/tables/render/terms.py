"""Explain the words that a page's reader may not know: on hover, on focus, and to a screen reader where they stand."""

from __future__ import annotations

import re

from stele import catalogue
from stele.artifacts.records import DIVERGED, GENERATED, STAND_IN
from stele.tables.render.html import escape

TERMS = {
    GENERATED: "texts, questions and answers that a program wrote in synthetic languages",
    STAND_IN: "a tiny encoder that was trained here on generated text, in place of the public checkpoint of that name",
    DIVERGED: "the loss rose above chance, or all texts got the same vector: the model learnt nothing",
}
_TERM = re.compile(rf"{'|'.join(map(re.escape, TERMS))}|scale (?P<scale>[\w-]+)|pt(?P<pt>\d+)-ft(?P<ft>\d+)")


def explained(text: str) -> str:
    """Plain text as HTML in which each known term can be hovered and focused, and then shows its explanation."""
    parts, end = [], 0
    for match in _TERM.finditer(str(text)):
        if meaning := _meaning(match):
            parts += [escape(text[end : match.start()]), _term(match[0], meaning)]
            end = match.end()
    return "".join(parts) + escape(text[end:])


def _term(text: str, meaning: str) -> str:
    tip = f'<span class="tip">: {escape(meaning)}</span>'
    return f'<span class="term" tabindex="0">{escape(text)}{tip}</span>'


def _meaning(match: re.Match[str]) -> str:
    """The explanation of a term, "" for a scale that the catalogue does not have."""
    if match["pt"]:
        return f"seed {match['pt']} of pretraining, seed {match['ft']} of fine-tuning"
    if match["scale"]:
        known = match["scale"] in catalogue.scale_names()
        return catalogue.load(f"scales/{match['scale']}")["title"] if known else ""
    return TERMS[match[0]]

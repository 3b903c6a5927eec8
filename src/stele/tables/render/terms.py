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


def explained(html: str) -> str:
    """HTML whose known terms can be hovered and focused, and then show their explanations."""
    return _TERM.sub(_explained, html)


def _explained(match: re.Match[str]) -> str:
    meaning = _meaning(match)
    if not meaning:
        return match[0]
    tip = f'<span class="tip"> {escape(meaning[0].upper() + meaning[1:])}</span>'
    return f'<span class="term" tabindex="0">{match[0]}{tip}</span>'


def _meaning(match: re.Match[str]) -> str:
    """The explanation of a term, "" for a scale that the catalogue does not have."""
    if match["pt"]:
        return f"seed {match['pt']} of pretraining, seed {match['ft']} of fine-tuning"
    if match["scale"]:
        known = match["scale"] in catalogue.scale_names()
        return catalogue.load(f"scales/{match['scale']}")["title"] if known else ""
    return TERMS[match[0]]

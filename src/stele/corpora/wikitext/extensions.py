"""Comments and extension tags, such as <ref> and <math>: nothing inside them is markup, and nearly none shows text."""

from __future__ import annotations

import re
from functools import cache

from stele.corpora.wikitext.character_references import escape
from stele.corpora.wikitext.patterns import ATTRIBUTES, one_of

# extension tags whose content is no running text; what one that is never closed takes with it: the rest of its line, of
# its paragraph, or nothing
_FORMULAS = "math|chem|ce"
_BLOCKS = (
    "gallery|timeline|score|hiero|source|syntaxhighlight|pre|imagemap|inputbox|graph|mapframe|maplink|templatedata"
)
DROPPED = (
    f"ref|references|{_FORMULAS}|{_BLOCKS}|templatestyles|indicator|includeonly|categorytree|dynamicpagelist|charinsert|quiz"
    "|rss|mapsources|section"
)
_UNCLOSED_END = dict.fromkeys(_FORMULAS.split("|"), re.compile(r"\n|\Z")) | dict.fromkeys(
    _BLOCKS.split("|"), re.compile(r"\n(?=[ \t]*\n|=)|\Z")
)
_OPENING = re.compile(rf"<!--|<({one_of(f'{DROPPED}|nowiki')})(?=[\s/>])({ATTRIBUTES})>", re.I)
# a tag without content; one that ends before another of its name; a comment, with its line where it is alone on one
_COMMENT = r"--(?:[^-<]++|-(?!->)|<(?!!--))*+-->"
_DROPPED = (
    rf"({one_of(DROPPED)})(?=[\s/>]){ATTRIBUTES}>(?:(?<=/>)|[^<]*+(?:<(?!/?\1[\s/>])[^<]*+)*+</\1\s*>)"
    rf"|!(?:(?<![^\n]<!){_COMMENT}\n|{_COMMENT})"
)
_NOWIKI = rf"nowiki(?=[\s/>]){ATTRIBUTES}>(?:(?<=/>)|([^<]*+(?:<(?!/?nowiki[\s/>])[^<]*+)*+)</nowiki\s*>)"
_WHOLE, _WHOLE_OR_NOWIKI = re.compile(f"<(?:{_DROPPED})", re.I), re.compile(f"<(?:{_DROPPED}|{_NOWIKI})", re.I)
_EXAMPLE = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|<[/!]?[a-z-]|&lt;[/!]?[a-z-]", re.I)


def drop_extensions(text: str) -> str:
    """Without comments and extension tags; `nowiki` content stays as text that no later layer takes for markup, but
    for examples of markup, which go as those in `pre` and `source` do.
    """
    for whole, replacement in ((_WHOLE, ""), (_WHOLE_OR_NOWIKI, _whole_nowiki)):
        short = whole.sub(replacement, text)
        if "<" not in short or not _OPENING.search(short):  # most pages; what is left open is read piece by piece
            return short
    pieces: list[str] = []
    done = position = 0
    absent: set[str] = set()  # closing tags of which no more come
    while match := _OPENING.search(text, position):
        start, position = match.span()
        name = (match.group(1) or "").lower()
        replacement = ""
        if not name:
            position = text.find("-->", position)
            position = len(text) if position < 0 else position + 3
            if text[start - 1 : start] in ("", "\n") and text[position : position + 1] == "\n":
                position += 1  # a line with nothing but a comment is no line
        elif not match.group(2).endswith("/"):
            closing = None if name in absent else _closing(name).search(text, position)
            if closing is None:
                absent.add(name)
                if name in _UNCLOSED_END:
                    position = _UNCLOSED_END[name].search(text, position).start()
            else:
                if name == "nowiki":
                    replacement = _shown(text[position : closing.start()])
                position = closing.end()
        pieces += (text[done:start], replacement)
        done = position
    return "".join([*pieces, text[done:]]) if pieces else text


def _shown(content: str) -> str:
    """What `nowiki` content shows."""
    return "" if _EXAMPLE.search(content) else escape(content)


def _whole_nowiki(match: re.Match[str]) -> str:
    return _shown(match.group(2) or "")


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.I)

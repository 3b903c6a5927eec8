"""Comments and extension tags, such as <ref> and <math>: nothing inside them is markup, and nearly none shows text."""

from __future__ import annotations

import re
from functools import cache

from stele.corpora.wikitext.character_references import escape

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
_OPENING = re.compile(rf"<!--|<(nowiki|{DROPPED})(?=[\s/>])([^<>]*)>", re.I)
# a comment, with its line where it is alone on one; a tag without content; one that ends before another of its name
_COMMENT = r"!--(?:[^-<]++|-(?!->)|<(?!!--))*+-->"
_WHOLE = re.compile(
    rf"<(?:(?<![^\n]<){_COMMENT}\n|{_COMMENT}"
    rf"|({DROPPED})(?=[\s/>])[^<>]*+>(?:(?<=/>)|(?:[^<]++|<(?!/?\1[\s/>]))*+</\1\s*>))",
    re.I,
)
_EXAMPLE = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|(?:<|&lt;)[/!]?[a-z-]", re.I)


def drop_extensions(text: str) -> str:
    """Without comments and extension tags; `nowiki` content stays as text that no later layer takes for markup, but
    for examples of markup, which go as those in `pre` and `source` do.
    """
    short = _WHOLE.sub("", text)
    if not _OPENING.search(short):  # most pages are done at once; what is left open is read piece by piece
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
                    shown = text[position : closing.start()]
                    replacement = "" if _EXAMPLE.search(shown) else escape(shown)
                position = closing.end()
        pieces += (text[done:start], replacement)
        done = position
    return "".join([*pieces, text[done:]]) if pieces else text


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.I)

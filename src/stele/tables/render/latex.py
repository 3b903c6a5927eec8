r"""Rendering of texts as LaTeX. All text is escaped; only booktabs and graphicx are needed.

Letters that pdfLaTeX has no font for are left to `\steleletters`, a run of one script at a time: XeLaTeX
and LuaLaTeX print them, pdfLaTeX their codes. What runs leftwards, and numbers and foreign words within it, is set in
that direction (`\steleleftwards`, `\stelerightwards`). Brackets and stars are in braces: behind `\\` or `\midrule` a
bare one would be read as an argument.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from stele.files.formats import neutralised
from stele.tables.render import direction, page_fit
from stele.tables.render.layout import Box, Grid

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "[": "{[}", "]": "{]}", "*": "{*}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\ttfamily\char34}", "`": r"\textasciigrave{}",
    "—": "---", "–": "--", "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "…": r"\ldots{}", "·": r"$\cdot$",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "§": r"$\mathsection$", "→": r"$\rightarrow$",
    "←": r"$\leftarrow$", "↔": r"$\leftrightarrow$", "⇄": r"$\rightleftharpoons$", "≤": r"$\leq$", "≥": r"$\geq$",
    "≠": r"$\neq$", "≈": r"$\approx$", "∞": r"$\infty$", "▲": r"\steletriangle{}", "◆": r"\stelediamond{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "•": r"\textbullet{}", "°": r"\textdegree{}", "€": r"\texteuro{}",
    "£": r"\pounds{}", "©": r"\copyright{}", "®": r"\textregistered{}", "™": r"\texttrademark{}",
    "‘": "`", "’": "'", "“": "``", "”": "''", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "\u00a0": "~", "µ": r"$\mu$",
}  # fmt: skip
_SPECIAL |= {raised: f"$^{{{plain}}}$" for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True)}
_JOINERS = "\u200c\u200d"  # between letters, to separate or join their shapes
_JOINED = {"--", "''", "``", ",,", "?`", "!`"}  # pairs that TeX joins to one sign
_GREEK = re.compile("[αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ]")
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b",
}  # fmt: skip


@lru_cache(maxsize=1 << 14)
def escape(text: str) -> str:
    """Escapes plain text, so that LaTeX prints exactly that text."""
    composed = unicodedata.normalize("NFC", re.sub(r"\s+", " ", neutralised(text)))
    return _nested(composed, direction.levels(composed) if direction.runs_leftwards(composed) else [0] * len(composed))


def _nested(text: str, levels: list[int], level: int = 0) -> str:
    """LaTeX of a text whose characters have these embedding levels, within text of embedding level `level`."""
    parts, place = [], 0
    for is_deeper, same in groupby(levels, key=lambda of_char: of_char > level):
        end = place + len(list(same))
        part = text[place:end]
        if is_deeper:
            command = "rightwards" if level % 2 else "leftwards"
            parts.append(rf"\stele{command}{{{_nested(part, levels[place:end], level + 1)}}}")
        else:
            shown = "".join(direction.MIRRORED.get(char, char) for char in part) if level % 2 else part
            parts += [_run(script, run) for script, run in _runs(shown)]
        place = end
    return "".join(parts)


def letter(char: str) -> str | None:
    """LaTeX of one character that every engine prints; None if the character needs a font for its script."""
    if char in _SPECIAL:
        return _SPECIAL[char]
    if _GREEK.match(char):
        name = unicodedata.name(char).rpartition(" ")[2]  # GREEK SMALL LETTER ALPHA
        name = {"LAMDA": "LAMBDA"}.get(name, name)
        return rf"$\{name.lower() if char.islower() else name.capitalize()}$"
    if " " <= char <= "~":
        return char
    base, *accents = unicodedata.normalize("NFD", char)
    if len(accents) == 1 and base.isascii() and accents[0] in _ACCENTS:
        return rf"\{_ACCENTS[accents[0]]}{{{base}}}"
    return None


def _script(char: str) -> str:
    """Script that a character belongs to; "" if it needs no font of its own."""
    if letter(char) is not None:
        return ""
    if char in _JOINERS:
        return "Combining"
    words = unicodedata.name(char, "unknown").removeprefix("EXTENDED ").split()
    return words[0].partition("-")[0].capitalize()  # the Arabic-Indic digits are of Arabic fonts


def _runs(text: str) -> list[tuple[str, str]]:
    """Splits a text into runs (script, text); a space or a mark between two letters of a script joins them."""
    scripts: list[str] = []
    for char, following in zip(text, f"{text[1:]} ", strict=False):
        script, before = _script(char), scripts[-1] if scripts else ""
        joins = script == "Combining" or (char == " " and _script(following) == before)
        scripts.append(before if before and joins else script)
    runs = groupby(zip(scripts, text, strict=True), key=itemgetter(0))
    return [(script, "".join(char for _, char in run)) for script, run in runs]


def _run(script: str, run: str) -> str:
    if not script:
        letters = [letter(char) or "" for char in run]
        pairs = zip(letters, [*letters[1:], ""], strict=True)  # two hyphens are no dash, two commas no quotation mark
        return "".join(sign + "{}" if sign[-1:] + following[:1] in _JOINED else sign for sign, following in pairs)
    codes = " ".join(f"U+{ord(char):04X}" for char in run if char != " ")
    return rf"\steleletters{{{script}}}{{{codes}}}{{{run}}}"


def path(text: str) -> str:
    """LaTeX of a path or a command in typewriter letters; it may break after a slash, an underscore or a space."""
    return rf"\texttt{{{_breakable(escape(text))}}}"


def _breakable(text: str) -> str:
    return re.sub(r"(/|\\_|,)", r"\1\\allowbreak{}", text)


def _words(text: str) -> str:
    """LaTeX of a label whose long words may break inside: it may be a model's key."""
    return re.sub(r"\S{25,}", lambda word: _breakable(word[0]), text)


def outlined(text: str) -> str:
    """Encodes plain text as the digits of a PDF string: an outline shows no LaTeX commands and needs no font.

    >>> outlined("A)")
    'FEFF00410029'
    """
    return f"FEFF{neutralised(text).encode('utf-16-be').hex().upper()}"


def heading(text: str, grid: Grid) -> str:
    """LaTeX of a group's heading; one that is wider than the table is broken into lines and does not stretch it."""
    words, room = rf"\textit{{{_words(escape(text))}}}", page_fit.width(grid)
    return rf"\stelelabel*{{{room:.0f}pt}}{{{words}}}" if page_fit.letters(text) > room else words


def label(content: str, box: Box, below: int) -> str:
    """LaTeX of a row's label, from that of its text; a long one is broken into lines.

    These need extra room only if they are more than the row's own line and the `below` further ones.
    """
    lines = page_fit.stub_lines(box)
    if lines == 1:
        return content
    return rf"\stelelabel{'*' if lines > below + 1 else ''}{{{page_fit.STUB:.0f}pt}}{{{_words(content)}}}"

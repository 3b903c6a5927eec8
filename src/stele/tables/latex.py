r"""A grid as a LaTeX tabular with booktabs. All text is escaped; nothing but booktabs and graphicx is needed.

A raised mark takes no part in the alignment: every number of a column is followed by a box as wide as the column's
widest mark. Letters that pdfLaTeX has no font for are left to `\steleunicode`: XeLaTeX and LuaLaTeX print them,
pdfLaTeX their code.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from stele.tables.layout import Box, Grid, GridLine

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "`": r"\`{}",
    "—": "---", "–": "--", "−": "$-$", "×": r"$\times$", "±": r"$\pm$", "…": r"\ldots{}", "·": r"$\cdot$",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "§": r"$\mathsection$", "→": r"$\rightarrow$",
    "←": r"$\leftarrow$", "↔": r"$\leftrightarrow$", "⇄": r"$\rightleftharpoons$", "≤": r"$\leq$", "≥": r"$\geq$",
    "≠": r"$\neq$", "≈": r"$\approx$",
    "‘": "`", "’": "'", "“": "``", "”": "''", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "\u00a0": "~", "µ": r"$\mu$",
}  # fmt: skip
_GREEK = re.compile("[αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ]")
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def escape(text: str) -> str:
    """Plain text as LaTeX that prints exactly that text."""
    return "".join(map(_letter, re.sub(r"\s+", " ", str(text))))


def _letter(char: str) -> str:
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
    return rf"\steleunicode{{{ord(char):04X}}}{{{char}}}"


def path(text: str) -> str:
    """A path or a command in typewriter letters, which may break after a slash, an underscore or a space."""
    breakable = re.sub(r"(/|\\_|,)", r"\1\\allowbreak{}", escape(text))
    return rf"\texttt{{{breakable}}}"


def box(value: Box, widest: str) -> str:
    """One box; `widest` is the longest raised mark of its column, for which room is kept after every number."""
    text = escape(value.text)
    if value.number and len(value.text) > 1:
        text = text.replace("-", "$-$", 1)
    if value.bold and text:
        text = rf"\textbf{{{text}}}"
    if value.underlined:
        text = rf"\underline{{{text}}}"
    if value.number and widest:
        return rf"{text}\stelemark{{{escape(value.raised)}}}{{{escape(widest)}}}" if text else ""
    return rf"{text}\textsuperscript{{{escape(value.raised)}}}" if value.raised else text


def table(grid: Grid) -> str:
    """The grid as one tabular environment."""
    lines = [line for section in grid.sections for line in section.lines]
    widest = [max((line.boxes[i].raised for line in lines), key=len, default="") for i in range(len(grid.columns))]
    numeric = [grid.is_number(i) for i in range(len(grid.columns))]
    setting = "l" * len(grid.stub) + "".join("r" if number else "l" for number in numeric)
    out = [rf"\begin{{tabular}}{{@{{}}{setting}@{{}}}}", r"\toprule", *_headers(grid, widest), r"\midrule"]
    for number, section in enumerate(grid.sections):
        if number:
            out.append(r"\midrule")
        if section.heading:
            out.append(rf"\multicolumn{{{len(setting)}}}{{@{{}}l@{{}}}}{{\textit{{{escape(section.heading)}}}}} \\")
            out.append(r"\addlinespace")
        out += [text for line in section.lines for text in _line(line, widest, space=line is not section.lines[0])]
    return "\n".join([*out, r"\bottomrule", r"\end{tabular}"])


def _headers(grid: Grid, widest: list[str]) -> list[str]:
    """The header line, with a line of groups and rules above it where columns have some."""
    first = len(grid.stub) + 1
    above, rules = [""] * len(grid.stub), []
    for group, columns in groupby(grid.columns, key=lambda column: column.group):
        span = len(list(columns))
        above.append(rf"\multicolumn{{{span}}}{{c}}{{{escape(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{first}-{first + span - 1}}}")
        first += span
    names = [*map(escape, grid.stub), *(box(header, mark) for header, mark in zip(grid.headers, widest, strict=True))]
    header = " & ".join(names) + r" \\"
    return [" & ".join(above) + r" \\", "".join(rules), header] if rules else [header]


def _line(line: GridLine, widest: list[str], space: bool) -> list[str]:
    stubs = [box(value, "") for value in line.stubs]
    boxes = [box(value, mark) for value, mark in zip(line.boxes, widest, strict=True)]
    return [*([r"\addlinespace[2pt]"] if space and line.starts_row else []), " & ".join([*stubs, *boxes]) + r" \\"]

"""Rendering of a grid, a command and nested facts as HTML. All text is escaped.

A number with an address is a button that unfolds its cell. Numbers are right-aligned in digits of one width, and every
cell of a column reserves the width of the column's widest raised mark, so that the decimals stay in line.
"""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from html import escape as escape_html
from itertools import groupby
from typing import Any

from stele.files.formats import neutralised
from stele.tables.render.direction import runs_leftwards
from stele.tables.render.layout import Box, Grid, Section

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


def table(grid: Grid, cell_id: Callable[[str], str]) -> str:
    """HTML table of a grid; `cell_id` turns a cell's address into the id of its box."""
    lines, count = grid.lines, len(grid.columns)
    room = [max((len(line.boxes[i].raised) for line in lines), default=0) for i in range(count)]
    numeric = [grid.is_number(i) for i in range(count)]
    body = "\n".join(
        f"<tbody>\n{_heading(section, len(grid.stub) + count)}{_lines(section, numeric, room, cell_id)}\n</tbody>"
        for section in grid.sections
    )
    return f"<table>\n<thead>\n{_headers(grid, numeric)}\n</thead>\n{body}\n</table>"


def _headers(grid: Grid, numeric: list[bool]) -> str:
    """HTML of the header line, with a line of groups above it if columns have groups."""
    grouped = any(column.group for column in grid.columns)
    stubs = "".join(
        f'<th scope="col"{_class("stub" if i == 0 else "")}{" rowspan=2" if grouped else ""}>{escape(text)}</th>'
        for i, text in enumerate(grid.stub)
    )
    names = "".join(
        f'<th scope="col"{_class("n" if number else "")}>{_content(header)}</th>'
        for header, number in zip(grid.headers, numeric, strict=True)
    )
    if not grouped:
        return f"<tr>{stubs}{names}</tr>"
    spans = [(text, len(list(group))) for text, group in groupby(grid.columns, key=lambda column: column.group)]
    above = "".join(f'<th scope="colgroup" class="group" colspan={span}>{escape(text)}</th>' for text, span in spans)
    return f"<tr>{stubs}{above}</tr>\n<tr>{names}</tr>"


def _heading(section: Section, columns: int) -> str:
    if not section.heading:
        return ""
    text = isolated(section.heading)
    return f'<tr class="heading"><th scope="rowgroup" colspan={columns}><span>{text}</span></th></tr>\n'


def _lines(section: Section, numeric: list[bool], room: list[int], cell_id: Callable[[str], str]) -> str:
    """HTML of the lines of a section; a row's label spans all its lines."""
    drawn = []
    for row in section.rows():
        label = f'<th scope="row" class="stub" rowspan={len(row)}>{_content(row[0].stubs[0])}</th>'
        for line in row:
            stubs = "".join(f'<th scope="row">{_content(stub)}</th>' for stub in line.stubs[1:])
            boxes = ""
            for box, number, width in zip(line.boxes, numeric, room, strict=True):
                button = cell_id(box.address) if box.address else ""
                boxes += f"<td{_class('n' if number else '')}>{_content(box, button, width if number else 0)}</td>"
            kind = {"paper": "paper", "diff.": "diff"}.get(line.stubs[-1].text, "")
            first = "first" if line.starts_row else ""
            drawn.append(f"<tr{_class(kind, first)}>{label if first else ''}{stubs}{boxes}</tr>")
    return "\n".join(drawn)


def _content(box: Box, button: str = "", room: int = 0) -> str:
    text = isolated(box.text.replace("-", "−") if box.number and len(box.text) > 1 else box.text)
    if box.bold and text:
        text = f"<b>{text}</b>"
    if box.underlined:
        text = f"<u>{text}</u>"
    if box.grey and text:
        text = f'<i class="dim">{text}</i>'
    if button and text:
        text = f'<button type="button" popovertarget="{button}">{text}</button>'
    if room:
        return f"{text}<sup{_class(f'w{min(room, MARK_WIDTHS[-1])}')}>{escape(box.raised)}</sup>"
    return f"{text}<sup>{escape(box.raised)}</sup>" if box.raised else text


def _class(*names: str) -> str:
    classes = " ".join(filter(None, names))
    return f' class="{classes}"' if classes else ""

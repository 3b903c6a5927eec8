"""Fitting of a grid on A4 pages, by estimates in points that LaTeX corrects.

A table is set in 8 pt and scaled down if it is too wide. If its text would fall below 6 pt, the table is turned by 90
degrees; if that is not enough, its columns continue on further pages, and so do its rows if it is too long. The page is
that of `all_tables.tex`; a document with a smaller page gets smaller letters.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from stele.tables.render.layout import Box, Grid, GridLine, Section

SIZE, SMALLEST = 8.0, 6.6  # letters of a table; above 6, because the estimate of a width may be some percent short
PAGE = (495.0, 735.0)  # width and height of the text on A4 with margins of 18 mm
LINE, ROW_GAP, HEADING = 9.5, 2.0, 14.0  # heights: a line, between rows, a heading
AROUND = 76.0  # three lines of caption, the header, the rules
COLUMN_GAP, STUB = 6.0, 130.0  # between columns; the widest label of a row that is not broken into lines
RAISED, BOLD = 0.92, 1.16  # widths beside those of plain letters: raised ones are small and broad


def fit(grid: Grid) -> tuple[list[Grid], bool]:
    """Chooses how to set a grid on pages: cut into parts, one per page, and whether turned by 90 degrees."""
    turned = SIZE * PAGE[0] / width(grid) < SMALLEST
    across, down = reversed(PAGE) if turned else PAGE
    blocks = _blocks(grid, across * SIZE / SMALLEST)
    scale = min(1.0, *(across / width(block) for block in blocks))
    return [part for block in blocks for part in _parts(block, (down - AROUND) / scale)], turned


def _blocks(grid: Grid, across: float) -> list[Grid]:
    """Cuts a grid between columns into blocks at most `across` points wide; groups that are not wider stay whole."""
    blocks: list[list[int]] = [[]]
    for _, places in groupby(range(len(grid.columns)), key=lambda i: grid.columns[i].group or i):
        group = list(places)
        for piece in [group] if width(_columns(grid, group)) <= across else ([place] for place in group):
            if blocks[-1] and width(_columns(grid, [*blocks[-1], *piece])) > across:
                blocks.append([])
            blocks[-1] += piece
    return [_columns(grid, block) for block in blocks] if len(blocks) > 1 else [grid]


def _columns(grid: Grid, places: Sequence[int]) -> Grid:
    """Copies a grid with the columns at `places` only, and all labels of rows."""
    sections = [
        replace(section, lines=[replace(line, boxes=[line.boxes[i] for i in places]) for line in section.lines])
        for section in grid.sections
    ]
    columns, headers = [grid.columns[i] for i in places], [grid.headers[i] for i in places]
    return replace(grid, columns=columns, headers=headers, sections=sections)


def width(grid: Grid) -> float:
    """Width of a grid in points, unscaled."""
    lines = grid.lines
    stubs = [min(STUB, _widest([Box(text), *(line.stubs[i] for line in lines)])) for i, text in enumerate(grid.stub)]
    columns = [_widest([header, *(line.boxes[i] for line in lines)]) for i, header in enumerate(grid.headers)]
    groups = groupby(zip(grid.columns, columns, strict=True), key=lambda pair: pair[0].group)
    wider = sum(
        max(0.0, letters(group) - sum(member_width + COLUMN_GAP for _, member_width in members))
        for group, members in groups
    )
    return sum(stubs) + sum(columns) + wider + COLUMN_GAP * (len(stubs) + len(columns) - 1)


def _widest(boxes: Sequence[Box]) -> float:
    """Width of a column in points: its widest text plus its widest raised mark."""
    return max(letters(box.text, box.bold) for box in boxes) + RAISED * max(letters(box.raised) for box in boxes)


@lru_cache(maxsize=1 << 14)
def letters(text: str, bold: bool = False) -> float:
    """Width in points of a text in 8 pt letters.

    >>> letters("34.0") < letters("MMMM")
    True
    """
    return SIZE * sum(map(_em, text)) * (BOLD if bold else 1.0)


def _em(char: str) -> float:
    if char in "iljtfrI.,:;'|!()[] ":
        return 0.3
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.78 if char.isupper() or char in "mw%—@" else 0.53


def stub_lines(label: Box) -> int:
    """Number of lines that a row's label takes."""
    return math.ceil(max(1.0, _widest([label]) / STUB))


def _parts(grid: Grid, room: float) -> list[Grid]:
    """Cuts a grid between rows into as few parts as possible, each at most `room` points high, evenly filled."""
    rows = [(section, row) for section in grid.sections for row in section.rows()]
    count = len(_cut(rows, room))
    limit = _height(grid.sections) / count
    while len(parts := _cut(rows, min(limit, room))) > count:
        limit += LINE
    return [replace(grid, sections=_sections(part)) for part in parts]


def _cut(rows: list[tuple[Section, list[GridLine]]], room: float) -> list[list[tuple[Section, list[GridLine]]]]:
    """Cuts rows into parts at most `room` points high, filled one after the other; a higher row stands alone."""
    parts: list[list[tuple[Section, list[GridLine]]]] = [[]]
    for row in rows:
        if parts[-1] and _height(_sections([*parts[-1], row])) > room:
            parts.append([])
        parts[-1].append(row)
    return parts


def _sections(rows: list[tuple[Section, list[GridLine]]]) -> list[Section]:
    """Puts rows under their headings again."""
    grouped = groupby(rows, key=lambda row: id(row[0]))
    return [
        Section(members[0][0].heading, [line for _, row in members for line in row])
        for members in (list(group) for _, group in grouped)
    ]


def _height(sections: Sequence[Section]) -> float:
    lines = [line for section in sections for line in section.lines]
    headings = sum(HEADING for section in sections if section.heading)
    return len(lines) * LINE + sum(ROW_GAP for line in lines if line.starts_row) + headings + 6.0 * len(sections)

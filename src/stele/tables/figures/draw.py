"""A figure as a page-wide picture: a head with its labels, the panels, and below them what one must know to read it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from stele.papers.figure import Figure
from stele.papers.paper import TODAY
from stele.tables.cell_map import WIDTH
from stele.tables.cells.states import STATES
from stele.tables.figures.data import Part
from stele.tables.figures.panels import PANELS, states_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

# inches
HEIGHTS = {"curves": 2.2, "distribution": 2.8, "projection": 2.8}
HEAD, TITLE, FOOT = 0.36, 0.24, 0.46  # of the picture; above a panel with a title; its horizontal labels
LEFT, BETWEEN = 0.62, 0.68  # vertical labels
SMALL, LARGE = 7, 9  # points
LINE, LETTERS = 0.135, 136  # of the notes: inches a line, letters a line
INDENT = "\u00a0" * 3  # plain spaces at the start of a line are lost in SVG
EXPLAINED = ("failed", "unavailable", "unreadable")  # states whose reasons differ; a projection's panel gives its own
REASONS = 3  # at most so many of them are told


def draw(figure: Figure, parts: Sequence[Part]) -> Picture:
    """The picture of a figure, to be written by `save_figure`."""
    from matplotlib.figure import Figure as Picture

    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    title = TITLE if any(panel.title for panel in figure.panels) else 0
    legend = LINE * len(figure.series) if figure.kind == "curves" else 0
    block = title + HEIGHTS[figure.kind] + FOOT + legend
    lines = notes(figure, parts)
    height = HEAD + rows * block + LINE * (len(lines) + 1)
    width = (WIDTH - LEFT - (columns - 1) * BETWEEN) / columns
    picture = Picture(figsize=(WIDTH, height))
    _head(picture, figure, parts, height)
    of_panel = {key: list(of_one) for key, of_one in groupby(parts, key=lambda part: part.panel.key)}
    for place, panel in enumerate(figure.panels):
        x = LEFT + place % columns * (width + BETWEEN)
        y = height - HEAD - (place // columns) * block - title - HEIGHTS[figure.kind]
        box = (x / WIDTH, y / height, width / WIDTH, HEIGHTS[figure.kind] / height)
        axes = picture.add_axes(box)
        axes.tick_params(labelsize=SMALL, width=0.5, length=2.5)
        for spine in axes.spines.values():
            spine.set_linewidth(0.5)
        axes.set_title(panel.title, fontsize=SMALL + 1, loc="left", parse_math=False)
        PANELS[figure.kind](axes, figure, of_panel[panel.key])
    for number, line in enumerate(lines):
        y = (LINE * (len(lines) - number)) / height
        picture.text(0, y, line, fontsize=SMALL, va="top", parse_math=False)
    return picture


def _head(picture: Picture, figure: Figure, parts: Sequence[Part], height: float) -> None:
    """Which figure it is, and in a frame the labels of what was measured."""
    top = 1 - 0.04 / height
    picture.text(0, top, title(figure), fontsize=LARGE, weight="bold", va="top")
    if labels := labels_of(parts):
        frame = {"boxstyle": "square,pad=0.3", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
        picture.text(0.99, top, ", ".join(labels), fontsize=LARGE, weight="bold", va="top", ha="right", bbox=frame)


def title(figure: Figure) -> str:
    """The name of a figure: `CCP, figure 1`."""
    return f"{figure.about.name}, figure {figure.number}"


def described(figure: Figure, parts: Sequence[Part]) -> str:
    """The figure in words: its caption, and what each panel shows in which state."""
    axes = {panel.key: figure.axis(panel).label for panel in figure.panels}
    texts = [figure.caption]
    for key, of_panel in groupby(parts, key=lambda part: part.panel.key):
        of_panel = list(of_panel)
        states = [
            ": ".join(filter(None, [part.series and part.series.label, states_in_words(part) or "measured"]))
            for part in of_panel
        ]
        texts.append(f"{of_panel[0].panel.title or axes[key]}: {'; '.join(states)}.")
    if labels := labels_of(parts):
        texts.append(f"Labels: {', '.join(labels)}.")
    return " ".join(texts)


def labels_of(parts: Sequence[Part]) -> list[str]:
    """The labels that anything measured in the figure bears."""
    return sorted({label for part in parts for outcome in part.outcomes for label in outcome.labels})


def notes(figure: Figure, parts: Sequence[Part]) -> list[str]:
    """The lines below the panels: caption, states that occur, marks that occur, footnotes."""
    texts = [figure.caption]
    outcomes = [outcome for part in parts for outcome in part.outcomes]
    for name, state in STATES.items():
        reasons = list(dict.fromkeys(one.reason for one in outcomes if one.state == name and one.reason))
        if name == "measured" or not any(one.state == name for one in outcomes):
            continue
        shown = reasons[:REASONS] if name in EXPLAINED and figure.kind != "projection" else []
        more = [f"and {len(reasons) - len(shown)} more"] if shown and len(reasons) > len(shown) else []
        texts.append(f"{name}: {state.meaning}" + (f" ({'; '.join([*shown, *more])})" if shown else ""))
    if figure.kind == "curves" and any(part.panel.printed for part in parts):
        values = "published values" if figure.paper == TODAY else "values that the paper prints"
        texts.append(f"Hollow marks: {values}; black where several series share one.")
    if any(one.deviation is not None for one in outcomes):
        texts.append("Bars: standard deviation over seeds.")
    texts += figure.footnotes
    return [line for text in texts for line in textwrap.wrap(text, LETTERS, subsequent_indent=INDENT)]

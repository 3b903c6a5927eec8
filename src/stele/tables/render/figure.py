"""Drawing of a figure, page-wide: a head with its labels, the panels, and below them caption, states and footnotes."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stele.papers.figure import Figure
from stele.papers.paper import TODAY
from stele.tables.render.figure_data import POINT_STATES, PanelSeries
from stele.tables.render.figure_panels import PANELS, WIDTH, curve_label, states_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


# in inches
HEIGHTS = {"curves": 2.2, "distribution": 2.8, "projection": 2.8}
HEAD, TITLE, FOOT = 0.36, 0.24, 0.46  # of the picture; above a panel with a title; its horizontal labels
LEFT, BETWEEN = 0.62, 0.68  # vertical labels
SMALL, LARGE = 7, 9  # points
LINE, LETTERS = 0.135, 136  # inches per line of the notes, letters per line
INDENT = "\u00a0" * 3  # plain spaces at the start of a line are lost in SVG
# states whose reasons are listed; a projection's panel gives its own
EXPLAINED = ("fail", "failed", "unavailable", "unreadable")
REASONS = 3  # most reasons listed


def draw(figure: Figure, panel_series: Sequence[PanelSeries]) -> Picture:
    """Draws a figure, to be written by `save_figure`."""
    from matplotlib.figure import Figure as Picture

    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    width = (WIDTH - LEFT - (columns - 1) * BETWEEN) / columns
    above = TITLE if any(panel.title for panel in figure.panels) else 0.0
    legend = 0.0
    if figure.kind == "curves":
        lines_below = Counter(part.panel.key for part in panel_series for _ in curve_label(part, width).split("\n"))
        legend = LINE * max(lines_below.values())
    block = above + HEIGHTS[figure.kind] + FOOT + legend
    lines = notes(figure, panel_series)
    height = HEAD + rows * block + LINE * (len(lines) + 1)
    picture = Picture(figsize=(WIDTH, height))
    _head(picture, figure, panel_series, height)
    for place, panel in enumerate(figure.panels):
        x = LEFT + place % columns * (width + BETWEEN)
        y = height - HEAD - (place // columns) * block - above - HEIGHTS[figure.kind]
        box = (x / WIDTH, y / height, width / WIDTH, HEIGHTS[figure.kind] / height)
        axes = picture.add_axes(box)
        axes.tick_params(labelsize=SMALL, width=0.5, length=2.5)
        for spine in axes.spines.values():
            spine.set_linewidth(0.5)
        axes.set_title(panel.title, fontsize=SMALL + 1, loc="left", parse_math=False)
        PANELS[figure.kind](axes, figure, [part for part in panel_series if part.panel.key == panel.key])
    for number, line in enumerate(lines):
        y = (LINE * (len(lines) - number)) / height
        picture.text(0, y, line, fontsize=SMALL, va="top", parse_math=False)
    return picture


def _head(picture: Picture, figure: Figure, panel_series: Sequence[PanelSeries], height: float) -> None:
    """Draws the figure's name and, in a frame, the labels of its results."""
    top = 1 - 0.04 / height
    picture.text(0, top, title(figure), fontsize=LARGE, weight="bold", va="top", parse_math=False)
    if labels := labels_of(panel_series):
        frame = {"boxstyle": "square,pad=0.3", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
        picture.text(0.99, top, ", ".join(labels), fontsize=LARGE, weight="bold", va="top", ha="right", bbox=frame)


def title(figure: Figure) -> str:
    """The name of a figure: `CCP, figure 1`."""
    return f"{figure.about.name}, figure {figure.number}"


def described(figure: Figure, panel_series: Sequence[PanelSeries]) -> str:
    """Describes the figure in words: its caption, and for each panel the state of its series."""
    texts = [figure.caption]
    for panel in figure.panels:
        states = []
        for part in panel_series:
            if part.panel.key == panel.key:
                state = states_in_words(part) or "measured"
                states.append(f"{part.series.label}: {state}" if part.series else state)
        texts.append(f"{panel.title or figure.axis(panel).label}: {'; '.join(states)}.")
    if labels := labels_of(panel_series):
        texts.append(f"Labels: {', '.join(labels)}.")
    return " ".join(texts)


def labels_of(panel_series: Sequence[PanelSeries]) -> list[str]:
    """Labels of all results in the figure."""
    return sorted({label for part in panel_series for outcome in part.outcomes for label in outcome.labels})


def notes(figure: Figure, panel_series: Sequence[PanelSeries]) -> list[str]:
    """Lines below the panels: caption, states and marks that occur, footnotes."""
    texts = [figure.caption]
    outcomes = [outcome for part in panel_series for outcome in part.outcomes]
    for name, state in POINT_STATES.items():
        of_state = [outcome for outcome in outcomes if outcome.state == name]
        if name == "measured" or not of_state:
            continue
        reasons = list(dict.fromkeys(outcome.reason for outcome in of_state if outcome.reason))
        listed = reasons[:REASONS] if name in EXPLAINED and figure.kind != "projection" else []
        if listed and len(reasons) > len(listed):
            listed.append(f"and {len(reasons) - REASONS} more")
        texts.append(f"{name}: {state.meaning}" + (f" ({'; '.join(listed)})" if listed else ""))
    if figure.kind == "curves" and any(part.panel.printed for part in panel_series):
        values = "published values" if figure.paper == TODAY else "values that the paper prints"
        panels = {part.panel.key: part.panel.printed.values() for part in panel_series}
        marks = Counter((key, *value) for key, printed in panels.items() for of in printed for value in of.items())
        star = "; a star where several series share one" if max(marks.values(), default=0) > 1 else ""
        texts.append(f"Hollow marks: {values}{star}.")
    counts = [(len(o.languages), len(value.languages)) for o, value in zip(outcomes, figure.references(), strict=True)]
    if partly := [f"{ours} of {all_of} languages" for ours, all_of in sorted({*counts}) if 0 < ours < all_of]:
        texts.append(f"Some of our averages cover {' or '.join(partly)}.")
    if any(outcome.deviation is not None for outcome in outcomes):
        texts.append("Bars: standard deviation over seeds.")
    texts += figure.footnotes
    return [line for text in texts for line in textwrap.wrap(text, LETTERS, subsequent_indent=INDENT)]

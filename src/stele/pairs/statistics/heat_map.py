"""A heat map of pairs: a square for each two languages, the diagonal for each language alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: a page of text
LEFT, BELOW, ABOVE = 0.35, 0.3, 0.4  # inches beside, below and above the squares
LARGEST = 0.7  # a square's side
LOWEST = 1.8  # the picture: what the squares mean has room beside one
BAR = 0.12  # height of the colour bar
COLOURS = "cividis"  # told apart by the colour-blind, and in grey
NONE = "#EEEEEE"  # no pair; what was not mined is white
DARK = 0.55  # of the scale: darker squares have white numbers


def draw(languages: Sequence[str], counts: Mapping[tuple[str, str], int], labels: Sequence[str] = ()) -> Figure:
    """The map: `counts` are pairs by (method, part), of which it shows clk ("en-fr") and ilk ("en")."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    size = len(languages)
    side = min(LARGEST, (WIDTH - LEFT) / max(size, 1))
    height = max(ABOVE + side * size + BELOW, LOWEST)
    figure = Figure(figsize=(WIDTH, height))
    bottom = 1 - (ABOVE + side * size) / height
    axes = figure.add_axes((LEFT / WIDTH, bottom, side * size / WIDTH, side * size / height))
    axes.set(xlim=(0, size), ylim=(size, 0))
    axes.set_xticks([n + 0.5 for n in range(size)], languages)
    axes.set_yticks([n + 0.5 for n in range(size)], languages)
    letters = min(8.0, 72 * side * 0.5)
    axes.tick_params(length=0, labelsize=letters, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    squares = _squares(languages, counts)
    counted = [count for count in squares.values() if count]
    scale = LogNorm(min(counted, default=1), max(max(counted, default=10), 2 * min(counted, default=1)))
    colours = colormaps[COLOURS]
    for (column, row), count in squares.items():
        on_diagonal = column == row
        colour = colours(scale(count)) if count else NONE if count == 0 else "white"
        edge = {"edgecolor": "black", "linewidth": 1.0} if on_diagonal else {"edgecolor": "#BBBBBB", "linewidth": 0.3}
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, zorder=2 if on_diagonal else 1, **edge))
        if count is not None:
            ink = "white" if count and scale(count) < DARK else "black"
            fit = min(8.0, 72 * side / 2.9)
            axes.text(
                column + 0.5, row + 0.5, short(count), ha="center", va="center", fontsize=fit, color=ink, zorder=3
            )
    title = "Pairs from the knowledge bases" + (f" ({', '.join(labels)})" if labels else "")
    figure.text(0, 1 - 0.05 / height, title, fontsize=10, weight="bold", va="top")
    # the upper triangle is free: what the squares mean stands there
    right = figure.add_axes((0.58, 1 - (ABOVE + 0.45) / height, 0.4, BAR / height))
    figure.colorbar(ScalarMappable(scale, colours), cax=right, orientation="horizontal")
    right.tick_params(labelsize=7, length=2)
    right.set_title("pairs (logarithmic)", fontsize=8, loc="left", pad=3)
    lines = [
        "below the diagonal: CLK, one entity in two languages",
        "on it, framed: ILK, sentences linked to each other",
    ]
    lines += ["grey: none; white: not mined"] if set(squares.values()) & {0, None} else []
    figure.text(0.58, 1 - (ABOVE + 0.75) / height, "\n".join(lines), fontsize=7, va="top", linespacing=1.4)
    return figure


def _squares(languages: Sequence[str], counts: Mapping[tuple[str, str], int]) -> dict[tuple[int, int], int | None]:
    """Pairs by (column, row), column <= row; None for what was not mined."""
    squares = {}
    for row, code in enumerate(languages):
        for column, other in enumerate(languages[: row + 1]):
            part = ("ilk", code) if column == row else ("clk", f"{other}-{code}")
            squares[column, row] = counts.get(part)
    return squares


def short(count: int) -> str:
    """A count in at most four signs.

    >>> [short(n) for n in (0, 999, 1234, 99_950, 5_000_000)]
    ['0', '999', '1.2k', '100k', '5M']
    """
    for unit, sign in ((10**6, "M"), (10**3, "k")):
        if count >= unit - unit / 2000:
            value = count / unit
            return f"{value:.1f}".removesuffix(".0") + sign if value < 9.95 else f"{value:.0f}{sign}"
    return str(count)

"""Drawing of one panel of a figure: curves, densities or projected pairs; without data it shows the panel's state."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from stele.papers.figure import Axis, Figure
from stele.tables.render.figure_data import POINT_STATES, Lengths, PanelSeries, Projection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches: a page of text
ON_PAPER = {"bbox_inches": "tight", "dpi": 200}  # how figures of a page's width are saved
# Okabe and Ito's colours, as in the map of cells; marks and dashes tell the series apart without them
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000")
MARKS = ("o", "s", "^", "D", "v")
SHARED = "*"  # series of a printed value that several series share
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
SIDES = ("#56B4E9", "#E69F00")  # the two languages of a projection
EMPTY = "#F7F7F7"
DARK = ("measured", "fail", "unreadable")  # states in whose colour black letters are lost
SMALL = 7  # points: 6 where a page is set an inch narrower
BINS = 60  # of a density, within the printed range
BELOW = 0.38  # inches from the panel down to the legend of its curves: nowhere in it is sure to be free
HANDLE, LETTERS = 0.3, 17  # of that legend: inches of a mark, letters per inch
MARGIN = 0.04  # share of a range, so that no mark is cut


def states_in_words(part: PanelSeries) -> str:
    """Names the states of a series in words, `not built` or `2 measured, 3 not run`; "" if all of it is measured."""
    states = Counter(outcome.state for outcome in part.outcomes)
    if len(states) > 1:
        return ", ".join(f"{count} {state}" for state, count in states.items())
    (state,) = states
    return "" if state == "measured" else state


def curves(axes: Axes, figure: Figure, parts: Sequence[PanelSeries]) -> None:
    """Draws a line for each series, broken where a point is not measured. Printed values are hollow marks."""
    from matplotlib.lines import Line2D

    axis, shown, handles = figure.axis(parts[0].panel), [], []
    for number, part in enumerate(parts):
        style = {"color": COLOURS[number % 5], "marker": _mark(number), "linestyle": DASHES[number % 5]}
        values = [math.nan if outcome.value is None else outcome.value * axis.factor for outcome in part.outcomes]
        errors = [(outcome.deviation or 0) * axis.factor for outcome in part.outcomes]
        shown += [value + sign * error for value, error in zip(values, errors, strict=True) for sign in (-1, 1)]
        places = [point.place for point in part.series.points]
        axes.plot(places, values, markersize=4, linewidth=1, **style)
        if any(errors):
            axes.errorbar(places, values, errors, fmt="none", ecolor=style["color"], elinewidth=0.8, capsize=2)
        label = curve_label(part, axes.figure.get_figwidth() * axes.get_position().width)
        handles.append(Line2D([], [], markersize=4, linewidth=1, label=label, **style))
    shown += _printed(axes, parts, axis)
    axes.set_xscale(figure.x.scale)
    axes.set_yscale(axis.scale)
    _scale(axes, figure, axis, shown, [point.place for part in parts for point in part.series.points])
    axes.grid(axis="y", linewidth=0.3, color="#CCCCCC")
    below = -BELOW / (axes.figure.get_figheight() * axes.get_position().height)
    _legend(axes, handles, "upper left", bbox_to_anchor=(0, below), frameon=False, borderaxespad=0, borderpad=0)
    if not any(part.measured for part in parts):
        if not axis.range:  # room for the state, above the printed marks
            axes.set_ylim(top=(axes.transScale + axes.transLimits).inverted().transform((0, 1.15))[1])
        _empty(axes, parts, height=0.92)


def curve_label(part: PanelSeries, width: float) -> str:
    """Label and states of a curve, in lines that are as wide as its panel of `width` inches."""
    text = ": ".join(filter(None, [part.series.label, states_in_words(part)]))
    return "\n".join(textwrap.wrap(text, round((width - HANDLE) * LETTERS)))


def _mark(number: int) -> str:
    """Shape of a series' marks; with its colour it is unique among 25 series."""
    return MARKS[(number + number // 5) % 5]


def _printed(axes: Axes, parts: Sequence[PanelSeries], axis: Axis) -> list[float]:
    """Draws the paper's values and returns them; a value that several series share is drawn once, as a star."""
    printed = parts[0].panel.printed
    places: dict[tuple[float, float], list[int]] = {}
    for number, part in enumerate(parts):
        for at, value in printed.get(part.series.key, {}).items():
            places.setdefault((at, value * axis.factor), []).append(number)
    for (at, value), (number, *others) in places.items():
        colour, mark = ("black", SHARED) if others else (COLOURS[number % 5], _mark(number))
        axes.plot([at], [value], mark, markersize=6, markerfacecolor="none", markeredgecolor=colour, zorder=1)
    return [value for _, value in places]


def distribution(axes: Axes, figure: Figure, parts: Sequence[PanelSeries]) -> None:
    """Draws a density for each series; the legend has the shares up to the reference length, ours and the paper's."""
    from matplotlib.lines import Line2D

    axis, shown, handles = figure.axis(parts[0].panel), [], []
    low, high = figure.x.range or (0.0, 1.0 + max((p.data.counts[-1][0] for p in parts if _lengths(p)), default=0))
    reference = figure.reference or 0.0
    for number, part in enumerate(parts):
        style = {"color": COLOURS[number % 5], "linestyle": DASHES[number % 5]}
        texts = [states_in_words(part)]
        if lengths := _lengths(part):
            density = [value * axis.factor for value in densities(lengths, low, high)]
            edges = [low + (high - low) * n / BINS for n in range(BINS + 1)]
            axes.stairs(density, edges, linewidth=1, **style)
            shown += [0.0, *density]  # its area says the share, so the axis begins at 0
            texts = [f"{lengths.share_up_to(reference):.3f}"]
        printed = part.panel.printed.get(part.series.key, {}).get(reference)
        texts += [f"paper: {printed:.3f}"] if printed is not None else []
        handles.append(Line2D([], [], linewidth=1, label=f"{part.series.label}: {', '.join(texts)}", **style))
    axes.axvline(reference, color="#666666", linewidth=0.8, linestyle=(0, (2, 2)))
    _scale(axes, figure, axis, shown, (low, high))
    place = axes.get_xaxis_transform()
    axes.text(reference, 0.98, f"\u00a0{reference:g}", fontsize=SMALL, va="top", color="#666666", transform=place)
    _legend(axes, handles, "upper right", title=f"share of documents ≤ {reference:g}")
    if not any(part.measured for part in parts):
        _empty(axes, parts)


def _lengths(part: PanelSeries) -> Lengths | None:
    return part.data if isinstance(part.data, Lengths) else None


def densities(lengths: Lengths, low: float, high: float) -> list[float]:
    """Densities in `BINS` bins from `low` to `high`: a bin's share of all documents, longer ones too, over its width.

    >>> densities(Lengths([(0, 1), (59, 1), (60, 2)]), 0, 60)[-1]
    0.25
    """
    width, counts = (high - low) / BINS, [0] * BINS
    for tokens, count in lengths.counts:
        place = math.floor((tokens - low) / width)
        if 0 <= place < BINS:
            counts[place] += count
    return [count / lengths.documents / width for count in counts]


def projection(axes: Axes, figure: Figure, parts: Sequence[PanelSeries]) -> None:
    """Draws sentences as small marks, highlighted pairs as large joined marks, and shares of variance at the axes."""
    (part,) = parts
    axes.set_xticks([]), axes.set_yticks([])
    _labels(axes, figure.x, figure.axis(part.panel))
    if not isinstance(part.data, Projection):
        _empty(axes, parts)
        return
    from matplotlib.lines import Line2D

    sides = list(part.data.points.values())
    handles = []
    for side, series, mark, colour in zip(sides, figure.series, MARKS[::2], SIDES, strict=False):
        style: dict[str, Any] = {"marker": mark, "color": colour, "linestyle": "none", "markeredgewidth": 0}
        axes.plot(*zip(*side.values(), strict=True), markersize=2, **style)
        handles.append(Line2D([], [], markersize=4, label=series.label, **style))
    for number, line in enumerate(spread(sorted(sides[0]), figure.highlighted or 0)):
        pair, colour = [side[line] for side in sides], COLOURS[number % 5]
        axes.plot(*zip(*pair, strict=True), color=colour, linewidth=1, zorder=3)
        for point, mark in zip(pair, MARKS[::2], strict=False):
            axes.plot(*point, marker=mark, color=colour, markersize=6, markeredgecolor="white", zorder=4)
    axes.set_aspect("equal", adjustable="datalim")
    _labels(axes, figure.x, figure.axis(part.panel), *(f"{share:.1%} of variance" for share in part.data.explained))
    _legend(axes, handles, "best", title=f"{len(sides[0]):,} pairs")


def spread(lines: Sequence[int], count: int) -> list[int]:
    """Selects `count` of the lines, evenly spread; all lines if there are no more.

    >>> spread(range(1000), 5)
    [100, 300, 500, 700, 900]
    """
    if count >= len(lines):
        return list(lines)
    return [lines[(2 * n + 1) * len(lines) // (2 * count)] for n in range(count)]


def _scale(axes: Axes, figure: Figure, axis: Axis, shown: Iterable[float], places: Sequence[float]) -> None:
    """Sets the printed ranges and ticks; a vertical range that our values leave is widened, with its own ticks.

    Without a printed range the horizontal axis covers all `places`, also those of points that are not measured.
    """
    values = [value for value in shown if not math.isnan(value)]
    for name, printed_axis, inside in (("x", figure.x, [] if figure.x.range else places), ("y", axis, values)):
        if printed_axis.scale == "log":
            positive = [value for value in inside if value > 0]
            inside = positive if printed_axis.range else _log_limits(positive)
        low, high = printed_axis.range or (min(inside, default=0), max(inside, default=1))
        wider = min([low, *inside]), max([high, *inside])
        margin = MARGIN * ((wider[1] - wider[0]) or 1) if printed_axis.scale == "linear" else 0
        below, above = figure.kind == "curves", figure.kind == "curves" or wider[1] > high  # a density stands on 0
        getattr(axes, f"set_{name}lim")(wider[0] - margin * below, wider[1] + margin * above)
        if printed_axis.ticks and wider == (low, high):
            getattr(axes, f"set_{name}ticks")(printed_axis.ticks)
    _labels(axes, figure.x, axis)


def _log_limits(places: Sequence[float]) -> tuple[float, float]:
    """Ends of a logarithmic axis with room for `places`."""
    low, high = min(places, default=1), max(places, default=1)
    room = (high / low) ** MARGIN if high > low else 2
    return low / room, high * room


def _labels(axes: Axes, x: Axis, y: Axis, *share_texts: str) -> None:
    for name, axis, share_text in zip("xy", (x, y), share_texts or ("", ""), strict=True):
        behind = ", ".join(filter(None, [axis.unit, share_text]))
        text = f"{axis.label} ({behind})" if behind else axis.label
        getattr(axes, f"set_{name}label")(text, fontsize=SMALL, parse_math=False)


def _legend(axes: Axes, handles: Sequence[Any], place: str, **options: Any) -> None:
    legend = axes.legend(handles=handles, loc=place, fontsize=SMALL, title_fontsize=SMALL, **options)
    legend.get_frame().set_linewidth(0.4)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _empty(axes: Axes, parts: Sequence[PanelSeries], height: float = 0.6) -> None:
    """Draws a pale panel with its state, in the state's colour of the map of cells, and the reason."""
    outcomes = [outcome for part in parts for outcome in part.outcomes]
    states = list(dict.fromkeys(outcome.state for outcome in outcomes))
    axes.set_facecolor(EMPTY)
    words: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes, "parse_math": False}
    if len(states) > 1:
        axes.text(0.5, height, "nothing measured yet", fontsize=SMALL + 1, weight="bold", **words)
        return
    (state,) = states
    frame = {
        "boxstyle": "square,pad=0.4",
        "facecolor": POINT_STATES[state].colour,
        "edgecolor": "#888888",
        "linewidth": 0.5,
    }
    ink = "white" if state in DARK else "black"
    axes.text(0.5, height, state, fontsize=SMALL + 1, weight="bold", color=ink, bbox=frame, **words)
    reasons = list(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    if len(reasons) == 1:
        text = "\n".join(textwrap.wrap(reasons[0], 48))
        axes.text(0.5, height - 0.08, text, fontsize=SMALL, **{**words, "va": "top"})


PANELS: dict[str, Callable[[Any, Figure, Sequence[PanelSeries]], None]] = {
    "curves": curves,
    "distribution": distribution,
    "projection": projection,
}

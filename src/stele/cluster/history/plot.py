"""What rules took against the plan, as a picture: hours beside those expected, and shares of what jobs requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

WIDTH, LINE, AROUND = 9.0, 0.26, 1.25  # inches: the page, a rule, what stands above and below
TOOK, EXPECTED, TIME, MEMORY = "#4477AA", "black", "#228833", "#EE6677"
LEAST, MOST = 1e-3, 2  # shares beyond are drawn here
TICKS = {0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36_000: "10 h"}
TICKS |= {3600 * 10**n: f"{10**n:,} h" for n in range(2, 7)}


def draw(rules: DataFrame, jobs: DataFrame) -> Figure:
    """The picture of what summary.by_rule has: a line a rule, those that took longest at the top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, AROUND + LINE * max(len(rules), 1)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _hours(left, rules)
    _shares(right, rules, jobs)
    left.set_yticks(range(len(rules)), [f"{name} ({number})" for name, number in rules["jobs"].items()], fontsize=8)
    left.set_ylim(len(rules) - 0.4, -0.6)
    for axes in (left, right):
        axes.tick_params(axis="x", labelsize=8)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    figure.suptitle("What the jobs of each rule took", fontsize=10, weight="bold", x=0.01, ha="left")
    return figure


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=8, frameon=False, borderaxespad=0)


def _hours(axes: Axes, rules: DataFrame) -> None:
    """Time of all jobs of a rule as a point, the expected one as a stroke, and a line between them."""
    took, expected = (
        [(seconds, place) for place, seconds in enumerate(rules[column]) if seconds]
        for column in ("wall_s", "expected_s")
    )
    other = {place: seconds for seconds, place in expected}
    for seconds, place in took:
        axes.plot([seconds, other.get(place, seconds)], [place, place], color=TOOK, linewidth=1.2, zorder=1)
    if took:
        axes.scatter(*zip(*took, strict=True), s=32, color=TOOK, label="took", zorder=3)
    if expected:
        axes.scatter(*zip(*expected, strict=True), marker="|", s=90, color=EXPECTED, label="expected", zorder=2)
    axes.set_xscale("log")
    seconds = [value for value, _ in (*took, *expected)] or [1]
    axes.set_xlim(min(seconds) / 2, max(seconds) * 2)
    shown = {value: name for value, name in TICKS.items() if min(seconds) / 2 <= value <= max(seconds) * 2}
    axes.set_xticks(list(shown), list(shown.values()))
    axes.set_xticks([], minor=True)
    axes.set_xlabel("all jobs one after the other (jobs in brackets)", fontsize=8)
    _legend(axes)


def _shares(axes: Axes, rules: DataFrame, jobs: DataFrame) -> None:
    """A point a job: what it took of the time and of the memory that it requested."""
    place = jobs["rule"].map({name: number for number, name in enumerate(rules.index)})
    for column, colour, shift, label in (
        ("share_of_time", TIME, -0.16, "of the time requested"),
        ("share_of_memory", MEMORY, 0.16, "of the memory"),
    ):
        shares = jobs[column].dropna().astype(float).clip(LEAST, MOST)
        axes.scatter(shares, place[shares.index] + shift, s=7, color=colour, linewidths=0, alpha=0.6, label=label)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(LEAST * 0.8, MOST * 1.1)
    axes.set_xticks([0.001, 0.01, 0.1, 1], ["0.1 % or less", "1 %", "10 %", "all"])
    axes.set_xlabel("share of what a job requested, a point a job", fontsize=8)
    _legend(axes)

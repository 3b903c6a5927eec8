"""A difference with its interval as a small picture: dot and whisker, zero, the bar around it, the printed value.

All pictures of a page have one scale, so that they can be compared by eye; what lies outside ends in an arrow. It is
SVG with attributes alone, since a page allows no style but its own, and says in words what it shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from stele.tables.render.html import escape
from stele.tables.render.jinja import Ready

WIDTH, HEIGHT, MARGIN = 220, 22, 8


@dataclass(frozen=True)
class Difference:
    """What one picture shows, in a table's unit; `bar` is the smallest difference of interest."""

    mean: float
    low: float
    high: float
    bar: float | None = None
    printed: float | None = None

    @property
    def said(self) -> str:
        """The same in words."""
        texts = [f"{self.mean:+.3g}, interval {self.low:+.3g} to {self.high:+.3g}"]
        texts += [f"smallest difference of interest {self.bar:g}"] if self.bar is not None else []
        texts += [f"printed {self.printed:+.3g}"] if self.printed is not None else []
        return "; ".join(texts)


def reach(differences: list[Difference]) -> float:
    """How far from zero the scale of a page goes: nine of ten whiskers lie within it."""
    ends = sorted(max(abs(one.low), abs(one.high), abs(one.printed or 0)) for one in differences)
    return ends[max(0, round(0.9 * len(ends)) - 1)] if ends and ends[-1] else 1.0


def whisker(difference: Difference, scale: float) -> Ready:
    """The picture; `scale` is the difference at its edges."""

    def at(value: float) -> float:
        inside = max(-1.0, min(1.0, value / scale))
        return round(WIDTH / 2 + inside * (WIDTH / 2 - MARGIN), 1)

    middle = HEIGHT / 2
    low, high, mean = at(difference.low), at(difference.high), at(difference.mean)
    parts = [f'<line class="zero" x1="{at(0)}" x2="{at(0)}" y1="1" y2="{HEIGHT - 1}"/>']
    if difference.bar is not None:
        left = at(-difference.bar)
        width = round(at(difference.bar) - left, 1)
        parts.insert(0, f'<rect class="bar" x="{left}" y="3" width="{width}" height="{HEIGHT - 6}"/>')
    parts.append(f'<line class="interval" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
    if difference.low < -scale:
        parts.append(f'<path class="dot" d="M2 {middle}l6 -4v8z"/>')
    if difference.high > scale:
        parts.append(f'<path class="dot" d="M{WIDTH - 2} {middle}l-6 -4v8z"/>')
    if difference.printed is not None:
        place = at(difference.printed)
        parts.append(f'<path class="printed" d="M{place} {middle - 6}l5 6l-5 6l-5 -6z"/>')
    if abs(difference.mean) <= scale:
        parts.append(f'<circle class="dot" cx="{mean}" cy="{middle}" r="4"/>')
    label = escape(difference.said)
    return Ready(
        f'<svg class="whisker" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}"><title>{label}</title>{"".join(parts)}</svg>'
    )

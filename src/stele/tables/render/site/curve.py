"""A loss curve as a small picture: a line a seed, chance as a dashed one, and in words what it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stele.tables.render.html import escape
from stele.tables.render.jinja import Ready

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 360, 140, 34, 18, 8


@dataclass(frozen=True)
class Curve:
    """The losses of one task: by seed, (step, loss) in nats. `chance` is what a guess has."""

    task: str
    seeds: dict[int, list[tuple[int, float]]]
    chance: float | None
    last: dict[int, float]

    @property
    def said(self) -> str:
        """The same in words."""
        seeds = f"{len(self.seeds)} seed{'' if len(self.seeds) == 1 else 's'}"
        ends = ", ".join(f"{loss:.2f}" for _, loss in sorted(self.last.items()))
        chance = f"; by chance {self.chance:.2f}" if self.chance is not None else ""
        return f"Loss of {self.task} in nats over the steps, {seeds}; at the end {ends}{chance}"


def curves(kept: Sequence[dict]) -> list[Curve]:
    """The curves of a model's tasks, from what is kept of its pretrainings (evidence/trainings.py)."""
    tasks: dict[str, dict[int, list[tuple[int, float]]]] = {}
    for one in kept:
        steps = one.get("curve", {}).get("step", [])
        for task, losses in one.get("curve", {}).items():
            points = [(step, loss) for step, loss in zip(steps, losses, strict=True) if loss is not None]
            if task != "step" and points:
                tasks.setdefault(task, {})[one["seed"]] = points
    return [
        Curve(
            task,
            seeds,
            next((one["chance"][task] for one in kept if task in one.get("chance", {})), None),
            {one["seed"]: one["losses"][task] for one in kept if task in one.get("losses", {})},
        )
        for task, seeds in tasks.items()
    ]


def picture(curve: Curve) -> Ready:
    """The picture, from zero to what is highest."""
    points = [point for seed in curve.seeds.values() for point in seed]
    steps = max(step for step, _ in points)
    top = _round_up(max([loss for _, loss in points] + ([curve.chance] if curve.chance else [])))

    def x(step: float) -> float:
        return round(LEFT + (WIDTH - LEFT - 4) * step / steps, 1)

    def y(loss: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - loss / top), 1)

    parts = [
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - 4}" y1="{y(level)}" y2="{y(level)}"/>'
        f'<text class="tick" x="{LEFT - 4}" y="{y(level) + 4}" text-anchor="end">{level:g}</text>'
        for level in (0, top / 2, top)
    ]
    parts += [f'<text class="tick" x="{WIDTH - 4}" y="{HEIGHT - 4}" text-anchor="end">{steps} steps</text>']
    if curve.chance is not None:
        parts.append(
            f'<line class="chance" x1="{LEFT}" x2="{WIDTH - 4}" y1="{y(curve.chance)}" y2="{y(curve.chance)}"/>'
        )
    for _, seed in sorted(curve.seeds.items()):
        path = " ".join(f"{x(step)},{y(loss)}" for step, loss in seed)
        parts.append(f'<polyline class="loss" points="{path}"/>')
    label = escape(curve.said)
    return Ready(
        f'<svg class="curve" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}"><title>{label}</title>{"".join(parts)}</svg>'
    )


def _round_up(value: float) -> float:
    """The next higher of 1, 2, 5, 10 and so on.

    >>> _round_up(3.3), _round_up(0.7)
    (5.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(max(value, 1e-9)))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if value <= step * power + 1e-12)

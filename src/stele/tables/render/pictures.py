"""Pictures in pages: drawn figures, differences with intervals, loss curves.

A figure is read back from its SVG file, with its title and description, and goes into a page as a data address, so that
the page needs no other file. As an image an SVG runs no script and loads nothing, whatever it holds. The small pictures
are SVG with attributes alone, since a page allows no style but its own, and say in words what they show.
"""

import base64
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stele.errors import SteleError
from stele.files.formats import amount
from stele.files.reading import reading
from stele.tables.render.html import escape
from stele.tables.render.jinja import Ready, templates
from stele.training.curve import NORM

_NAME = re.compile(r"figure_(\d\d)")
WHISKER_WIDTH, WHISKER_HEIGHT, MARGIN = 260, 36, 18
AXIS = 22  # its height from above; the scale is written below it
CURVE_WIDTH, CURVE_HEIGHT, LEFT, BOTTOM, TOP = 360, 140, 34, 18, 8
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


@dataclass(frozen=True)
class Picture:
    """One drawn figure. `file` is its path from the pages, `data` its data URL; `problem` says why it has none."""

    file: str
    title: str
    description: str = ""
    data: str = ""
    problem: str = ""

    @property
    def id(self) -> str:
        """Identifier on a page: `f01` for figure 1 of a paper, the file's name for others (`cell_map`)."""
        stem = Path(self.file).stem
        return f"f{match[1]}" if (match := _NAME.fullmatch(stem)) else stem

    @property
    def paper(self) -> str:
        """Key of the paper that the figure belongs to, "" if it belongs to all."""
        return self.file.partition("/")[0] if "/" in self.file else ""

    @property
    def files(self) -> list[str]:
        """The picture's files: as SVG, and as PDF beside it."""
        return [self.file, f"{self.file.removesuffix('svg')}pdf"]


def drawn(folder: Path, papers: Mapping[str, Path]) -> list[Path]:
    """Paths of the figures in a folder of tables that have a spec in their paper's folder, and of the map of all cells.

    A figure without a spec is left over from an earlier state of its paper.
    """
    specs = [(key, path.stem) for key, paper in papers.items() for path in sorted(paper.glob("figure_*.yaml"))]
    files = [*(folder / key / f"{stem}.svg" for key, stem in specs), folder / "cell_map.svg"]
    return [path for path in files if path.is_file()]


def pictures(paths: Iterable[Path], folder: Path) -> Iterator[Picture]:
    """Yields the figures of SVG files, for pages in `folder`; a damaged one has its error as `problem`."""
    for path in paths:
        name = Path(os.path.relpath(path, folder)).as_posix()
        try:
            yield _read(path, name)
        except SteleError as error:
            yield Picture(name, name, problem=str(error))


def _read(path: Path, name: str) -> Picture:
    from lxml import etree

    with reading(path, "SVG", "remove it and draw it again"):
        content = path.read_bytes()
        tree = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    title, description = (tree.findtext(f".//{_DUBLIN_CORE}{key}") or "" for key in ("title", "description"))
    data = base64.b64encode(content).decode("ascii")
    return Picture(name, title or name, description, f"data:image/svg+xml;base64,{data}")


# --- differences ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Difference:
    """A difference and its interval, in a table's unit; `bar` is the smallest difference of interest.

    `rival` names the other side of the difference: "against mBERT".
    """

    mean: float
    low: float
    high: float
    bar: float | None = None
    printed: float | None = None
    rival: str = ""

    @property
    def words(self) -> str:
        texts = [self.rival] if self.rival else []
        texts += [f"{self.mean:+.3g}, interval {self.low:+.3g} to {self.high:+.3g}"]
        texts += [f"smallest difference of interest {self.bar:g}"] if self.bar is not None else []
        texts += [f"printed {self.printed:+.3g}"] if self.printed is not None else []
        return "; ".join(texts)


def reach(differences: list[Difference]) -> float:
    """Scale of all whiskers on a page: the difference at the ends of their axis; nine of ten whiskers lie within it."""
    ends = sorted(
        max(abs(difference.low), abs(difference.high), abs(difference.printed or 0)) for difference in differences
    )
    return next((end for end in ends[max(0, round(0.9 * len(ends)) - 1) :] if end), 1.0)  # skips zeros


def whisker(difference: Difference, scale: float) -> Ready:
    """Draws dot and whisker with zero, the bar around it and the printed value; `scale` is the difference at the ends.

    A whisker that extends beyond the ends of the axis has an arrow there, and so has a printed value beyond them.
    """

    def at(value: float) -> float:
        inside = max(-1.0, min(1.0, value / scale))
        return round(WHISKER_WIDTH / 2 + inside * (WHISKER_WIDTH / 2 - MARGIN), 1)

    return _svg("whisker", WHISKER_WIDTH, WHISKER_HEIGHT, difference.words, difference=difference, scale=scale, at=at)


def _svg(name: str, width: int, height: int, words: str, **values: Any) -> Ready:
    """Fills the template of a small picture; `words` describe the picture."""
    template = templates(escape).get_template(f"{name}.svg.j2")
    sizes = {"width": width, "height": height, "margin": MARGIN, "axis": AXIS, "left": LEFT}
    return Ready(template.render(words=words, **sizes, **values))


# --- losses -----------------------------------------------------------------------------------------------------------
@dataclass
class Curve:
    """Loss curves of one task: for each seed, pairs (step, loss in nats). `chance` is the loss of a guess."""

    task: str
    seeds: dict[int, list[tuple[int, float]]]
    chance: float | None = None
    last: dict[int, float] = field(default_factory=dict)

    @property
    def words(self) -> str:
        ends = ", ".join(f"{loss:.2f}" for _, loss in sorted(self.last.items()))
        chance = f"; by chance {self.chance:.2f}" if self.chance is not None else ""
        seeds = amount(len(self.seeds), "seed")
        return f"Loss of {self.task} in nats over the steps, {seeds}; at the end {ends}{chance}"


def curves(trainings: Sequence[dict]) -> list[Curve]:
    """Loss curves of a model's tasks, from its packed pretrainings (claims/judging/trainings.py).

    A packed curve also has figures of the tasks, such as shares of correct pairs, and the norm of gradients.
    """
    tasks: dict[str, Curve] = {}
    for training in trainings:
        steps = training.get("curve", {}).get("step", [])
        for task, losses in training.get("curve", {}).items():
            points = [(step, loss) for step, loss in zip(steps, losses, strict=True) if loss is not None]
            if task in training.get("losses", {}) and task != NORM and points:
                tasks.setdefault(task, Curve(task, {})).seeds[training["seed"]] = points
    for task, curve in tasks.items():
        for training in reversed(trainings):
            curve.chance = training.get("chance", {}).get(task, curve.chance)
        for training in trainings:
            if task in training.get("losses", {}):
                curve.last[training["seed"]] = training["losses"][task]
    return list(tasks.values())


def draw_curve(curve: Curve) -> Ready:
    """Draws a line for each seed and a dashed one for chance, from zero to the highest loss."""
    points = [point for seed in curve.seeds.values() for point in seed]
    steps = max(step for step, _ in points)
    top = _round_up(max([loss for _, loss in points] + ([curve.chance] if curve.chance else [])))

    def x(step: float) -> float:
        return round(LEFT + (CURVE_WIDTH - LEFT - 4) * step / steps, 1)

    def y(loss: float) -> float:
        return round(TOP + (CURVE_HEIGHT - TOP - BOTTOM) * (1 - loss / top), 1)

    return _svg("curve", CURVE_WIDTH, CURVE_HEIGHT, curve.words, curve=curve, x=x, y=y, top=top, steps=steps)


def _round_up(value: float) -> float:
    """Rounds up to the next of 1, 2, 5, 10 and so on.

    >>> _round_up(3.3), _round_up(0.7)
    (5.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(max(value, 1e-9)))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if value <= step * power + 1e-12)

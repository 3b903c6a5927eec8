"""Count the pairs mined from knowledge bases: a table (CSV, Markdown) and a heat map of languages (SVG).

The table has a row for each language (pages, pages with an entity, links) and for each recipe and part (candidates,
pairs, dropped candidates by reason, pairs shared with each other recipe; section pairs are not compared, because their
texts are drawn in training). The heat map shows the number of CLK pairs of each two languages and, on its diagonal, the
number of ILK pairs of each language.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stele.artifacts import records
from stele.command.arguments import Job, Some
from stele.errors import SteleError
from stele.files.atomic import atomic_file, check_marked
from stele.files.figures import save_figure
from stele.files.formats import table, write_csv
from stele.files.reading import reading
from stele.pairs.mining.knowledge import read_sketch, shared

if TYPE_CHECKING:
    from matplotlib.figure import Figure


log = logging.getLogger(__name__)

OF_A_LANGUAGE = ("pages", "pages_with_entity", "links")
OF_A_PART = ("candidates", "pairs")
FIRST = ("recipe", "method", "part")
OF_TEXTS = "pairs knowledge_pairs"  # the job whose parts can be compared
JOBS = (OF_TEXTS, "pairs section_pairs")

TITLE = "Pairs mined from the knowledge bases"  # marks the page as an output of this command

Row = dict[str, Any]


class PairStatistics(Job):
    pairs: Some[str]
    """Records of `pairs knowledge_pairs` or `pairs section_pairs`, each as RECIPE=RECORD."""
    output: Path
    """The table, FILE.csv; FILE.md and FILE.svg are written beside it."""


def run(args: PairStatistics) -> None:
    """Writes the three files. Raises SteleError for another job's record, a repeated part or another's .md or .svg."""
    if args.output.suffix != ".csv":
        raise SteleError(f"--output {args.output}: want a name that ends in .csv")
    page = args.output.with_suffix(".md")
    heat_map = args.output.with_suffix(".svg")
    for path in (page, args.output):
        if path.exists() and not is_made_here(page):
            raise SteleError(f"{path}: exists, and is not an output of this command; choose another name for --output")
    check_marked(heat_map)
    # the records by recipe and part
    part_records: dict[tuple[str, str], dict[str, Any]] = {}
    paths: dict[tuple[str, str], Path] = {}
    for item in args.pairs:
        recipe, equals, path = item.partition("=")
        if not (recipe and equals and path):
            raise SteleError(f"--pairs {item!r}: want RECIPE=RECORD")
        record = records.read_record(path)
        if record.get("job") not in JOBS:
            raise SteleError(f"{path}: found a record of {record.get('job')!r}, want one of {' or '.join(JOBS)}")
        if (recipe, record["part"]) in part_records:
            raise SteleError(f"--pairs: {recipe} of {record['part']} is given twice; give it once")
        part_records[recipe, record["part"]], paths[recipe, record["part"]] = record, Path(path)
    # the table
    sketches = {key: read_sketch(path) for key, path in paths.items() if part_records[key]["job"] == OF_TEXTS}
    languages, parts = language_rows(part_records), part_rows(part_records, sketches)
    with atomic_file(args.output) as handle:
        names = columns([*languages, *parts])
        write_csv(handle, [names, *([row.get(name, "") for name in names] for row in (*languages, *parts))])
    # the page and the heat map
    labels = sorted({label for record in part_records.values() for label in record["labels"]})
    with atomic_file(page) as handle:
        handle.write(markdown(languages, parts, labels))
    counts = {(row["method"], row["part"]): row["pairs"] for row in parts if row["recipe"] == row["method"]}
    picture = draw([row["part"] for row in languages], counts, labels)
    save_figure(picture, heat_map, TITLE)
    log.info("%d languages, %d parts: %d pairs", len(languages), len(parts), sum(row["pairs"] for row in parts))


def is_made_here(page: Path) -> bool:
    """Whether a page exists that begins with the title that this command writes."""
    if not page.is_file():
        return False
    with reading(page), page.open("rb") as handle:
        return handle.readline(len(TITLE) + 3) == f"# {TITLE}\n".encode()


def language_rows(part_records: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[Row]:
    """Builds the table's rows of languages, in the order of their codes."""
    known: dict[str, dict[str, int]] = {}
    for record in part_records.values():
        known |= record["knowledge"]
    rows = []
    for code, counts in sorted(known.items()):
        row: Row = dict.fromkeys(FIRST, "")
        row["part"] = code
        rows.append(row | {name: counts[name] for name in OF_A_LANGUAGE})
    return rows


def part_rows(
    part_records: Mapping[tuple[str, str], Mapping[str, Any]], sketches: Mapping[tuple[str, str], np.ndarray]
) -> list[Row]:
    """Builds the table's rows of recipes and parts, sorted by recipe and then by part.

    A column `dropped_REASON` counts dropped candidates. A column `shared_with_RECIPE` counts the pairs that this other
    recipe has in the same part, too.
    """
    recipes = sorted({recipe for recipe, _ in part_records})
    reasons = sorted({reason for record in part_records.values() for reason in record["dropped"]})
    rows = []
    for (recipe, part), record in sorted(part_records.items()):
        row: Row = {"recipe": recipe, "method": record["method"], "part": part}
        row |= {name: record[name] for name in OF_A_PART}
        row |= {f"dropped_{reason}": record["dropped"].get(reason, 0) for reason in reasons}
        for other in recipes:
            both = (recipe, part), (other, part)
            if other != recipe and both[0] in sketches and both[1] in sketches:
                sizes = [part_records[key]["pairs"] for key in both]
                row[f"shared_with_{other}"] = shared([sketches[key] for key in both], sizes)
        rows.append(row)
    return rows


def columns(rows: Sequence[Row]) -> list[str]:
    """The names of all columns, in the order of their first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def markdown(languages: Sequence[Row], parts: Sequence[Row], labels: Sequence[str]) -> str:
    """Renders the table as a Markdown page: first the languages, then each recipe, each with a row of sums."""
    text = [f"# {TITLE}\n"]
    if labels:
        text.append(f"{', '.join(labels)}\n")
    ilk = {row["part"]: row["candidates"] for row in parts if row["recipe"] == row["method"] == "ilk"}
    linked = [
        {**row, "symmetrically_linked_sentences": ilk[row["part"]]} if row["part"] in ilk else row for row in languages
    ]
    text += ["## Languages\n", _table(linked, "language")]
    for recipe in dict.fromkeys(row["recipe"] for row in parts):
        text += [f"## {recipe}\n", _table([row for row in parts if row["recipe"] == recipe], "part")]
    return "\n".join(text)


def _table(rows: Sequence[Row], first: str) -> str:
    """Renders rows as a pipe table with a row of sums; names in code, numbers right-aligned, with commas."""
    names = [name for name in columns(rows) if name not in FIRST]
    total = {name: sum(row.get(name, 0) for row in rows) for name in names}
    lines = [
        [part, *(f"{row[name]:,}" if name in row else "" for name in names)]
        for part, row in [*((f"`{row['part']}`", row) for row in rows), ("all", total)]
    ]
    return table([first, *(name.replace("_", " ") for name in names)], lines) + "\n"


WIDTH = 7.0  # inches: a page of text
LEFT, BELOW, ABOVE = 0.35, 0.3, 0.4  # inches beside, below and above the squares
LARGEST = 0.7  # a square's side
LOWEST = 1.8  # the picture: what the squares mean has room beside one
BAR = 0.12  # height of the colour bar
COLOURS = "cividis"  # distinct for the colour-blind, and in grey
NONE = "#EEEEEE"  # colour of parts without a pair; parts that were not mined are white
DARK = 0.55  # share of the scale above which numbers are white


def draw(languages: Sequence[str], counts: Mapping[tuple[str, str], int], labels: Sequence[str] = ()) -> Figure:
    """Draws the heat map of the pairs of clk ("en-fr") and ilk ("en"); `counts` maps (method, part) to pairs."""
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
    # the legend, in the empty upper triangle
    right = figure.add_axes((0.58, 1 - (ABOVE + 0.45) / height, 0.4, BAR / height))
    figure.colorbar(ScalarMappable(scale, colours), cax=right, orientation="horizontal")
    right.tick_params(labelsize=7, length=2)
    right.set_title("pairs (logarithmic)", fontsize=8, loc="left", pad=3)
    lines = [
        "below the diagonal: CLK, one entity in two languages",
        "on it, framed: ILK, sentences linked to each other",
    ]
    lines += ["pale grey: none; white: not mined"] if set(squares.values()) & {0, None} else []
    figure.text(0.58, 1 - (ABOVE + 0.75) / height, "\n".join(lines), fontsize=7, va="top", linespacing=1.4)
    return figure


def _squares(languages: Sequence[str], counts: Mapping[tuple[str, str], int]) -> dict[tuple[int, int], int | None]:
    """Number of pairs for each (column, row) with column <= row; None for a part that was not mined."""
    squares = {}
    for row, code in enumerate(languages):
        for column, other in enumerate(languages[: row + 1]):
            part = ("ilk", code) if column == row else ("clk", f"{other}-{code}")
            squares[column, row] = counts.get(part)
    return squares


def short(count: int) -> str:
    """Abbreviates a count to at most four characters.

    >>> [short(n) for n in (0, 999, 1234, 99_950, 5_000_000)]
    ['0', '999', '1.2k', '100k', '5M']
    """
    for unit, sign in ((10**6, "M"), (10**3, "k")):
        if count >= unit - unit / 2000:
            value = count / unit
            return f"{value:.1f}".removesuffix(".0") + sign if value < 9.95 else f"{value:.0f}{sign}"
    return str(count)

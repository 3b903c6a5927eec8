"""The map of all cells: a square a cell, in the colour of its state, the same bytes each time."""

from __future__ import annotations

from collections import Counter

from matplotlib.colors import to_hex
from matplotlib.path import Path

from stele.command import cli
from stele.papers.table import load_specs
from stele.tables.cell_map import COLOURS, draw
from stele.tables.cells.states import STATES
from stele.tables.render.pictures import pictures


def test_there_is_a_square_for_every_cell_in_the_colour_of_its_state(bench):
    bench.result("first", {"ar": 0.5})
    cells = list(bench.cells(bench.spec()).values())
    figure = draw(cells)
    drawn = {
        to_hex(patch.get_facecolor()): list(patch.get_path().codes).count(Path.MOVETO)
        for patch in figure.axes[0].patches
    }
    expected = Counter(COLOURS[cell.outcome.state].lower() for cell in cells)
    assert drawn == dict(expected) and len(expected) > 1
    assert next(text.get_text() for text in figure.axes[0].get_legend().get_texts()) == "measured (2)"


def test_every_state_has_a_colour_of_its_own():
    assert COLOURS.keys() == STATES.keys()
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_the_files_are_the_same_bytes_each_time(root, tmp_path):
    for name in ("a", "b"):
        files = [str(tmp_path / f"{name}.{suffix}") for suffix in ("svg", "pdf")]
        line = ["--specs", str(root / "paper_tables/msm"), "--results-dir", str(tmp_path), "--output", *files]
        assert cli.main(["tables", "cell_map", *line]) == 0
    for suffix in ("svg", "pdf"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert b"MSM" in (tmp_path / "a.svg").read_bytes()  # text stays text
    (picture,) = pictures([tmp_path / "a.svg"], tmp_path)
    cells = sum(len(table.addresses()) for table in load_specs(root / "paper_tables/msm"))
    assert picture.title == "All cells by state" and f"MSM: {cells} cells: " in picture.description
    assert cli.main(["tables", "cell_map", "--output", str(tmp_path / "a.bmp")]) == 1

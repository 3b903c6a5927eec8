"""The map of all cells: a square a cell, in the colour of its state, the same bytes each time."""

from collections import Counter

import pytest
from matplotlib.colors import to_hex
from matplotlib.path import Path

from stele.command import cli
from stele.files.figures import save_figure
from stele.papers.paper import Paper
from stele.papers.table import load_specs
from stele.tables.cells import draw_map
from stele.tables.render.pictures import pictures
from stele.tables.values.lookup import STATES


def test_there_is_a_square_for_every_cell_in_the_colour_of_its_state(bench):
    bench.result("first", {"ar": 0.5})
    cells = list(bench.cells(bench.spec()).values())
    figure = draw_map(cells)
    drawn = {
        to_hex(patch.get_facecolor()): list(patch.get_path().codes).count(Path.MOVETO)
        for patch in figure.axes[0].patches
    }
    expected = Counter(STATES[cell.outcome.state].colour.lower() for cell in cells)
    assert drawn == dict(expected) and len(expected) > 1
    assert next(text.get_text() for text in figure.axes[0].get_legend().get_texts()) == "measured (2)"


def test_the_name_of_a_paper_is_no_formula_on_the_map(bench, tmp_path):
    table = bench.spec()
    table._about = Paper(name="Pay $5_{ or $6")
    save_figure(draw_map(list(bench.cells(table).values())), tmp_path / "map.svg", "map")
    assert "Pay $5_{ or $6" in (tmp_path / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("other", [["--format", "csv"], ["--against", "."]])
def test_a_map_is_not_drawn_in_place_of_what_else_was_asked_for(bench, tmp_path, capsys, other):
    bench.spec()
    command = ["tables", "cells", "--specs", str(bench.folder), "--map", str(tmp_path / "map.svg"), *other]
    assert cli.main(command) != 0 and not (tmp_path / "map.svg").exists()
    assert f"--map, {' '.join(other).removesuffix(' .')}: leave one of them out" in capsys.readouterr().err


def test_every_state_has_a_colour_of_its_own():
    assert len({state.colour for state in STATES.values()}) == len(STATES)


def test_the_files_are_the_same_bytes_each_time(root, tmp_path):
    for name in ("a", "b", "b"):  # a figure of its own is replaced
        files = [str(tmp_path / f"{name}.{suffix}") for suffix in ("svg", "pdf", "png")]
        line = ["--specs", str(root / "paper_tables/msm"), "--results-dir", str(tmp_path), "--map", *files]
        assert cli.main(["tables", "cells", *line]) == 0
    for suffix in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert b"MSM" in (tmp_path / "a.svg").read_bytes()  # text stays text
    (picture,) = pictures([tmp_path / "a.svg"], tmp_path)
    cells = sum(len(list(table.cells())) for table in load_specs(root / "paper_tables/msm"))
    assert picture.title == "All cells by state" and f"MSM: {cells} cells: " in picture.description
    assert cli.main(["tables", "cells", "--map", str(tmp_path / "a.bmp")]) == 1

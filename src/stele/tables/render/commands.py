"""The commands that build a table's results, whole or row by row."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from stele.files.paths import STUDY, read_stamp
from stele.tables.values.cell import Cell
from stele.tables.values.lookup import Results


@dataclass(frozen=True)
class RowTargets:
    """One row, its group's heading where a group begins, and the command that builds the row's results."""

    heading: str
    label: str
    command: str


def row_targets(cells: Sequence[Cell], results: Results) -> list[RowTargets]:
    """The command that builds the result files of each row; rows without result files are left out."""
    targets: list[RowTargets] = []
    headings = [""]
    for _, row in groupby(cells, key=lambda cell: (cell.group.key, cell.row.key)):
        row = list(row)
        results_needed = {
            cell.reference.result
            for cell in row
            if cell.reference and cell.outcome.state not in ("borrowed", "unavailable")
        }
        paths = sorted(results.path(*result) for result in results_needed)
        if paths:
            heading = row[0].group.label
            shown = "" if heading == headings[-1] else heading
            targets.append(RowTargets(shown, row[0].row.label, command(results, paths)))
            headings.append(heading)
    return targets


def command(results: Results, paths: Sequence[Path]) -> str:
    """The command that builds files of a folder; kept results are built anew in another folder."""
    if not (results.folder / STUDY).is_file():
        return shlex.join(["snakemake", *(path.as_posix() for path in paths)])
    scale = read_stamp(results.folder)
    folder = f"results_{scale}"
    anew = [f"{folder}/{path.relative_to(results.folder).as_posix()}" for path in paths]
    return shlex.join(["snakemake", *anew, "--config", f"scale={scale}", f"results_dir={folder}"])


def target(cell: Cell, results: Results) -> str:
    """The result file of one cell, "" for a cell that has none."""
    return results.path(*cell.reference.result).as_posix() if cell.reference else ""

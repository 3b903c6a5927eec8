"""What a table's record says of its significance tests, so that they are done once for a table and its pages.

A record stands in for the tests where it was written for the same spec and the same results; else they are done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.errors import SteleError
from stele.files.digests import digest
from stele.tables.cells.cell import Cell, Results
from stele.tables.cells.significance import Compared, Comparisons


def results_in(cells: Sequence[Cell], results: Results) -> dict[str, str]:
    """The result files whose values stand in a table -> content digest; one a seed where the table names its own."""
    paths = {path for cell in cells if cell.measured for path in results.paths(cell.reference.result, cell.seeds)}
    return {path.as_posix(): results.digest(path) for path in sorted(paths) if path.is_file()}


def significance(tests: Comparisons) -> dict[str, Any]:
    """What was tested, how, and what came out, by cell address; and a digest of it, for it is read again."""
    cells = {address: asdict(compared) for address, compared in tests.cells.items()}
    held = {"method": tests.method, "untested": list(tests.untested), "cells": cells}
    return {"significance": held, "significance_digest": digest(held)}


def read(record: Path, spec: Path, cells: Sequence[Cell], results: Results) -> Comparisons | None:
    """The tests that a table's record holds, None where it is of other ones, damaged or changed."""
    try:
        facts = records.read_record(record)
        if facts["inputs"] != {"spec": records.content_digest(spec)} or facts["results"] != results_in(cells, results):
            return None
        held = facts["significance"]
        if facts["significance_digest"] != digest(held):
            return None
        tests = {address: Compared(**values) for address, values in held["cells"].items()}
        return Comparisons(tests, held["method"], tuple(held["untested"]))
    except (SteleError, KeyError, TypeError, AttributeError):
        return None

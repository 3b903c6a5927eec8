"""Targets on Snakemake's command line: for a file that no rule makes, the error names the nearest ones."""

from __future__ import annotations

import os
import re
from collections import defaultdict

from stele.cluster.snakemake_patches import name_missing
from stele.errors import nearest
from stele.plan.plan import Plan

FORMATS = ("md", "tex", "csv", "html")  # of a table


def explain_missing(plan: Plan) -> None:
    """Makes Snakemake name the nearest targets where no rule makes a file."""
    name_missing(lambda file: unmade(file, targets(plan)))


def targets(plan: Plan) -> list[str]:
    """The files that a user may name: tables, figures, and the results in them."""
    tables = [path for of in (plan.tables, plan.today.tables) for ending in FORMATS for path in of.files(ending)]
    rows = [*plan.requested.all_rows, *plan.requested.rows_of_today]
    return [*tables, *plan.figures.files(), *plan.today.figures.drawn(), *map(plan.paths.result, rows)]


def unmade(target: str, valid: list[str]) -> str:
    """The error for a target that nothing makes: the nearest path, else those of the nearest file name.

    Tables are numbered with two digits: of `table_5.md`, `table_05.md` is nearer than `table_15.md`.
    """
    target, typed = re.sub(r"_(\d)(?=\.\w+$)", r"_0\1", target), target
    by_name = defaultdict(list)
    for path in valid:
        by_name[os.path.basename(path)].append(path)
    near = [close] if (close := nearest(target, valid)) else by_name.get(nearest(os.path.basename(target), by_name), [])
    hint = f"; did you mean {' or '.join(near[:5])}?" if near else "."
    return (
        f"no rule makes {typed!r}{hint} A table is results/tables/PAPER/table_NN.md, a result "
        "results/BENCHMARK/MODEL/SETTING.json; `snakemake --list` shows the rules"
    )

"""Tables rendered in tests: one at a time, a folder of all, and labels with letters that formats stumble over."""

import json
import random
from itertools import groupby

from specs import write_result

from stele.papers.table import load_specs, references
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import fill

NASTY = 'a|b_c*d`e <f>g &h#i%j $k~l^m \\n{o}[p] é ß Ж Медь ทดสอบ نص عربي ąǆ α ± "q" don\'t </td><script>x</script>'


def render(to, bench, table, **context):
    """What one of the renderers writes of a table."""
    return to(filled(bench, table, **context))


def filled(bench, table, **context):
    """A table with its cells and tests."""
    return fill(table, Context(**context), Results(bench.results_dir))


def measure_everything(results_dir, *papers):
    """A result for all that the tables of folders of specs ask for, with three seeds: the widest tables there are."""
    numbers, actual = random.Random(0), {}
    for table in (table for folder in papers for table in load_specs(folder)):
        for reference in references(table, recompute="all"):
            languages = actual.setdefault(reference.result, {}).setdefault(reference.metric, {})
            for code in reference.languages:
                languages.setdefault(code, [numbers.random() for _ in range(3)])
    for row, metrics in actual.items():
        content = {
            name: {"languages": {c: sum(v) / 3 for c, v in values.items()}, "values": {"languages": values}}
            for name, values in metrics.items()
        }
        write_result(results_dir, row, content, labels=["generated data", "stand-in checkpoint"])


def as_printed(cells):
    """The cells of a table in the order of the columns under which the paper prints them."""
    places = {column.key: place for place, column in enumerate(cells[0].table.columns)} if cells else {}
    rows = [list(row) for _, row in groupby(cells, key=lambda cell: (cell.group.key, cell.row.key, cell.line.key))]
    return [cell for row in rows for cell in sorted(row, key=lambda cell: places[cell.printed_under.key])]


def nasty_context(path, tables):
    """A context file that adds a row with a nasty label to some tables."""
    row = {"model": "own", "label": NASTY, "tables": tables}
    path.write_text(json.dumps({"scale": "my_scale%", "recompute": "all", "extra_rows": [row]}), encoding="utf-8")
    return path

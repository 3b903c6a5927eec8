"""Check the papers' tables against themselves and each other, and count their cells.

The check recomputes averages, compares numbers printed twice, bold marks and printed differences, compares rows that
one paper borrowed from another with their origin, and finds rows with the same numbers under different models. The
table's spec must list each deviation with its reason (`deviations`). An unlisted deviation is an error, and so are a
listed one that does not occur, a claim (`claims.yaml`) whose stated verdict does not follow from the numbers, and a
benchmark, model, setting, metric or language, in a cell, a figure or a test, that neither the catalogue nor config.yaml
has.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from stele.catalogue import entries, read_yaml
from stele.catalogue.schema.models import Model
from stele.claims import check
from stele.command.arguments import Job
from stele.config.model import parse_config
from stele.errors import SteleError, unknown
from stele.files.formats import amount
from stele.papers.figure import Figure, load_figure
from stele.papers.names import unknown_names
from stele.papers.paper import PAPER_TABLES
from stele.papers.table import Table, TableCell, load_specs
from stele.papers.table_parts import CellSource

EPSILON = 1e-9
COPIED = 4  # equal numbers that make a row a copy of another


@dataclass(frozen=True)
class FoundDeviation:
    """A deviation found in a table: cell address, kind, and in words the printed and the expected number."""

    table: str
    address: str
    kind: str
    says: str


def printed_cells(table: Table) -> list[TableCell]:
    """Cells of a table; empty for a table that no paper prints."""
    return [] if table.of_today else list(table.cells())


def averages(table: Table, cells: Sequence[TableCell]) -> Iterator[FoundDeviation]:
    """Finds averages that differ from the mean of their row's cells by more than half a unit of the last digit.

    A paper averages unrounded cells, so up to one unit of difference may be due to rounding; it is listed all the same.
    """
    lines = defaultdict(list)
    for cell in cells:
        what = repr(cell.target.model_dump(exclude={"language", "average", "without"}))  # columns may be of two metrics
        lines[cell.group.key, cell.row.key, cell.line.key, what].append(cell)
    for line in lines.values():
        single = {
            cell.target.language: cell.number for cell in line if cell.target.language and cell.number is not None
        }
        for cell in line:
            averaged = [code for code in cell.target.average or () if code not in cell.target.without]
            known = [single[code] for code in averaged if code in single]
            if len(averaged) < 2 or len(known) != len(averaged) or cell.number is None:
                continue
            mean = sum(known) / len(known)
            if abs(cell.number - mean) > 0.5 * 10**-cell.report.decimals + EPSILON:
                says = f"prints {cell.number:g}, the mean of its {len(known)} cells is {mean:.3f}"
                yield FoundDeviation(table.id, cell.address, "average", says)


def printed_twice(tables: Sequence[Table]) -> Iterator[FoundDeviation]:
    """Finds cells of one paper that print the same value differently in digits that both have; no borrowed numbers.

    The deviation is reported at each of the cells, so that every table shows it.
    """
    same = defaultdict(list)
    for table in tables:
        for cell in printed_cells(table):
            if cell.reference and cell.number is not None and not cell.source:
                reference = cell.reference
                same[table.paper, *reference.result, reference.metric, frozenset(reference.languages)].append(cell)
    for cells in same.values():
        if not all(_same_print(*pair) for pair in combinations(cells, 2)):
            everywhere = ", ".join(f"{cell.number:g} in {cell.table.id} {cell.address}" for cell in cells)
            common = Counter(map(_fraction, cells)).most_common()
            # the rarer print deviates; of two equally frequent ones both do
            odd = {value for value, count in common if count < common[0][1]} or {value for value, _ in common}
            yield from (
                FoundDeviation(cell.table.id, cell.address, "same target", everywhere)
                for cell in cells
                if _fraction(cell) in odd
            )


def bold_marks(table: Table, cells: Sequence[TableCell]) -> Iterator[FoundDeviation]:
    """Finds numbers printed in bold that are not the best of their column, among those of the same measure."""
    columns = defaultdict(list)
    for cell in cells:
        if cell.number is not None and cell.direction != "none":
            group = cell.group.key if table.compare == "group" else ""
            measure = cell.target.benchmark, cell.target.metric  # rows may be benchmarks or metrics
            columns[group, cell.line.key, cell.column.key, measure].append(cell)
    for rivals in columns.values():
        best = (max if rivals[0].direction == "higher" else min)(rivals, key=lambda cell: cell.number)
        for cell in rivals:
            if cell.printed.bold and cell.number != best.number:
                says = f"{cell.number:g} is bold, {best.row.label} has {best.number:g}"
                yield FoundDeviation(table.id, cell.address, "bold", says)


def differences(table: Table, cells: Sequence[TableCell]) -> Iterator[FoundDeviation]:
    """Finds printed differences that do not follow from the printed numbers."""
    base = {(c.line.key, c.column.key): c for c in cells if table.differences_from == f"{c.group.key}/{c.row.key}"}
    for cell in (cell for cell in cells if cell.printed.difference is not None):
        decimals, other = cell.report.decimals, base[cell.line.key, cell.column.key]
        follows = (cell.number or 0) - (other.number or 0)
        if abs(cell.printed.difference - follows) > 0.5 * 10**-decimals + EPSILON:
            says = f"prints {cell.printed.difference:g}, the numbers differ by {follows:.{decimals}f}"
            yield FoundDeviation(table.id, cell.address, "difference", says)


def _about(cell: TableCell) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Benchmark, metric and languages of a cell, without its model."""
    languages = (cell.target.language,) if cell.target.language else tuple(sorted(cell.target.average or ()))
    return cell.target.benchmark, cell.target.metric, languages


def _fraction(cell: TableCell) -> float:
    """A printed number as a fraction: .365 for 36.5 %."""
    return round(cell.number / cell.report.scale, 9)


def borrowed_cells(tables: Sequence[Table]) -> Iterator[tuple[TableCell, TableCell | None]]:
    """Yields the cells that a paper borrowed from another of `tables`, each with its original, None if there is none.

    Raises SteleError if `sources` names a row that the other table does not have.
    """
    rows = defaultdict(dict)
    for table in tables:
        for cell in printed_cells(table):
            of_row = rows[table.id, f"{cell.group.key}/{cell.row.key}"]
            of_row[_about(cell)] = of_row[_about(cell), repr(cell.target.setting)] = cell
    known = {table for table, _ in rows}
    for table in tables:
        for cell in printed_cells(table):
            source = table.sources.get(cell.source or "")
            if source is None or source.table not in known:
                continue
            if (source.table, source.row) not in rows:
                valid = {row for other, row in rows if other == source.table}
                raise unknown("row", str(source.row), valid, f"{table.file}.yaml: `sources`: {source.table}")
            of_row = rows[source.table, source.row]
            # a row may print several settings; papers may name one setting differently
            yield cell, of_row.get((_about(cell), repr(cell.target.setting)), of_row.get(_about(cell)))


def borrowed_differently(tables: Sequence[Table]) -> Iterator[FoundDeviation]:
    """Finds borrowed cells that differ from their original in digits that both print."""
    for cell, origin in borrowed_cells(tables):
        if origin is None:
            says = "the row it was taken from has no such cell"
        elif _same_print(cell, origin):
            continue
        else:
            says = f"prints {_print(cell)}, {origin.table.id} {origin.address} prints {_print(origin)}"
        yield FoundDeviation(cell.table.id, cell.address, "borrowed differently", says)


def _same_print(cell: TableCell, other: TableCell) -> bool:
    if cell.number is None or other.number is None:
        return cell.printed.value == other.printed.value
    unit = max(10**-c.report.decimals / c.report.scale for c in (cell, other))
    return abs(_fraction(cell) - _fraction(other)) <= 0.5 * unit + EPSILON


def _print(cell: TableCell) -> str:
    value = cell.printed.value
    return "a dash" if value is None else value if isinstance(value, str) else f"{value:g}"


def _repeated(row: Sequence[TableCell], other: Sequence[TableCell]) -> int:
    """Number of values that both rows have, by place in one table or else by meaning, if all are equal; else 0."""
    in_one_table = row[0].table is other[0].table
    ours, theirs = (
        {(cell.line.key, cell.column.key) if in_one_table else _about(cell): _fraction(cell) for cell in cells}
        for cells in (row, other)
    )
    both = ours.keys() & theirs.keys()
    return len(both) if all(ours[place] == theirs[place] for place in both) else 0


def copied_rows(tables: Sequence[Table]) -> Iterator[FoundDeviation]:
    """Finds rows of different models with the same numbers: at least `COPIED` numbers of a benchmark, all equal.

    The deviation is reported at each such row and names the others.
    """
    rows = defaultdict(lambda: defaultdict(list))  # benchmark -> (table, row) -> its cells
    for cell in (cell for table in tables if table.kind == "result" for cell in printed_cells(table)):
        if cell.number is not None:
            rows[cell.target.benchmark][cell.table.id, f"{cell.group.key}/{cell.row.key}"].append(cell)
    copies = defaultdict(list)
    for of_benchmark in rows.values():
        for pair in combinations(of_benchmark, 2):
            both = [of_benchmark[row] for row in pair]
            models = [{cell.target.model or cell.row.label for cell in cells} for cells in both]
            count = 0 if models[0] & models[1] else _repeated(*both)
            for row, other, of_other in zip(pair, pair[::-1], models[::-1], strict=True) if count >= COPIED else ():
                copies[row].append(f"{count} of {' '.join(other)} ({', '.join(sorted(of_other))})")
    for (table, row), others in copies.items():
        yield FoundDeviation(table, f"{row}/*/*", "copied row", f"the same numbers: {', '.join(others)}")


def deviations(tables: Sequence[Table]) -> list[FoundDeviation]:
    """Finds all deviations in `tables`, sorted by table and address."""
    found_deviations = [*printed_twice(tables), *borrowed_differently(tables), *copied_rows(tables)]
    for table in tables:
        cells = printed_cells(table)
        found_deviations += [*averages(table, cells), *bold_marks(table, cells), *differences(table, cells)]
    return sorted(found_deviations, key=lambda d: (d.table, d.address, d.kind))


def unexplained(tables: Sequence[Table], deviations_found: Iterable[FoundDeviation]) -> list[str]:
    """Describes deviations that no spec lists, and listed ones that do not occur.

    A listed deviation that involves tables beyond these is skipped.
    """
    here = {table.id for table in tables}
    listed = {(table.id, d.at, d.kind): set(d.tables) for table in tables for d in table.deviations}
    occurring = {(d.table, d.address, d.kind): d for d in deviations_found}
    unlisted = [f"{d.table} {d.address}: {d.kind}: {d.says}" for key, d in occurring.items() if key not in listed]
    unmatched = sorted(key for key in listed.keys() - occurring.keys() if listed[key] <= here)
    stale = [f"{table} {at}: {kind}: is listed in `deviations` but does not occur" for table, at, kind in unmatched]
    return unlisted + stale


def originals(tables: Sequence[Table]) -> list[Table]:
    """Reads the tables of Stele's papers from which `tables` borrow rows and which are not among them."""
    missing = {source.table for table in tables for source in table.sources.values()} - {table.id for table in tables}
    return [table for table in load_specs(PAPER_TABLES) if table.id in missing] if missing - {None} else []


def sources(tables: Iterable[Table], figures: Iterable[Figure] = ()) -> Iterator[tuple[str, CellSource]]:
    """Yields the sources of all values that tables and figures show, each with its place: a cell's address, a file."""
    for table in tables:
        yield from ((f"{table.id} {cell.address}", cell.reference) for cell in table.cells() if cell.reference)
    for figure in figures:
        yield from ((f"{figure.file}.yaml", value) for value in figure.references())


def unknown_baselines(tables: Iterable[Table], models: Collection[str]) -> Iterator[str]:
    """Describes models that a table's significance tests compare with and that are not among `models`."""
    for table in tables:
        for model in sorted(table.significance.baselines - {*models}):
            yield str(unknown("model", model, models, f"{table.id}: `significance`"))


def counts(table: Table) -> Counter[str]:
    """Numbers of cells that hold a number, words or a dash; empty for a table that only explains words."""
    if not table.counted:
        return Counter()
    kinds = {float: "numbers", str: "words", type(None): "dashes"}
    return Counter(kinds[type(cell.printed.value)] for cell in printed_cells(table))


class Check(Job):
    specs: Path
    """Folder of the papers, e.g. paper_tables, or of one paper."""


def run(args: Check) -> None:
    tables = load_specs(args.specs)
    ids, compared_tables = {table.id for table in tables}, [*tables, *originals(tables)]
    occurring = [deviation for deviation in deviations(compared_tables) if deviation.table in ids]
    reasons = {(table.id, d.at, d.kind): d for table in tables for d in table.deviations}
    for table in tables:
        of_table = counts(table)
        kinds = ", ".join(f"{of_table[kind]} {kind}" for kind in ("numbers", "words", "dashes") if of_table[kind])
        print(f"{table.id}: {of_table.total()} cells: {kinds}" if table.counted else f"{table.id}: not counted")
        for deviation in (d for d in occurring if d.table == table.id):
            known = reasons.get((deviation.table, deviation.address, deviation.kind))
            why = f"{known.why}{f' ({known.issue})' if known.issue else ''}" if known else "NOT EXPLAINED"
            print(f"  {deviation.address}: {deviation.kind}: {deviation.says}: {why}")
    print(f"all: {sum(counts(table).total() for table in tables)} cells of {amount(len(tables), 'table')}")
    compared = [cell for cell, origin in borrowed_cells(compared_tables) if origin and cell.table.id in ids]
    rows = {(cell.table.id, cell.group.key, cell.row.key) for cell in compared}
    borrowed = f"{amount(len(compared), 'cell')} of {amount(len(rows), 'row')}"
    print(f"borrowed: {borrowed} compared with the rows they were taken from")
    figures = map(load_figure, sorted(args.specs.glob("**/figure_*.yaml")))
    config = Path("config.yaml")
    # read first, since it may add to the catalogue
    models = parse_config(read_yaml(config)).models if config.is_file() else ()
    known = {*entries(Model), *models}
    names = [*unknown_names(sources(tables, figures), known), *unknown_baselines(tables, known)]
    if problems := [*unexplained(tables, occurring), *names, *check.problems(args.specs)]:
        raise SteleError("\n".join(["the tables contradict themselves or their claims:", *problems]))

"""Reports of a scored system and of comparisons, as text, as CSV, and as values per query."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stele.errors import SteleError
from stele.evaluation import bootstrap
from stele.evaluation.aggregate import by_language
from stele.evaluation.comparison import AVERAGE, Choices, Comparison
from stele.evaluation.evaluate import Evaluation
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import KEYS, table_of
from stele.evaluation.significance import PERMUTATIONS
from stele.files.atomic import atomic_file
from stele.files.formats import amount, write_csv
from stele.files.reading import reading

logger = logging.getLogger(__name__)

VALUES = ("metric", "language", "value", "queries")  # columns of `write_values`


def print_report(case: Case, evaluation: Evaluation, average: str) -> None:
    """Prints a line per language with its queries and metrics, and the average; logs missing and extra queries."""
    metrics, languages = evaluation.metrics, dict.fromkeys(query_set.language for query_set in case.query_sets)
    rows = [["language", "queries", *metrics]]
    for language in languages:
        counted = max((figures["n"].get(language, 0) for figures in metrics.values()), default=0)
        values = [number(figures["languages"].get(language)) for figures in metrics.values()]
        rows.append([language, str(counted), *values])
    rows.append([f"average ({average})", "", *(number(figures["average"]) for figures in metrics.values())])
    print("\n".join(aligned(rows, texts=1)))
    if missing := sum(case.missing.values()):
        absent = _absent(case)
        others = [name for name, column in evaluation.values.items() if np.nan_to_num(column[absent]).any()]
        but = f", but not by {', '.join(others)}" if others else ""  # ranks and errors are not 0 without a result
        logger.warning("%d of %d judged queries have no result; they count as 0%s", missing, len(case.queries), but)
        for name, value in _without_missing(case, evaluation, average, absent).items():
            logger.warning("  without them %s would be %s", name, number(value))
    if case.extra:
        logger.warning("not judged, left out: %s of the run", amount(case.extra, "query", "queries"))
    for name, count in evaluation.notes.items():
        logger.info("%s: %d", name.replace("_", " "), count)


def aligned(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Formats rows as aligned lines: the first `texts` columns are left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _absent(case: Case) -> np.ndarray:
    """Which judged queries have no result, bool [rows]."""
    absent = np.zeros(len(case.queries), dtype=bool)
    for name, rows in case.rows_of.items():
        for row in rows:
            has_result = case.predictions[row] is not None if case.predictions else case.queries[row] in case.runs[name]
            absent[row] = not has_result
    return absent


def _without_missing(case: Case, evaluation: Evaluation, average: str, absent: np.ndarray) -> dict[str, float | None]:
    """Averages over the queries that the run has, as scripts compute them that ignore missing queries silently."""
    languages = [query_set.language for query_set in case.query_sets]
    values = {name: np.where(absent, np.nan, column) for name, column in evaluation.values.items()}
    return {
        name: by_language(column, languages, average, load_metric(name).finish or float)["average"]
        for name, column in values.items()
    }


def refuse_foreign(path: Path, columns: Sequence[str]) -> None:
    """Raises SteleError if `path` exists and is no table that begins with these columns, so that it is not replaced.

    Such a file may be one of the inputs, or another output.
    """
    if not path.exists() or not path.stat().st_size:
        return
    with reading(path, "table", "remove it, or give another name"):
        names = table_of(path).column_names
    if names[: len(columns)] != [*columns]:
        wanted = ", ".join(columns)
        raise SteleError(f"{path}: no table of {wanted}, so it is not replaced; give another name, or remove it first")


def write_values(path: Path, evaluation: Evaluation) -> None:
    """Writes a CSV of metric, language ("average" for the benchmark's average), value and number of queries."""
    rows = [VALUES]
    refuse_foreign(path, VALUES)
    with atomic_file(path, newline="", encoding="utf-8") as handle:
        for name, figures in evaluation.metrics.items():
            rows += [
                [name, language, value, figures["n"][language]] for language, value in figures["languages"].items()
            ]
            if figures["average"] is not None:
                rows.append([name, "average", figures["average"], sum(figures["n"].values())])
        write_csv(handle, rows)


def write_queries(path: Path, case: Case, values: dict[str, np.ndarray]) -> None:
    """Writes the columns search, language and query, and one per metric, empty where a query does not count."""
    import pyarrow
    import pyarrow.parquet

    refuse_foreign(path, KEYS)
    columns = {
        "search": pyarrow.array([query_set.name for query_set in case.query_sets]).dictionary_encode(),
        "language": pyarrow.array([query_set.language for query_set in case.query_sets]).dictionary_encode(),
        "query": pyarrow.array(case.queries),
        **{name: pyarrow.array(column, from_pandas=True) for name, column in values.items()},
    }
    if path.suffix == ".csv":
        with atomic_file(path) as handle:
            write_csv(handle, [columns, *zip(*(column.to_pylist() for column in columns.values()), strict=True)])
    else:
        with atomic_file(path, "wb") as handle:
            pyarrow.parquet.write_table(pyarrow.table(columns), handle)


# --- comparisons ---
def comparison_report(comparisons: Sequence[Comparison], choices: Choices, labels: frozenset[str] = frozenset()) -> str:
    """Formats the comparisons of one metric as aligned lines, with the method explained below them."""
    seeds = any(compared.std is not None or compared.baseline_std is not None for compared in comparisons)
    p_values = ["p"] if choices.correction == "none" else ["p", f"p ({choices.correction})"]
    means = ["baseline", "std", "mean", "std"] if seeds else ["baseline", "mean"]
    rows = [
        ["system", "language", "queries", *means, "difference", "95 % interval", *p_values, "", "win", "tie", "loss"]
    ]
    for compared in comparisons:
        sides = (compared.baseline_mean, compared.baseline_std, compared.mean, compared.std)
        means = list(map(number, sides if seeds else sides[::2]))
        rows.append(
            [
                compared.system,
                compared.language if compared.language != AVERAGE else f"{AVERAGE} ({choices.average})",
                str(compared.queries),
                *means,
                f"{compared.difference:+.4f}",
                "n/a" if math.isnan(compared.low) else f"[{compared.low:+.4f}, {compared.high:+.4f}]",
                *[_p(compared.p), _p(compared.corrected_p)][: len(p_values)],
                "*" if compared.significant else "",
                str(compared.win),
                str(compared.tie),
                str(compared.loss),
            ]
        )
    lines = [
        f"{comparisons[0].metric}, baseline {choices.baseline}",
        *aligned(rows, texts=2),
        _explained(comparisons, choices),
    ]
    if seeds:
        lines.append(
            "Of several seeds of a system, each query's mean is compared; std is that of its means over seeds."
        )
    if labels:
        lines.append(f"labels: {', '.join(sorted(labels))}")
    return "\n".join(lines)


def _explained(comparisons: Sequence[Comparison], choices: Choices) -> str:
    corrected = {"holm": " after Holm's correction", "bonferroni": " after Bonferroni's correction"}
    over = (
        f"{corrected[choices.correction]} over "
        f"{amount(sum(not math.isnan(each.p) for each in comparisons), 'comparison')}"
        if choices.correction in corrected
        else ""
    )
    method = choices.test.describe(PERMUTATIONS, choices.seed)
    together = ", for the average of questions in all languages" if choices.same_questions else ""
    return (
        f"* p < {choices.level:g}{over}; {method}.\n"
        f"Interval: percentile bootstrap, {bootstrap.RESAMPLES:,} resamples within each language{together}, "
        f"seed {choices.seed}. A win is a query with a higher value than the baseline's."
    )


def _p(value: float) -> str:
    if math.isnan(value):
        return "n/a"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"

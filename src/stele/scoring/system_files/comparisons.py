"""Comparisons as text: a line each, and below them what was done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stele.evaluation import bootstrap
from stele.evaluation.comparison import AVERAGE, Comparison
from stele.evaluation.significance import SignificanceTest
from stele.scoring.system_files.report import aligned, number


@dataclass(frozen=True)
class Choices:
    """What is compared and how."""

    baseline: str
    metrics: list[str]
    test: SignificanceTest
    permutations: int
    seed: int
    average: str
    correction: str
    level: float

    def method(self) -> str:
        return self.test.describe(self.permutations, self.seed)


def report(comparisons: Sequence[Comparison], choices: Choices, labels: frozenset[str] = frozenset()) -> str:
    """The comparisons of one metric as text: a line each, aligned, and below it what was done."""
    seeds = any(compared.std is not None or compared.baseline_std is not None for compared in comparisons)
    p_values = ["p"] if choices.correction == "none" else ["p", f"p ({choices.correction})"]
    rows = [
        [
            "system",
            "language",
            "queries",
            *(["baseline", "std", "mean", "std"] if seeds else ["baseline", "mean"]),
            "difference",
            "95 % interval",
            *p_values,
            "",
            "win",
            "tie",
            "loss",
        ]
    ]
    for compared in comparisons:
        means = [
            f"{compared.baseline_mean:.4f}",
            number(compared.baseline_std),
            f"{compared.mean:.4f}",
            number(compared.std),
        ]
        rows.append(
            [
                compared.system,
                compared.language if compared.language != AVERAGE else f"{AVERAGE} ({choices.average})",
                str(compared.queries),
                *(means if seeds else means[::2]),
                f"{compared.difference:+.4f}",
                f"[{compared.low:+.4f}, {compared.high:+.4f}]",
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
        f"{corrected[choices.correction]} over {len(comparisons)} comparisons"
        if choices.correction in corrected
        else ""
    )
    return (
        f"* p < {choices.level:g}{over}; {choices.method()}.\n"
        f"Interval: percentile bootstrap, {bootstrap.RESAMPLES:,} resamples within each language, seed {choices.seed}. "
        "A win is a query with a higher value than the baseline's."
    )


def _p(value: float) -> str:
    if math.isnan(value):
        return "n/a"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"

"""The comparisons of an adaptation: each method with the encoder as it was and with the control, by benchmark.

A look is a number of seeds at which a verdict was given. Look k has the level alpha / 2^k, so that all looks together
keep alpha however often seeds are added; a comparison that is decided stays so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.results import RunKey
from stele.claims.judging.estimate import Estimate, Term, combine, interval
from stele.claims.judging.family import Case, judge_family
from stele.claims.judging.findings import ALPHA, Finding, Verdict, greater
from stele.claims.judging.observed import Absent, Runs, System
from stele.errors import SteleError
from stele.papers.table_parts import Seeds

FAMILY = "holm"
STATES = {"supported": "better", "reversed": "worse"}  # the others are called as among the claims


class Row(NamedTuple):
    """A model on a benchmark, by one metric."""

    benchmark: str
    model: str
    setting: str
    metric: str

    @property
    def key(self) -> RunKey:
        return RunKey(self.benchmark, self.model, self.setting)

    def of(self, model: str) -> Row:
        return self._replace(model=model)

    def facts(self) -> dict[str, str]:
        return {"benchmark": self.benchmark, "model": self.model, "metric": self.metric}


@dataclass(frozen=True)
class Comparison:
    """A method minus what it is compared with, and the verdict at a look (from 1)."""

    row: Row
    against: str
    verdict: Verdict
    look: int

    @property
    def state(self) -> str:
        return STATES.get(self.verdict.state, self.verdict.state)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the difference; None of one seed, whose luck nobody knows."""
        limits = self.verdict.interval
        return limits if self.verdict.seeds > 1 and limits and all(map(math.isfinite, limits)) else None

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        verdict, head = self.verdict, f"{self.row.model} on {self.row.benchmark}: "
        if verdict.mean is None:
            return f"{head}no data against {self.against}: {verdict.reason}"
        words = {"better": "better than", "worse": "worse than", "no effect": "no different from"}
        text = (
            f"{head}{words.get(self.state, 'undecided against')} {self.against}, {self.row.metric} {verdict.mean:+.4f}"
        )
        if self.interval:
            text += " [{:+.4f}, {:+.4f}]".format(*self.interval)
        if self.state == "undecided":
            text += f" ({_how_to_decide(verdict)})"
        return text


def _how_to_decide(verdict: Verdict) -> str:
    """What would tell, of an undecided comparison."""
    if verdict.seeds_needed:
        return f"about {max(verdict.seeds_needed, verdict.seeds + 1)} seeds would tell; now {verdict.seeds}"
    if verdict.detectable is not None:
        return f"more seeds would not tell, more queries might; now {verdict.seeds} seeds"
    return verdict.reason


def rows_of(settings: Mapping[str, Any]) -> list[Row]:
    """The rows of all models, benchmark by benchmark."""
    return [
        Row(benchmark, model, of["setting"], of["metric"])
        for benchmark, of in settings["benchmarks"].items()
        for model in (settings["base"], *settings["methods"], settings["control"])
    ]


def judge_looks(folder: Path, settings: Mapping[str, Any], rows: Sequence[Row], bar: float) -> list[Comparison]:
    """The verdicts on a folder of results: of each comparison that of the first look which decides it, else the last.

    A look at n seeds reads the first n of `settings["seeds"]`, of which one is 0: so the encoder as it was is called.
    """
    methods = [row for row in rows if row.model in settings["methods"]]
    sides = [(row, against) for row in methods for against in (settings["base"], settings["control"])]
    decided: dict[tuple[Row, str], Comparison] = {}
    for look, seeds in enumerate(settings["looks"], 1):
        runs = Runs(folder, Seeds(pretraining=settings["seeds"][:seeds]))
        cases = [Case(finding_of(runs, row, against), bar) for row, against in sides]
        verdicts = judge_family(cases, FAMILY, ALPHA / 2**look)
        for (row, against), verdict in zip(sides, verdicts, strict=True):
            before = decided.get((row, against))
            if before is None or before.verdict.state in ("undecided", "no data"):
                decided[row, against] = Comparison(row, against, verdict, look)
    return list(decided.values())


def finding_of(runs: Runs, row: Row, against: str) -> Finding | None:
    """The finding that a method is above what it is compared with; None where results are missing."""
    terms = [term_of(runs, row, 1.0), term_of(runs, row.of(against), -1.0)]
    if None in terms:
        return None
    return greater(combine(terms))


def term_of(runs: Runs, row: Row, weight: float) -> Term | None:
    """A row's mean over languages as a term; None where there is no result of it."""
    system = runs.system(row.key)
    if isinstance(system, Absent) or not system.metrics.get(row.metric):
        return None
    languages = [runs.scored(row.key, row.metric, code) for code in system.metrics[row.metric]]
    return Term(weight, languages, system.seeds, system.finetuning)


def values_of(folder: Path, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Each row's score over all its seeds: its mean over languages with a 95 % interval, and each language."""
    runs, values = Runs(folder), []
    for row in rows:
        term = term_of(runs, row, 1.0)
        if term is None:
            raise SteleError(
                f"{folder / row.key.path}: no result with {row.metric}; ask for the verdict through Snakemake"
            )
        system = runs.system(row.key)
        estimate = combine([term])
        values.append(
            {
                **row.facts(),
                "seeds": list(system.seeds),
                "mean": estimate.mean,
                "interval": list(interval(estimate, ALPHA)) if _has_error(estimate, system) else None,
                "languages": {code: float(of.values.mean()) for code, of in system.metrics[row.metric].items()},
                "queries": {code: len(of.queries) for code, of in system.metrics[row.metric].items()},
                "labels": sorted(system.labels),
                "diverged": system.diverged,
            }
        )
    return values


def _has_error(estimate: Estimate, system: System) -> bool:
    """Whether an interval says anything: of a trained model it takes two seeds."""
    return estimate.error > 0 and len(system.seeds) != 1

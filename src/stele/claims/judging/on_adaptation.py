"""Verdicts on an adapted encoder, against the original one and against MLM of the same compute, look by look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.results import RunKey
from stele.claims.judging import findings
from stele.claims.judging.estimate import FEWEST_SEEDS, Term, combine, interval, seeds_needed
from stele.claims.judging.family import Case, extreme, judge_family
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.observed import Absent, Runs
from stele.errors import SteleError
from stele.files.formats import amount
from stele.papers.table_parts import Seeds

FAMILY = "holm"
STATES = {"supported": "better", "reversed": "worse"}  # other states have the names used for claims
TOP = 1.0  # largest value of every metric
SMALLEST = "a difference of interest"  # the bar of adaptation.yaml: one point


def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """A comparison's entry in verdict.json."""
    verdict = comparison.verdict
    return {
        **comparison.row.facts,
        "against": comparison.against,
        "state": comparison.state,
        "reason": verdict.reason,
        "mean": verdict.mean,
        "interval": list(comparison.interval) if comparison.interval else None,
        "level": verdict.level,
        "p": verdict.p if comparison.interval else None,
        "seeds": verdict.seeds,
        "look": comparison.look,
        "detectable": verdict.detectable,
        "seeds_needed": comparison.seeds_needed,
        "sentence": comparison.sentence,
    }


class Row(NamedTuple):
    """One model evaluated on one benchmark in one setting, by one metric."""

    benchmark: str
    model: str
    setting: str
    metric: str

    @property
    def key(self) -> RunKey:
        return RunKey(self.benchmark, self.model, self.setting)

    @property
    def facts(self) -> dict[str, str]:
        return {"benchmark": self.benchmark, "model": self.model, "metric": self.metric}


@dataclass(frozen=True)
class Comparison:
    """The difference between a method and the model it is compared with, and its verdict at a look (from 1)."""

    row: Row
    against: str
    case: Case
    verdict: findings.Verdict
    look: int

    @property
    def state(self) -> str:
        return STATES.get(self.verdict.state, self.verdict.state)

    @property
    def at_extreme(self) -> bool:
        """Whether the comparison is undecided because both models score at an end of the scale, whatever the seeds."""
        return bool(self.case.extreme and self.verdict.reason)

    @property
    def seeds_needed(self) -> int | None:
        """Number of seeds, above the present one, needed to decide at the next look; None if seeds cannot decide.

        The next look has half of this one's level, unless this one has too few seeds to count as a look.
        """
        verdict = self.verdict
        if self.case.finding is None or verdict.detectable is None or self.at_extreme:
            return None
        level = verdict.level if verdict.seeds < FEWEST_SEEDS else verdict.level / 2
        needed = seeds_needed(self.case.finding.shown, self.case.bar, level)
        return needed and max(needed, verdict.seeds + 1)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval of the difference; None with a single seed, whose variance is unknown."""
        limits = self.verdict.interval
        return limits if self.verdict.seeds > 1 and limits and all(map(math.isfinite, limits)) else None

    @property
    def sentence(self) -> str:
        """The verdict as an English sentence."""
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
            text += f" ({self._what_would_tell()})"
        return text

    def _what_would_tell(self) -> str:
        """What an undecided comparison would need to detect the smallest difference of interest, in words."""
        verdict = self.verdict
        if self.seeds_needed:
            return f"about {self.seeds_needed} seeds would tell {SMALLEST}; now {verdict.seeds}"
        if self.at_extreme or verdict.detectable is None:
            return verdict.reason
        return f"only more queries would tell {SMALLEST}, seeds only a larger one; now {amount(verdict.seeds, 'seed')}"


def rows_of(settings: Mapping[str, Any]) -> list[Row]:
    """Rows of all models on all benchmarks, ordered by benchmark."""
    return [
        Row(benchmark, model, entry["setting"], entry["metric"])
        for benchmark, entry in settings["benchmarks"].items()
        for model in (settings["base"], *settings["methods"], settings["control"])
    ]


def judge_looks(folder: Path, settings: Mapping[str, Any], rows: Sequence[Row], bar: float) -> list[Comparison]:
    """Verdicts on the results in a folder: for each comparison, that of the first look that decides it, else the last.

    A look at n seeds reads the first n of `settings["seeds"]`.
    """
    methods = [row for row in rows if row.model in settings["methods"]]
    sides = [(row, against) for row in methods for against in (settings["base"], settings["control"])]
    decided: dict[tuple[Row, str], Comparison] = {}
    for look, seeds in enumerate(settings["looks"], 1):
        runs = Runs(folder, Seeds(pretraining=settings["seeds"][:seeds]))
        cases = [case_of(runs, row, against, bar) for row, against in sides]
        verdicts = judge_family(cases, FAMILY, ALPHA / 2**look)
        for (row, against), case, verdict in zip(sides, cases, verdicts, strict=True):
            before = decided.get((row, against))
            if before is None or before.verdict.state in ("undecided", "no data"):
                decided[row, against] = Comparison(row, against, case, verdict, look)
    return list(decided.values())


def case_of(runs: Runs, row: Row, against: str, bar: float) -> Case:
    """The case that a method beats `against`; no finding without results. Raises SteleError if queries differ."""
    terms = [term_of(runs, row, 1.0), term_of(runs, row._replace(model=against), -1.0)]
    if None in terms:
        return Case(None, bar)
    if queries_of(runs, row) != queries_of(runs, row._replace(model=against)):
        raise SteleError(
            f"{row.key.path}: scored in other languages or on other queries than {against}; score both on the same"
        )
    scores = [abs(combine([term]).mean) for term in terms]
    estimate = combine(terms)
    return Case(findings.greater(estimate), bar, extreme=extreme(scores, TOP, bar), compared=(row, against))


def queries_of(runs: Runs, row: Row) -> dict[str, set[int]]:
    """Numbers of the scored queries by language."""
    languages = runs.system(row.key).metrics[row.metric]
    return {code: set(language.queries.tolist()) for code, language in languages.items()}


def term_of(runs: Runs, row: Row, weight: float, language: str | None = None) -> Term | None:
    """A row's mean over its languages, or its score in one, as a weighted term; None if it has no result."""
    system = runs.system(row.key)
    if isinstance(system, Absent) or not system.metrics.get(row.metric):
        return None
    codes = system.metrics[row.metric] if language is None else [language]
    languages = [runs.scored(row.key, row.metric, code) for code in codes]
    return Term(weight, languages, system.seeds, system.finetuning)


def values_of(folder: Path, seeds: list[int], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Each row's scores over these seeds: the mean over languages with a 95 % interval, and each language's score.

    Only these seeds count, since the folder may hold results of an earlier adaptation. Raises SteleError without any.
    """
    runs, values = Runs(folder, Seeds(pretraining=seeds)), []
    for row in rows:
        system, term = runs.system(row.key), term_of(runs, row, 1.0)
        if isinstance(system, Absent):
            raise SteleError(f"{folder}: no result to judge: {system.reason}; build the verdict with Snakemake")
        if term is None:
            raise SteleError(f"{folder / row.key.path}: no language has {row.metric} of at least two queries")
        estimate = combine([term])
        has_error = estimate.error > 0 and len(system.seeds) != 1  # a trained model needs two seeds
        values.append(
            {
                **row.facts,
                "seeds": list(system.seeds),
                "mean": estimate.mean,
                "interval": list(interval(estimate, ALPHA)) if has_error else None,
                "languages": {code: float(scored.values.mean()) for code, scored in system.metrics[row.metric].items()},
                "queries": {code: len(scored.queries) for code, scored in system.metrics[row.metric].items()},
                "labels": sorted(system.labels),
                "diverged": system.diverged,
            }
        )
    return values

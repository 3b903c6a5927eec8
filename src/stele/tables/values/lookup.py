"""Lookup of a value in a folder of results: the current value, or its state and the reason why there is none.

No state is stored. The first of these decides: a failed or outdated job, a damaged file, a value in a language of this
run; then the context's entries on the row, on the scale, and on languages in which the row is not evaluated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from stele.artifacts.records import Record, content_digest, read_ancestry
from stele.artifacts.results import Metric, Result, RunKey, mean_over_seeds, read_result
from stele.errors import SteleError
from stele.evaluation.aggregate import std
from stele.papers.table_parts import CellSource
from stele.tables.values.context import Context


@dataclass(frozen=True)
class State:
    """A state of a cell: the letter beside a missing number, what it means, and its colour in the map of cells."""

    name: str
    letter: str
    meaning: str
    colour: str  # Okabe and Ito's, told apart by the colour-blind and in grey; what is missing is pale


STATES = {
    state.name: state
    for state in (
        State("measured", "", "our number, from the results folder", "#0072B2"),
        State("borrowed", "b", "the paper took this number from elsewhere (recompute: all runs it)", "#56B4E9"),
        State("stated", "w", "words or facts that no run measures", "#999999"),
        State("not run", "n", "can be built but has not been run yet", "#F0E442"),
        State("not in scale", "s", "this run leaves it out", "#DDDDDD"),
        State("not built", "x", "no rule builds it yet", "#FFFFFF"),
        State("failed", "f", "its job failed", "#D55E00"),
        State("unavailable", "u", "no run can give this number", "#E8C9DA"),
        State("unreadable", "r", "its result file is damaged", "#000000"),
    )
}


@dataclass(frozen=True)
class Outcome:
    """The state of a cell, the reason, and, if measured, its value (a fraction) and the languages that it covers.

    `deviation` is the standard deviation over seeds, if the result averages several. `guess` is the score of a random
    order and the standard error of the value's distance from it, if the result has them. `diverged` says that every
    pretraining behind the value diverged; if only some did, the reason alone says so. `averaged` names the seeds
    (`pt0-ft1`) whose mean the value is, if there are several.
    """

    state: str
    reason: str = ""
    value: float | None = None
    languages: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    deviation: float | None = None
    diverged: bool = False
    guess: tuple[float, float] | None = None
    averaged: tuple[str, ...] = ()


class Results:
    """Reader of a folder of results. It reads each file once, and distinguishes damaged from missing files."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.read = cache(self._read)
        self.digest = cache(content_digest)

    def path(self, row: RunKey) -> Path:
        return self.folder / f"{row.path}.json"

    def paths(self, row: RunKey, seeds: Sequence[str] = ()) -> list[Path]:
        """Files that a result is read from: one per seed if a table names its seeds, else the file of the mean."""
        path = self.path(row)
        return [path.with_suffix("") / f"{seed}.json" for seed in seeds] or [path]

    def read_seeds(self, row: RunKey, seeds: Sequence[str]) -> Result | SteleError | None:
        """Mean over the seeds that a table names; without seeds the result that averages the configuration's.

        If a seed's file is damaged, it returns the error; if one is missing, None.
        """
        if not seeds:
            return self.read(row)
        runs = [self.read(row, path) for path in self.paths(row, seeds)]
        for run in runs:
            if not isinstance(run, Result):
                return run
        return mean_over_seeds(runs)

    @cached_property
    def ancestry(self) -> Record:
        """The ancestry of all packed results, if one file holds it; {} if each result has its own."""
        return read_ancestry(self.folder)

    def _read(self, row: RunKey, path: Path | None = None) -> Result | SteleError | None:
        """Reads a result; returns the error of a damaged file, or None if there is no such file."""
        path = path or self.path(row)
        try:
            result = read_result(path)
        except FileNotFoundError:
            return None
        except SteleError as error:
            return error
        except OSError as error:
            return SteleError(f"{path}: {error.strerror}")
        holds = RunKey(result.benchmark, result.model, result.setting)
        if holds != row:
            return SteleError(f"{path}: holds {holds.path}; remove it and run again")
        return result


def lookup_value(context: Context, results: Results, reference: CellSource, seeds: Sequence[str] = ()) -> Outcome:
    """Outcome of a value: from the results folder if it holds the value, else from the context."""
    result = results.read_seeds(reference.result, seeds) if context.is_current(reference.result) else None
    if isinstance(result, SteleError):
        return Outcome("unreadable", str(result))
    if result is None:
        return lookup_absence(context, reference)
    path = results.path(reference.result)
    metric = result.metrics.get(reference.metric)
    if metric is None:
        return Outcome("not run", f"{path} holds no {reference.metric}")
    present = tuple(code for code in context.in_scale(reference) if code in metric.languages)
    if not present:
        missing = Outcome("not run", f"{path} holds no {', '.join(reference.languages)}")
        return _lookup_exclusion(context, reference) or missing
    return Outcome(
        state="measured",
        reason=_divergence(result),
        value=_mean(metric.languages, present),
        languages=present,
        labels=tuple(sorted(set(result.labels))),
        deviation=_deviation(metric, present),
        diverged=result.has_diverged,
        guess=_guess(metric, present),
        averaged=tuple(seeds or result.seed_names),
    )


def lookup_absence(context: Context, reference: CellSource) -> Outcome:
    """Outcome of a value without a current file: its state and the reason."""
    known = context.known(reference.result)
    state = "not run" if known.state == "planned" else known.state
    if state in ("not run", "failed") and (exclusion := _lookup_exclusion(context, reference)):
        return exclusion
    return Outcome(state, known.reason)


def _lookup_exclusion(context: Context, reference: CellSource) -> Outcome | None:
    """Outcome of a value that no run would give: `not in scale` if this run leaves out all its languages, `unavailable`
    if the row is not evaluated in any of the others; None if a run would give it."""
    wanted = context.in_scale(reference)
    if not wanted:
        return Outcome("not in scale", f"not among the languages of this run (scale {context.scale or 'not given'})")
    reasons = context.left_out.get(reference.result.name, {})
    return Outcome("unavailable", reasons[wanted[0]]) if set(wanted) <= reasons.keys() else None


def _divergence(result: Result) -> str:
    """Text on the pretrainings of a result that diverged, and why; "" if none did."""
    runs = result.diverged
    if result.has_diverged and len(runs) == 1:
        return f"pretraining diverged: {next(iter(runs.values()))}"
    by_seed = "; ".join(f"{seed}: {why}" for seed, why in sorted(runs.items()))
    return by_seed and f"pretraining diverged in {len(runs)} of {len(result.seed_names)} seeds: {by_seed}"


def _mean(values: dict[str, float], languages: Sequence[str]) -> float:
    """Mean of the values in `languages`, unrounded; exact for one language."""
    return math.fsum(values[code] for code in languages) / len(languages)


def _guess(metric: Metric, languages: tuple[str, ...]) -> tuple[float, float] | None:
    """Mean chance level over `languages` and its error; None if a language has none.

    The languages may ask the same questions, so their errors may be correlated: they are averaged, not squared.
    """
    scores, errors = metric.guess.languages, metric.guess.errors
    if any(code not in scores or code not in errors for code in languages):
        return None
    return _mean(scores, languages), _mean(errors, languages)


def _deviation(metric: Metric, languages: tuple[str, ...]) -> float | None:
    """Sample standard deviation over seeds of the mean over languages; None for one seed."""
    by_seed = list(zip(*(metric.values.languages.get(code, []) for code in languages), strict=False))
    return std([math.fsum(seed) / len(seed) for seed in by_seed])

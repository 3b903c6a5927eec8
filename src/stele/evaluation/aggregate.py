"""Averages of a metric: over the queries of each language and of all, and over the seeds of a system."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stele.errors import SteleError


def by_language(
    values: np.ndarray, languages: Sequence[str], average: str, finish: Callable[[float], float] = float
) -> dict[str, Any]:
    """Averages one metric: {"languages": {language: mean}, "average": mean, "n": {language: number of queries}}.

    `values` is float64 [rows], one per query; NaN marks a query that does not count. A language without a query that
    counts is left out. `average` "macro" is the mean over languages, "micro" the mean over queries. `finish` turns a
    mean into the metric's value.
    """
    counted: dict[str, list[float]] = {}
    for value, language in zip(values.tolist(), languages, strict=True):
        if not math.isnan(value):
            counted.setdefault(language, []).append(value)
    means = {language: finish(_mean(of_language)) for language, of_language in counted.items()}
    overall = None
    if counted and average == "macro":
        overall = _mean(list(means.values()))
    elif counted:
        all_values = [value for of_language in counted.values() for value in of_language]
        overall = finish(_mean(all_values))
    return {
        "languages": means,
        "average": overall,
        "n": {language: len(of_language) for language, of_language in counted.items()},
    }


def over_seeds(metrics: Sequence[Mapping[str, Any]], files: Sequence[Path]) -> dict[str, Any]:
    """Combines one metric of several seeds: means, sample standard deviations (None for one seed) and all values.

    The error of the chance level (`guess`) is a mean over seeds too, as all seeds share the queries. `files` names the
    result of each seed. Raises SteleError if two seeds have different numbers of queries in a language.
    """
    counts = [metric.get("n", {}) for metric in metrics]
    for file, other in zip(files, counts, strict=True):
        if other != counts[0]:
            language = min(code for code in counts[0] | other if counts[0].get(code) != other.get(code))
            mismatch = f"{other.get(language, 0)} queries in {language}, but {counts[0].get(language, 0)} in {files[0]}"
            raise SteleError(f"{file}: {mismatch}; score all seeds against the same judgments")
    languages = list(metrics[0]["languages"])
    values = {language: [m["languages"][language] for m in metrics] for language in languages}
    averages = [m["average"] for m in metrics]
    guesses = [m.get("guess", {"languages": {}, "errors": {}}) for m in metrics]
    known = [language for language in languages if all(language in of_seed["languages"] for of_seed in guesses)]
    guess = {part: {code: _mean([g[part][code] for g in guesses]) for code in known} for part in guesses[0]}
    return {
        **({"guess": guess} if known else {}),
        "languages": {language: _mean(values_of_language) for language, values_of_language in values.items()},
        "average": _mean(averages),
        "n": {language: counts[0][language] for language in languages},
        "std": {
            "languages": {language: std(values_of_language) for language, values_of_language in values.items()},
            "average": std(averages),
        },
        "values": {"languages": values, "average": averages},
    }


def _mean(values: Sequence[float | None]) -> float | None:
    return None if None in values else math.fsum(values) / len(values)


def std(values: Sequence[float | None]) -> float | None:
    """Sample standard deviation of the values of several seeds; None for one, or if a value is missing."""
    return None if None in values or len(values) < 2 else statistics.stdev(values)

"""Made scores of two systems with a planted effect: by seed of pretraining and query, in several languages."""

import numpy as np

from stele.claims.judging.estimate import Estimate, Term, combine, scored

LANGUAGES = ("ar", "sw", "th")


def planted(generator, effect=0.0, seeds=5, queries=60, over_seeds=0.01, over_queries=0.1, noise=0.02, other=None):
    """(left, right, languages): float64 [seeds, n] twice and n names; left is above right by `effect`.

    Differences vary over seeds, over queries, and freely. `other` is a language -> its own effect.
    """
    names = [language for language in LANGUAGES for _ in range(queries)]
    effects = np.array([(other or {}).get(name, effect) for name in names])
    right = np.broadcast_to(generator.uniform(0.2, 0.8, len(names)), (seeds, len(names)))
    of_seed = generator.normal(0, over_seeds, (seeds, 1))
    of_query = generator.normal(0, over_queries, (1, len(names)))
    free = generator.normal(0, noise, (seeds, len(names)))
    return right + effects + of_seed + of_query + free, right, names


def estimate(left: np.ndarray, right: np.ndarray, languages: list[str]) -> Estimate:
    """Left minus right, from values by seed and query, float64 [S, n] and [its S, n]; `languages` has n names.

    Raises ValueError for a language with a single query.
    """
    return combine([term(1.0, left, languages), term(-1.0, right, languages)])


def term(weight: float, values: np.ndarray, languages: list[str]) -> Term:
    """A term of all of a system's values by seed and query, float64 [S, n]."""
    names = np.asarray(languages)
    by_name = [scored(str(name), values[:, names == name]) for name in np.unique(names)]
    return Term(weight, by_name, tuple(map(str, range(len(values)))))


def by_language(left: np.ndarray, right: np.ndarray, languages: list[str]) -> dict[str, Estimate]:
    """The estimate of each language by itself, in order of their names."""
    names = np.asarray(languages)
    return {
        str(name): estimate(left[:, names == name], right[:, names == name], names[names == name])
        for name in np.unique(names)
    }

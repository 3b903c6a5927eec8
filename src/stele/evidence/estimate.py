"""The difference of two systems over seeds and queries: its mean, its standard error and an interval.

For each seed p of pretraining, D_p is the macro-average over languages of the differences query by query, seeds of
fine-tuning averaged. Its mean over seeds has the squared standard error

    SE^2 = var(D_p) / P + sum_l v_l / n_l / L^2

with v_l the sample variance of the n_l differences of language l, averaged over seeds: what other seeds would change,
and what other queries would. The second part is the variance of the bootstrap that draws queries again within each
language, in the limit of many resamples and times n_l / (n_l - 1), so that nothing is drawn. Seeds and queries are
never one sample of P times n. Degrees of freedom are Satterthwaite's over all parts (Biometrics Bulletin 2, 1946).

Where the two systems do not have the same number of seeds, each adds its own variance over seeds (Welch, Biometrika 34,
1947).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

FEWEST_SEEDS = 3  # below it nothing is decided


class Part(NamedTuple):
    """One part of a squared standard error; `seeds` it was estimated from, 0 for a part that is of the queries."""

    variance: float
    freedom: float
    seeds: int = 0


class Estimate(NamedTuple):
    """A mean difference, the parts of its squared standard error, and the fewest seeds that one of the systems has."""

    mean: float
    parts: tuple[Part, ...]
    seeds: int

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(math.fsum(part.variance for part in self.parts))

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom; infinite where nothing varies."""
        return satterthwaite(self.parts)

    @property
    def reversed(self) -> Estimate:
        """The difference the other way round."""
        return self._replace(mean=-self.mean)


def satterthwaite(parts: Iterable[Part]) -> float:
    """The degrees of freedom of a sum of variances.

    >>> round(satterthwaite([Part(1.0, 4), Part(1.0, 4)]), 9)
    8.0
    """
    varying = [part for part in parts if part.variance > 0]
    total = math.fsum(part.variance for part in varying)
    # relative to the total, so that tiny variances do not vanish when they are squared
    return 1 / math.fsum((part.variance / total) ** 2 / part.freedom for part in varying) if varying else math.inf


def replicates(values: np.ndarray) -> np.ndarray:
    """float64 [S, n]: the values by seed, from [P, F, n] by seeds of pretraining and of fine-tuning.

    Fine-tuning seeds are averaged; where nothing is pretrained (P is 1) they are the seeds.
    """
    return values[0] if len(values) == 1 else values.mean(axis=1)


def estimate(left: np.ndarray, right: np.ndarray, languages: Sequence[str]) -> Estimate:
    """Left minus right, from values by seed and query, float64 [S, n] and [its S, n]; `languages` has n names.

    Raises ValueError for a language with a single query, whose variance nobody knows.
    """
    names = np.asarray(languages)
    groups = [names == name for name in np.unique(names)]
    if small := [str(name) for name in np.unique(names) if np.count_nonzero(names == name) < 2]:
        raise ValueError(f"{small[0]} has a single query")
    differences = left.mean(axis=0) - right.mean(axis=0)
    parts = [
        Part(float(differences[of].var(ddof=1)) / of.sum() / len(groups) ** 2, float(of.sum()) - 1) for of in groups
    ]
    if len(left) == len(right):
        parts += _over_seeds(macro(left - right, groups))
    else:
        parts += [*_over_seeds(macro(left, groups)), *_over_seeds(macro(right, groups))]
    return Estimate(float(macro(differences, groups)), tuple(parts), min(len(left), len(right)))


def macro(values: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """[...]: the mean over groups of the mean of each, from [..., n]; a group is a mask [n]."""
    return np.mean([values[..., of].mean(axis=-1) for of in groups], axis=0)


def _over_seeds(means: np.ndarray) -> list[Part]:
    """The part of a mean over seeds, none of a single seed."""
    count = len(means)
    return [Part(float(means.var(ddof=1)) / count, count - 1, count)] if count > 1 else []


def by_language(left: np.ndarray, right: np.ndarray, languages: Sequence[str]) -> dict[str, Estimate]:
    """The estimate of each language by itself, in order of their names."""
    names = np.asarray(languages)
    return {
        str(name): estimate(left[:, names == name], right[:, names == name], names[names == name])
        for name in np.unique(names)
    }


def interval(found: Estimate, alpha: float) -> tuple[float, float]:
    """The t interval at level 1 - alpha."""
    reach = quantile(1 - alpha / 2, found.freedom) * found.error
    return found.mean - reach, found.mean + reach


def p_above(found: Estimate, bound: float = 0.0) -> float:
    """One-sided p against a mean that is no higher than `bound`: small where it is higher.

    >>> p_above(Estimate(1.0, (), 3)), p_above(Estimate(0.0, (), 3))  # nothing varies
    (0.0, 1.0)
    """
    from scipy.special import stdtr  # `scipy.special` alone loads in a tenth of the time of `scipy.stats`

    if found.error == 0:
        return 0.0 if found.mean > bound else 1.0
    return float(stdtr(min(found.freedom, 1e12), -(found.mean - bound) / found.error))


def quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(min(freedom, 1e12), probability))

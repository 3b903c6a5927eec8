"""The difference of two systems over seeds and queries: its mean, its standard error and an interval.

For each seed p of pretraining, D_p is the macro-average over languages of the differences query by query, seeds of
fine-tuning averaged. Its mean over seeds has the squared standard error

    SE^2 = var(D_p) / P + sum_l v_l / n_l / L^2

with v_l the sample variance of the n_l differences of language l, averaged over seeds. The first part is the variance
due to seeds, the second that due to queries: the bootstrap variance of resampling queries within each language, in the
limit of many resamples and times n_l / (n_l - 1), so that nothing is drawn. Seeds and queries are never one sample of P
times n. Degrees of freedom are Satterthwaite's over all parts (Biometrics Bulletin 2, 1946).

Seeds of pretraining that share their F seeds of fine-tuning are crossed with them: var(D_p) does not hold the effect of
a seed of fine-tuning that is the same for all of them. Its variance is estimated and added, (MS_F - MS_PF) / (P F) of a
two-way analysis of variance with F - 1 degrees of freedom, if it is above 0.

An estimate can be of any linear combination of systems, metrics and benchmarks, such as differences of gains or of
several columns. If two systems have different seeds, each adds its own variance over seeds (Welch, Biometrika 34,
1947).
"""

import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

FEWEST_SEEDS = 3  # fewer decide nothing
PRETRAINING = "pt"  # prefix of a pretraining seed's name
UNTRAINED = sys.maxsize  # number of seeds of a model that no seed affects
ROUNDING = 1e-12  # relative to the summands: smaller differences are rounding


class Part(NamedTuple):
    """One part of a squared standard error, estimated from `seeds` seeds (0: from queries)."""

    variance: float
    freedom: float
    seeds: int = 0


class Estimate(NamedTuple):
    """A mean difference, the parts of its squared standard error, and the smallest number of seeds of its systems."""

    mean: float
    parts: tuple[Part, ...]
    seeds: int

    @property
    def error(self) -> float:
        return math.sqrt(math.fsum(part.variance for part in self.parts))

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom; infinite where nothing varies.

        >>> round(Estimate(0.0, (Part(1.0, 4), Part(1.0, 4)), 5).freedom, 9)
        8.0
        """
        varying = [part for part in self.parts if part.variance > 0]
        total = math.fsum(part.variance for part in varying)
        # relative to the total, so that tiny variances do not vanish when they are squared
        return 1 / math.fsum((part.variance / total) ** 2 / part.freedom for part in varying) if varying else math.inf

    @property
    def reversed(self) -> Self:
        """Estimate of the opposite difference, right minus left."""
        return self._replace(mean=-self.mean)


class Scored(NamedTuple):
    """One system by one metric in one stratum of queries (a language of a benchmark).

    means: float64 [S], by seed. queries: int [n], numbers of the queries that count; empty for a count that is no mean
    over queries. centred: float64 [n], each query's deviation from the mean over queries and seeds, divided by n.
    by_finetuning: float64 [S, F], means for the F seeds of fine-tuning that all S seeds have, if there are several.
    """

    stratum: Hashable
    means: np.ndarray
    queries: np.ndarray
    centred: np.ndarray
    by_finetuning: np.ndarray | None = None


class Term(NamedTuple):
    """One part of a linear combination: `weight` times the mean over languages of a system.

    `seeds` names the S seeds, empty (S is 1) for an untrained system; terms with the same names vary together.
    `finetuning` names the F seeds of fine-tuning that all seeds share; it is empty if F is below two.
    """

    weight: float
    languages: Sequence[Scored]
    seeds: tuple[str, ...]
    finetuning: tuple[str, ...] = ()


def scored(
    stratum: Hashable,
    values: np.ndarray,
    queries: np.ndarray | None = None,
    finish: Callable[[float], float] | None = None,
    by_finetuning: np.ndarray | None = None,
) -> Scored:
    """Summarises values float64 [S, n] of a stratum's queries: all of them, or those with numbers `queries`, int [n].

    by_finetuning: float64 [S, F], means by both seeds.

    `finish` turns a mean over queries into the metric's value, if they differ; its slope then scales the deviations of
    the queries. Raises ValueError for a single query, whose variance is unknown.
    """
    count = values.shape[1]
    if count < 2:
        raise ValueError(f"{stratum} has a single query")
    queries = np.arange(count) if queries is None else queries
    means, of_query = values.mean(axis=1), values.mean(axis=0)
    centred = (of_query - of_query.mean()) / count
    if finish is not None:
        centre, step = float(of_query.mean()), 1e-6 * max(abs(float(of_query.mean())), 1e-9)
        centred = centred * (finish(centre + step) - finish(centre)) / step
        means = np.array([finish(mean) for mean in means.tolist()])
        if by_finetuning is not None:
            by_finetuning = np.vectorize(finish)(by_finetuning)
    return Scored(stratum, means, queries, centred, by_finetuning)


def combine(terms: Sequence[Term]) -> Estimate:
    """Estimates the sum of terms: those with the same queries, or the same seeds, vary together.

    Different benchmarks have different queries, so their variances are added.
    """
    by_seeds: dict[tuple[str, ...], np.ndarray] = {}
    crossed: dict[tuple[tuple[str, ...], tuple[str, ...]], np.ndarray] = {}
    strata: dict[Hashable, list[tuple[np.ndarray, np.ndarray]]] = {}
    for term in terms:
        share = term.weight / len(term.languages)
        means = share * np.sum([language.means for language in term.languages], axis=0)
        by_seeds[term.seeds] = by_seeds.get(term.seeds, 0.0) + means
        if term.finetuning:
            by_both, key = share * np.sum([language.by_finetuning for language in term.languages], axis=0), term[2:]
            crossed[key] = crossed.get(key, 0.0) + by_both
        for language in term.languages:
            if len(language.queries):
                strata.setdefault(language.stratum, []).append((language.queries, share * language.centred))
    parts = [_over_queries(added) for added in strata.values()]
    for means in by_seeds.values():
        parts += _over_seeds(means)
    for by_both in crossed.values():
        parts += _over_finetuning(by_both)
    mean = math.fsum(float(means.mean()) for means in by_seeds.values())
    size = math.fsum(abs(term.weight) * _size(term.languages) for term in terms)
    parts = [part._replace(variance=0.0) if part.variance <= (ROUNDING * size) ** 2 else part for part in parts]
    return Estimate(0.0 if abs(mean) <= ROUNDING * size else mean, tuple(parts), _seeds(by_seeds))


def _size(languages: Sequence[Scored]) -> float:
    return max(float(np.abs(language.means).max()) for language in languages)


def _seeds(groups: Iterable[tuple[str, ...]]) -> int:
    """Number of seeds of an estimate: the smallest of any pretrained system, or of any system if none is pretrained.

    A system that is only fine-tuned adds the variance over its own seeds. With fewer seeds than a verdict needs that
    variance is unknown, and their number counts instead.
    """
    trained = [seeds for seeds in groups if seeds]
    pretrained = [seeds for seeds in trained if seeds[0].startswith(PRETRAINING)]
    fewest = min(map(len, trained), default=UNTRAINED)
    return min(map(len, pretrained)) if pretrained and fewest >= FEWEST_SEEDS else fewest


def _over_queries(added: Sequence[tuple[np.ndarray, np.ndarray]]) -> Part:
    """Part of one stratum's queries; `added` holds, for each term, the numbers of its queries and their deviations."""
    size = 1 + max(int(queries.max()) for queries, _ in added)
    total, counts = np.zeros(size), np.zeros(size, dtype=bool)
    for queries, contributions in added:
        total[queries] += contributions
        counts[queries] = True
    number = int(np.count_nonzero(counts))
    return Part(number / (number - 1) * float(total @ total), number - 1)


def _over_seeds(means: np.ndarray) -> list[Part]:
    """Part of the variance over seeds, from their means, float64 [S]; empty for a single seed."""
    count = len(means)
    return [Part(float(means.var(ddof=1)) / count, count - 1, count)] if count > 1 else []


def _over_finetuning(by_both: np.ndarray) -> list[Part]:
    """Part of the variance over fine-tuning seeds shared by all pretraining seeds, from float64 [P, F]; empty if <= 0.

    More seeds of pretraining would not change it, so its `seeds` are 0, as in a part of queries.
    """
    pretraining, finetuning = by_both.shape
    of_finetuning = by_both.mean(axis=0)
    residuals = by_both - of_finetuning - by_both.mean(axis=1, keepdims=True) + by_both.mean()
    interaction = float((residuals**2).sum()) / ((pretraining - 1) * (finetuning - 1))
    variance = (pretraining * float(of_finetuning.var(ddof=1)) - interaction) / (pretraining * finetuning)
    return [Part(variance, finetuning - 1)] if variance > 0 else []


def interval(estimate: Estimate, alpha: float) -> tuple[float, float]:
    """Confidence interval of the mean at level 1 - alpha, by Student's t."""
    reach = quantile(1 - alpha / 2, estimate.freedom) * estimate.error
    return estimate.mean - reach, estimate.mean + reach


def p_above(estimate: Estimate, bound: float = 0.0) -> float:
    """One-sided p-value of the hypothesis that the mean is at most `bound`: small if it is clearly higher.

    If n queries all change by the same amount, their variance is unknown, and p is that of the sign test, 1 / 2^n.

    >>> p_above(Estimate(1.0, (), 3)), p_above(Estimate(0.0, (), 3))  # nothing can vary
    (0.0, 1.0)
    >>> p_above(Estimate(1.0, (Part(0.0, 1),), 3))  # two queries
    0.25
    """
    from scipy.special import stdtr  # `scipy.special` alone loads in a tenth of the time of `scipy.stats`

    if estimate.error == 0:
        queries = math.fsum(part.freedom + 1 for part in estimate.parts if not part.seeds)
        return (0.5**queries if queries else 0.0) if estimate.mean > bound else 1.0
    return float(stdtr(min(estimate.freedom, 1e12), -(estimate.mean - bound) / estimate.error))


def quantile(probability: float, freedom: float) -> float:
    """Quantile of Student's t with `freedom` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(min(freedom, 1e12), probability))


POWER = 0.8
SEARCHED_SEEDS = 50  # smaller numbers of seeds are tried one by one
MOST_SEEDS = 1_000_000  # an effect that needs more is hidden by the variance between queries


def detectable(estimate: Estimate, alpha: float) -> float:
    """Smallest true difference that a test at level `alpha` would tell from 0 with probability `POWER`.

    It is the standard error times the sum of two quantiles of t, the usual approximation of the noncentral t.
    """
    return (quantile(1 - alpha / 2, estimate.freedom) + quantile(POWER, estimate.freedom)) * estimate.error


def seeds_needed(estimate: Estimate, effect: float, alpha: float) -> int | None:
    """Smallest number of seeds with which `effect` would be detectable; None if no number of seeds is enough.

    A further seed reduces only the variance over seeds: there may be too few queries, or too few seeds of fine-tuning.
    """

    def is_enough(seeds: int) -> bool:
        parts = tuple(_with_seeds(part, seeds) for part in estimate.parts)
        return detectable(estimate._replace(parts=parts), alpha) <= effect

    # few seeds may be enough where more are not: beside a part of few degrees of freedom the sum's fall with each seed
    for seeds in range(FEWEST_SEEDS, SEARCHED_SEEDS):
        if is_enough(seeds):
            return seeds
    seeds = SEARCHED_SEEDS + bisect_left(range(SEARCHED_SEEDS, MOST_SEEDS), True, key=is_enough)
    return seeds if is_enough(seeds) else None


def _with_seeds(part: Part, seeds: int) -> Part:
    return Part(part.variance * part.seeds / seeds, seeds - 1, seeds) if part.seeds else part

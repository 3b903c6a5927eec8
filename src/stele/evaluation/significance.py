"""Tests of a difference between two systems that answered the same queries, and families of several such tests.

`load_test(name)` gives a test, `correct(p_values, name)` the corrected p-values of one family, and
`levels(p_values, procedure)` the significance level of each test of a family, to compare its own p-value with.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from stele.errors import check_known
from stele.evaluation.paired import ROUNDING

PERMUTATIONS = 100_000
EXACT = 20  # differences up to which all outcomes are counted: half a million
TOLERANCE = 1e-12  # of the largest possible sum: outcomes this close to the observed one are ties
BLOCK = 4096  # permutations drawn at a time: their sums stay in the cache
_BYTES = 2**24  # of random bits at a time, where there are very many queries


class Fisher:
    """Fisher's randomisation test for paired scores, two-sided.

    Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation
    (CIKM 2007), section 2.1. Null hypothesis: which of the two systems gave which of a query's two scores is a coin
    toss. Statistic: the absolute difference of the two means, and for an average over languages that of the two
    averages. So each query contributes its difference times a weight, a toss turns the sign of a contribution, and the
    p-value is the share of the 2^n outcomes whose absolute sum is at least the observed one.

    Queries without a difference change no outcome and are left out. If at most 20 are left, all outcomes are counted.
    Else B outcomes are drawn, c of which are at least as extreme, and p = (c + 1) / (B + 1): the observed outcome is
    one of the possible ones, so p is never 0 (Davison and Hinkley, Bootstrap methods and their application, 1997,
    section 4.2).

    The contributions are sorted by size before any is drawn, and the bits of PCG64 itself are used (their stream is
    fixed for a seed, that of numpy's distributions is not): the p-value is the same for the same seed and the same
    differences, whatever the order of the queries, of the two systems, the number of threads or the size of a block.
    ranx 0.3.21's test is not repeatable with a seed, gives 0 for c = 0, and stops at 1,000 permutations unless told
    otherwise.
    """

    name = "fisher"
    draws = True  # whether `permutations` and `seed` matter

    def describe(self, permutations: int, seed: int) -> str:
        """Describes the test and its settings in words."""
        return (
            f"paired Fisher randomisation, two-sided; {permutations:,} permutations, seed {seed}, "
            f"exact where at most {EXACT} queries differ"
        )

    def p_value(self, strata: Sequence[np.ndarray], permutations: int = PERMUTATIONS, seed: int = 0) -> float:
        """p-value of the mean over `strata` (a macro mean has one per language) of the means of paired differences.

        Each stratum is float [n_l]; the signs of all queries' differences are random, whatever their stratum.

        >>> Fisher().p_value([np.array([0.5, 0.25, 0.25])])  # 2 of the 8 outcomes reach the sum of 1
        0.25
        """
        contributions = [stratum / (len(strata) * len(stratum)) for stratum in strata]
        return randomisation(np.concatenate(contributions), permutations, seed)


class TTest:
    """Paired t-test, two-tailed.

    For one language it is `scipy.stats.ttest_rel` (Student's test on the n differences, n - 1 degrees of freedom). For
    a macro mean over L languages the queries are a stratified sample: the mean difference is sum_l m_l / L, its
    standard error sqrt(sum_l v_l / n_l) / L (Cochran, Sampling techniques, 3rd ed., 1977, section 5.4), and the degrees
    of freedom are Satterthwaite's, (sum_l v_l / n_l)^2 / sum_l (v_l / n_l)^2 / (n_l - 1) (Biometrics Bulletin 2, 1946),
    with m_l, v_l and n_l the mean, sample variance and number of the differences of language l. With one language both
    are the same test.

    Where no language's differences vary by more than rounding there is no variance to estimate, and p is that of
    Fisher's randomisation: 1 for identical runs (scipy gives NaN), 2 / 2^n for n queries that all change alike (scipy
    gives 0, the limit of ever smaller variance, also for two queries). If a language has a single query, p is NaN.
    """

    name = "t_test"
    draws = False

    def describe(self, permutations: int, seed: int) -> str:
        return "paired t-test, two-tailed"

    def p_value(self, strata: Sequence[np.ndarray], permutations: int = PERMUTATIONS, seed: int = 0) -> float:
        """p-value; NaN if a stratum has a single query. It uses `permutations` and `seed` only if no stratum varies.

        >>> round(TTest().p_value([np.array([1.0, 2.0, 3.0])]), 6)  # t = 2 sqrt(3), 2 degrees of freedom
        0.07418
        """
        from scipy.special import stdtr  # scipy.stats.t takes ten times as long to load

        if any(len(stratum) < 2 for stratum in strata):
            return math.nan
        if not any(map(varies, strata)):
            return Fisher().p_value(strata, permutations, seed)
        mean = math.fsum(stratum.mean() for stratum in strata) / len(strata)
        variances = [stratum.var(ddof=1) / len(stratum) for stratum in strata]
        total = math.fsum(variances)
        # relative to the total, so that tiny variances do not vanish when they are squared
        freedom = 1 / math.fsum(
            (v / total) ** 2 / (len(stratum) - 1) for v, stratum in zip(variances, strata, strict=True)
        )
        t = mean * len(strata) / math.sqrt(total)
        return float(2 * stdtr(freedom, -abs(t)))


SignificanceTest = Fisher | TTest
TESTS: dict[str, SignificanceTest] = {test.name: test for test in (Fisher(), TTest())}


def load_test(name: str) -> SignificanceTest:
    """Significance test called `name`. Raises SteleError for an unknown name."""
    check_known("test", name, TESTS)
    return TESTS[name]


def varies(differences: np.ndarray) -> bool:
    """Whether some differences, float [n], differ by more than rounding.

    >>> varies(np.array([0.3 - 0.1, 0.5 - 0.3])), varies(np.array([0.2, 0.21]))
    (False, True)
    """
    return bool(np.ptp(differences) > ROUNDING * np.abs(differences).max())


def randomisation(contributions: np.ndarray, permutations: int = PERMUTATIONS, seed: int = 0) -> float:
    """p-value of the absolute sum of `contributions`, float [n], under random signs.

    Raises ValueError if a contribution is not finite.
    """
    if not np.isfinite(contributions).all():
        raise ValueError("contributions must be finite")
    sizes = np.sort(np.abs(contributions[contributions != 0]))
    observed = abs(math.fsum(contributions)) - TOLERANCE * math.fsum(sizes)
    if len(sizes) <= EXACT:
        return _exact(sizes, observed)
    reached = sum(int(np.count_nonzero(np.abs(sums) >= observed)) for sums in _sums(sizes, permutations, seed))
    return (reached + 1) / (permutations + 1)


def _exact(sizes: np.ndarray, observed: float) -> float:
    """Share of all outcomes whose absolute sum reaches `observed`.

    The sign of the largest size is fixed: an outcome and its mirror image are equally extreme.
    """
    if not len(sizes):
        return 1.0
    sums = sizes[-1:]
    for size in sizes[:-1]:
        sums = np.concatenate([sums + size, sums - size])
    return int(np.count_nonzero(np.abs(sums) >= observed)) / len(sums)


def _sums(sizes: np.ndarray, permutations: int, seed: int) -> Iterator[np.ndarray]:
    """Yields the sums under random signs, float64, one array per block of permutations.

    Permutation i takes the generator's 64-bit words from i * ceil(n / 64) on, one bit per query, 1 for minus.
    """
    words = -(-len(sizes) // 64)
    block = max(1, min(BLOCK, _BYTES // (8 * words)))
    tables, generator = _tables(sizes), np.random.PCG64(seed)
    for start in range(0, permutations, block):
        count = min(block, permutations - start)
        bits = generator.random_raw(count * words).astype("<u8", copy=False).view(np.uint8).reshape(count, 8 * words)
        sums, part = np.zeros(count), np.empty(count)
        for column, table in enumerate(tables):
            sums += table.take(bits[:, column], out=part, mode="clip")  # no byte is out of range; "raise" would copy
        yield sums


def _tables(sizes: np.ndarray) -> np.ndarray:
    """Sums of each eight neighbouring sizes under all 256 patterns of signs, float64 [ceil(n / 8), 256]."""
    groups = np.zeros((-(-len(sizes) // 8), 8))
    groups.flat[: len(sizes)] = sizes
    signs = 1.0 - 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    tables = np.zeros((len(groups), 256))
    for bit in range(8):  # no matrix product: its rounding depends on the library and its threads
        tables += groups[:, bit, None] * signs[:, bit]
    return tables


# --- several comparisons ---
def bonferroni(p_values: np.ndarray) -> np.ndarray:
    """Bonferroni's correction, float64 [n]: each p-value times their number, at most 1."""
    return np.minimum(1.0, len(p_values) * p_values)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's correction, float64 [n]: the i-th smallest p-value times n - i + 1, at most 1, at least the one before."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    factors = np.arange(len(p_values), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return corrected


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "none": np.asarray}


def correct(p_values: Sequence[float], name: str) -> list[float]:
    """Corrects the p-values of one family, in the order given; each result is to be compared with the level itself.

    "holm" and "bonferroni" keep the chance of any false discovery in the family below the level (Holm, A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979). A comparison without a
    p-value (NaN) stays NaN and does not count. Raises SteleError for an unknown name.

    >>> correct([0.04, 0.01, 0.03], "holm")
    [0.06, 0.03, 0.06]
    """
    check_known("correction", name, CORRECTIONS)
    corrected = np.array(p_values, dtype=np.float64)
    tested = ~np.isnan(corrected)
    corrected[tested] = CORRECTIONS[name](corrected[tested])
    return corrected.tolist()


def holm_levels(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """Holm's level of each p-value, float64 [m]: alpha / m, alpha / (m - 1) ..., constant once one is not rejected."""
    order = np.argsort(p_values, kind="stable")
    steps = alpha / np.arange(len(p_values), 0, -1)
    open_ = np.flatnonzero(p_values[order] > steps)
    if len(open_):
        steps[open_[0] :] = steps[open_[0]]
    levels = np.empty(len(p_values))
    levels[order] = steps
    return levels


def benjamini_hochberg_levels(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """Benjamini and Hochberg's level, the same for all, float64 [m]: alpha times the rejected share, at least 1 / m."""
    steps = alpha * np.arange(1, len(p_values) + 1) / len(p_values)
    rejected = np.flatnonzero(np.sort(p_values) <= steps)
    return np.full(len(p_values), steps[rejected[-1]] if len(rejected) else steps[0])


LEVELS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "holm": holm_levels,
    "benjamini_hochberg": benjamini_hochberg_levels,
}


def levels(p_values: Sequence[float], procedure: str, alpha: float = 0.05) -> list[float]:
    """Level of each claim of one family, in the order given, so that the family as a whole keeps `alpha`.

    The family's procedure rejects exactly if a claim's p-value is at most its level, or if its interval at one minus
    the level excludes 0: the displayed interval decides.

    - holm: the chance of any false verdict in the family (Holm, as for `correct`)
    - benjamini_hochberg: the expected share of false verdicts (Journal of the Royal Statistical Society B 57, 1995),
      with the intervals of Benjamini and Yekutieli (Journal of the American Statistical Association 100, 2005)

    A claim without a p-value is NaN: results are missing, or it has a test of its own. In Holm's family, which was
    fixed before any run, it counts as not rejected. In the other it does not count and its level is the family's: a
    claim without a verdict cannot be a false discovery.

    >>> levels([0.001, 0.2, 0.02], "holm", 0.06)
    [0.02, 0.06, 0.03]
    >>> levels([0.001, 0.2, 0.02], "benjamini_hochberg", 0.06)
    [0.04, 0.04, 0.04]
    """
    p_array = np.asarray(p_values, dtype=np.float64)
    if procedure == "holm":
        p_array = np.where(np.isnan(p_array), 1.0, p_array)
    known = ~np.isnan(p_array)
    chosen = np.full(len(p_array), alpha)
    if known.any():
        chosen[known] = LEVELS[procedure](p_array[known], alpha)
    return chosen.tolist()

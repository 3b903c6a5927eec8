"""Speed of the Fisher randomisation test against that of ranx, in one run.

    python tests/speed/bench_significance.py      # 2,000 queries, 100,000 permutations each

Prints a line of JSON: seconds of ranx's test (compiled before) on one thread and on its default number of threads, and
of ours, which uses one; how many times faster ours is (bar: 20 on one thread); both p-values and by how many standard
errors of their difference they differ (ranx's seed does not fix its draws).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))


def seconds(call: Callable[[], float]) -> tuple[float, float]:
    """(wall seconds, value) of one call."""
    begun = time.perf_counter()
    value = call()
    return time.perf_counter() - begun, value


def measure(queries: int, permutations: int, repeats: int, seed: int = 0) -> dict[str, float]:
    """Medians over the repeats, in each of which all three run after one another."""
    import numba
    from ranx.statistical_tests import fisher_randomization_test

    from stele.evaluation.significance import load_test

    rng = np.random.default_rng(seed)
    baseline = rng.beta(0.3, 0.5, queries)  # many near 0 or 1, as reciprocal ranks are
    system = rng.beta(0.32, 0.5, queries)
    threads = numba.config.NUMBA_NUM_THREADS

    def ranx_on(count: int) -> float:
        numba.set_num_threads(count)
        return float(fisher_randomization_test(system, baseline, n_permutations=permutations)[0])

    runs = {
        "ranx": lambda: ranx_on(1),
        "ranx_threads": lambda: ranx_on(threads),
        "ours": lambda: load_test("fisher").p_value([system - baseline], permutations=permutations, seed=seed),
    }
    fisher_randomization_test(system, baseline, n_permutations=2)  # compiles
    times: dict[str, list[float]] = {name: [] for name in runs}
    p: dict[str, float] = {}
    for _ in range(repeats):
        for name, call in runs.items():
            taken, p[name] = seconds(call)
            times[name].append(taken)
    median = {name: statistics.median(one) for name, one in times.items()}
    error = math.sqrt(2 * p["ours"] * (1 - p["ours"]) / permutations)
    return {
        "queries": queries,
        "permutations": permutations,
        "ranx_s": round(median["ranx"], 4),
        "ranx_default_threads": threads,
        "ranx_default_threads_s": round(median["ranx_threads"], 4),
        "ours_s": round(median["ours"], 4),
        "times_faster": round(median["ranx"] / median["ours"], 1),
        "times_faster_than_default_threads": round(median["ranx_threads"] / median["ours"], 1),
        "p_ranx": p["ranx"],
        "p_ours": p["ours"],
        "standard_errors_apart": round(abs(p["ranx"] - p["ours"]) / error, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--permutations", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print(json.dumps(measure(args.queries, args.permutations, args.repeats)))


if __name__ == "__main__":
    main()

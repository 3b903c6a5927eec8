"""Choosing the weight of fused rankings: AP of 101 weights over 50 topics with lists of 1,000 and 100 documents.

    python tests/speed/bench_fusion.py                       # CPU-seconds, the best of three
    python tests/speed/bench_fusion.py --peer                # and of the metric `ap` on a run for each weight

Scores are random and rounded, so that many tie. Prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele.artifacts.run import run_of
from stele.benchmarks.types import QuerySet
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.retrieval.fuse import ALPHAS, average_precisions, candidates, fused

Topic = tuple[list[tuple[str, float]], list[tuple[str, float]], dict[str, int]]


def random_topics(number: int, seed: int = 0) -> dict[str, Topic]:
    """Topic -> its two lists and its judgments."""
    rng, names = np.random.default_rng(seed), [f"AFP{n:08}" for n in range(3000)]

    def hits(size: int, low: float, high: float) -> list[tuple[str, float]]:
        scores = np.round(rng.uniform(low, high, size), 2)
        return list(zip(rng.choice(names, size, replace=False).tolist(), scores.tolist(), strict=True))

    return {
        str(n): (hits(1000, 3, 25), hits(100, 60, 90), {d: int(rng.integers(0, 2)) for d in rng.choice(names, 200)})
        for n in range(number)
    }


def ours(topics: dict[str, Topic]) -> np.ndarray:
    """AP by topic and weight, float64 [topics, 101]."""
    return np.array([average_precisions(candidates(*lists), judged, 1000) for *lists, judged in topics.values()])


def peer(topics: dict[str, Topic]) -> np.ndarray:
    """The same by a run for each weight, scored by the metric."""
    query_set, names, columns = QuerySet("xx", "xx", "xx"), list(topics), []
    for alpha in ALPHAS.tolist():
        case = Case(relevant=[judged for _, _, judged in topics.values()])
        case.add(query_set, names)
        case.runs["xx"] = run_of({n: fused(candidates(*lists), alpha, 1000) for n, (*lists, _) in topics.items()})
        columns.append(load_metric("ap@1000").values(case))
    return np.array(columns).T


def cpu_seconds(call: Callable[[], Any], repetitions: int) -> float:
    """Of the fastest call."""
    seconds = []
    for _ in range(repetitions):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return round(min(seconds), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--peer", action="store_true")
    args = parser.parse_args()
    topics = random_topics(args.topics)
    figures = {"topics": args.topics, "cpu_seconds": cpu_seconds(lambda: ours(topics), 3)}
    if args.peer:
        figures["peer_cpu_seconds"] = cpu_seconds(lambda: peer(topics), 1)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

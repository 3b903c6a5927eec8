"""What expansion by RM3 costs beside BM25 alone: CPU time of a collection indexed and searched, alternating.

    python tests/speed/bench_rm3.py                       # 20,000 documents of about 300 words, 50 topics
    python tests/speed/bench_rm3.py --documents 100000 --filter ascii

Few words are most of the text. Documents lie in memory: reading costs nothing. Prints a line of JSON: CPU-seconds of
each (the best of the repetitions), their ratio, and how many terms the second index has.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele.benchmarks.types import Query
from stele.recipes.search import Rm3
from stele.retrieval.lexical import engines
from stele.retrieval.lexical.lucene_bm25 import statistics

PARAMETERS = (0.9, 0.4)


def documents(number: int, seed: int = 0) -> dict[str, str]:
    """Documents of lognormal length, mean about 300 words."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("bcdfghjklmnpqrstvwxz"))
    words = np.array(["".join(rng.choice(letters, 3 + rank // 8000)) for rank in range(40_000)])
    sizes = np.clip(rng.lognormal(5.5, 0.6, number), 5, 3000).astype(int)
    return {
        f"d{n:07}": " ".join(words[(rng.pareto(0.9, size) * 12).astype(int) % len(words)])
        for n, size in enumerate(sizes)
    }


def measure(number: int, topics: int, repetitions: int, term_filter: str) -> dict[str, Any]:
    """The figures that the module's docstring describes, and the hits of both."""
    texts, recipe = documents(number), Rm3(filter=term_filter)
    queries = [
        Query(str(n), " ".join(sorted(text.split()[:40], key=len)[-3:]))
        for n, text in enumerate(list(texts.values())[:topics])
    ]
    collection = engines.Texts("sw", lambda: iter(texts.items()))
    with tempfile.TemporaryDirectory() as folder:  # what is compiled once a process is not measured
        first = engines.Texts("sw", lambda: iter([("d", queries[0].text)]))
        list(engines.Bm25sEngine(first, Path(folder), {"all": queries[:1]}, 1).runs("all", [PARAMETERS], 10))
    times: dict[str, list[float]] = {"bm25": [], "rm3": []}
    hits: dict[str, Any] = {}
    for _ in range(repetitions):
        for way, seconds in times.items():
            with tempfile.TemporaryDirectory() as folder:
                start = time.process_time()
                engine = engines.Bm25sEngine(collection, Path(folder), {"all": queries}, 1, rounded=True)
                if way == "rm3":
                    hits[way] = engine.expanded("all", PARAMETERS, 1000, recipe)
                    terms = len(statistics(next(Path(folder).glob("expanded-*"))).frequencies)
                else:
                    ((_, hits[way]),) = engine.runs("all", [PARAMETERS], 1000)
                seconds.append(time.process_time() - start)
    best = {f"{way}_cpu_seconds": round(min(seconds), 3) for way, seconds in times.items()}
    ratio = round(min(times["rm3"]) / min(times["bm25"]), 2)
    return {"documents": number, "topics": topics, **best, "ratio": ratio, "terms": terms, "hits": hits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--filter", choices=("ascii", "none"), default="none")
    args = parser.parse_args()
    figures = measure(args.documents, args.topics, args.repetitions, args.filter)
    print(json.dumps({name: value for name, value in figures.items() if name != "hits"}))


if __name__ == "__main__":
    main()

"""Speed and memory of exact search against the bare matrix product, in one run.

    python tests/speed/bench_search.py                      # 100,000 x 768, 1,000 queries
    python tests/speed/bench_search.py --passages 1000000   # the size that counts; writes a 3 GB file

Prints a line of JSON: seconds of the bare float32 product of the same blocks (reading them is not counted) and of the
search (reading is counted), their ratio (bar: 0.8), the same in CPU seconds, which other work on the machine disturbs
less, and how far memory rose during the search (bar: a few blocks, whatever the number of passages).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))


def write_collection(folder: Path, passages: int, dimension: int, seed: int = 0) -> None:
    """Random vectors and ids, written block by block."""
    rng = np.random.default_rng(seed)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (passages, dimension))
    ids = np.lib.format.open_memmap(folder / "ids.npy", "w+", "S9", (passages,))
    for start in range(0, passages, 50_000):
        stop = min(start + 50_000, passages)
        vectors[start:stop] = rng.standard_normal((stop - start, dimension), dtype=np.float32)
        ids[start:stop] = np.array([f"{i:09d}" for i in range(start, stop)], dtype="S9")
        vectors.flush()


def bare_product(folder: Path, queries: np.ndarray) -> tuple[float, float]:
    """(wall, CPU) seconds of queries @ block.T over all blocks; reading a block is not counted."""
    import torch

    from stele.retrieval.dense.exact_search import BLOCK_ROWS, QUERY_ROWS

    wanted, wall, cpu = torch.from_numpy(queries), 0.0, 0.0
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = torch.from_numpy(np.array(vectors[start : start + BLOCK_ROWS]))
        for first in range(0, len(wanted), QUERY_ROWS):
            begun, used = time.perf_counter(), time.process_time()
            wanted[first : first + QUERY_ROWS] @ block.T
            wall, cpu = wall + time.perf_counter() - begun, cpu + time.process_time() - used
    return wall, cpu


def search(folder: Path, queries: np.ndarray, k: int) -> tuple[float, float]:
    """(wall, CPU) seconds of the whole search, reading included."""
    from stele.retrieval.dense.exact_search import TopK
    from stele.retrieval.dense.vector_files import blocks

    begun, used = time.perf_counter(), time.process_time()
    best = TopK(queries, k)
    for block, ids in blocks(folder):
        best.add(block, ids)
    assert all(len(hits) == k for hits in best.hits())
    return time.perf_counter() - begun, time.process_time() - used


class Memory:
    """Peak of the anonymous resident memory (mapped files apart) while a block of code runs, in MB above its start."""

    def __enter__(self) -> Memory:
        self.start = self.peak = self._now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def rise(self) -> float:
        return round(self.peak - self.start, 1)

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now() -> float:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    import faiss
    import torch

    torch.set_num_threads(args.threads)
    faiss.omp_set_num_threads(args.threads)
    queries = np.random.default_rng(1).standard_normal((args.queries, args.dimension), dtype=np.float32)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        write_collection(folder, args.passages, args.dimension)
        bare_product(folder, queries[:8])  # warm: file cache, threads
        search(folder, queries[:8], args.depth)
        products, searches = [], []
        for _ in range(args.repeats):
            products.append(bare_product(folder, queries))
            with Memory() as memory:
                searches.append(search(folder, queries, args.depth))
    product, product_cpu = (statistics.median(column) for column in zip(*products, strict=True))
    actual, found_cpu = (statistics.median(column) for column in zip(*searches, strict=True))
    print(
        json.dumps(
            {
                "passages": args.passages,
                "queries": args.queries,
                "threads": args.threads,
                "product_s": round(product, 3),
                "search_s": round(actual, 3),
                "ratio": round(product / actual, 3),
                "cpu_ratio": round(product_cpu / found_cpu, 3),
                "gflops": round(2e-9 * args.passages * args.queries * args.dimension / product, 1),
                "memory_rise_mb": memory.rise,
                "file_mb": round(args.passages * args.dimension * 4 / 2**20),
            }
        )
    )


if __name__ == "__main__":
    main()

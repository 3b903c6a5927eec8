"""Searching a training set's questions among its passages: against faiss's flat index, and what MS MARCO would cost.

    python tests/speed/bench_hard_negatives.py                        # 4,000 questions, 50,000 x 768 passages
    python tests/speed/bench_hard_negatives.py --threads 16 --questions 33825 --passages 500000   # a whole part

The peer is faiss.IndexFlatIP with the vectors in memory, searched as deep (depth and the answer) in one call; it gives
float32 scores, ties as they fall, and keeps the answers. Ours reads the vectors from disk, scores exactly, breaks ties
canonically and leaves the answers out. Prints a line of JSON: seconds of both, their ratio (bar: 0.7) in wall and CPU
time, how far memory rose, the share of negatives that both name, and the hours that 400,782 questions and 8,841,823
passages would take at this rate.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_search import Memory, write_collection

from stele.encoders.encode import GPU_WINDOW
from stele.retrieval.dense.collection import EncodedCollection
from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.hard_negatives import MiningJob, in_order
from stele.training.processes import ProcessContext

MARCO = 400_782 * 8_841_823
DEPTH = 30


def job_with(vectors: np.ndarray, folder: Path, passages: int) -> tuple[MiningJob, EncodedCollection]:
    """A mining job whose encoder knows the vectors of its questions (their numbers), and its encoded collection."""
    encode = lambda texts, kind: vectors[[int(text) for text in texts]]  # noqa: E731
    job = MiningJob.__new__(MiningJob)
    job.depth, job.processes = DEPTH, ProcessGroup(ProcessContext("cpu"))
    spec = SimpleNamespace(half=False)
    encoder = SimpleNamespace(encode=encode, device="cpu", dimension=vectors.shape[1], window=GPU_WINDOW, spec=spec)
    collection = EncodedCollection("all", folder, lambda: (), encoder, job.processes, key="")
    collection.rows = collection.size = passages
    return job, collection


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """(wall seconds, CPU seconds, what it gave)"""
    begun, used = time.perf_counter(), time.process_time()
    actual = work()
    return time.perf_counter() - begun, time.process_time() - used, actual


def measure(questions: int, passages: int, dimension: int, threads: int) -> dict[str, Any]:
    """Both searches, one after the other."""
    import faiss

    faiss.omp_set_num_threads(threads)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        write_collection(folder, passages, dimension)
        stored = np.load(folder / "vectors.npy", mmap_mode="r")
        right = rng.integers(0, passages, questions)
        # a question lies near its answer, as after fine-tuning, so that the answer is found and left out
        vectors_asked = stored[right] + rng.standard_normal((questions, dimension), dtype=np.float32)
        excluded = [{b"%09d" % row} for row in right]
        texts = [str(row) for row in range(questions)]
        job, collection = job_with(vectors_asked, folder, passages)
        with Memory() as memory:
            wall, cpu, saved = timed(lambda: job.search(collection, texts, excluded))
        sizes, names = in_order(saved)
        index = faiss.IndexFlatIP(dimension)
        index.add(np.array(stored))
        peer_wall, peer_cpu, (_, rows) = timed(lambda: index.search(vectors_asked, DEPTH + 1))
    theirs = [[row for row in line.tolist() if row != answer][:DEPTH] for line, answer in zip(rows, right, strict=True)]
    negatives = np.split(names.astype(int), np.cumsum(sizes)[:-1])
    both = sum(len(set(a) & set(b.tolist())) for a, b in zip(theirs, negatives, strict=True))
    return {
        "questions": questions,
        "passages": passages,
        "threads": threads,
        "search_s": round(wall, 3),
        "flat_index_s": round(peer_wall, 3),
        "ratio": round(peer_wall / wall, 3),
        "cpu_ratio": round(peer_cpu / cpu, 3),
        "memory_rise_mb": memory.rise,
        "same": round(both / (questions * DEPTH), 6),
        "gflops": round(2e-9 * questions * passages * dimension / wall, 1),
        "msmarco_hours": round(wall * MARCO / (questions * passages) / 3600, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=4_000)
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print(json.dumps(measure(args.questions, args.passages, args.dimension, args.threads)))


if __name__ == "__main__":
    main()

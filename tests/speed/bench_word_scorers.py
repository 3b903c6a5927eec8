"""Speed of comparing words: documents a CPU second that DRMM, K-NRM and BWE-AGG with IDF take, their analysis included.

    python tests/speed/bench_word_scorers.py --documents 350

Made-up texts of 330 words of a vocabulary of 30,000 (Zipf), queries of 15, vectors of 300 numbers: as CLEF's judged
documents of 10 topics. Prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele.encoders.word_vectors import WordVectors
from stele.recipes.reranking import parse_recipe
from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import Sources, bwe_agg, drmm, knrm

TOPICS, VOCABULARY, WIDTH = 10, 30_000, 300
TRAINED = {"batch": 10, "learning_rate": 1e-3}


def candidates(documents: int) -> Candidates:
    """So many documents of each topic."""
    rng, shares = np.random.default_rng(0), 1 / np.arange(1, VOCABULARY + 1)

    def texts(number: int, words: int) -> list[str]:
        drawn = rng.choice(VOCABULARY, (number, words), p=shares / shares.sum())
        return [" ".join(f"w{word}" for word in row) for row in drawn.tolist()]

    number = TOPICS * documents
    names, topics = [str(n) for n in range(number)], [str(n) for n in range(TOPICS)]
    of, none = np.repeat(np.arange(TOPICS), documents), np.zeros(number, bool)
    queries = texts(TOPICS, 15)
    return Candidates(topics, queries, [{}] * TOPICS, names, texts(number, 330), of, np.arange(number), none, {})


def vectors(language: str, words: Collection[str]) -> WordVectors:
    """Drawn vectors of all words."""
    drawn = np.random.default_rng(1).normal(size=(len(words), WIDTH)).astype(np.float32)
    return WordVectors({word: row for row, word in enumerate(sorted(words))}, drawn, {})


def measure(documents: int) -> dict[str, float]:
    """Scorer -> documents a CPU second."""
    given = candidates(documents)
    sources = Sources("en", "de", None, vectors, lambda: iter(given.texts))
    calls = {
        "drmm": lambda: drmm.Scorer(given, parse_recipe({"scorer": "drmm", **TRAINED}), sources),
        "knrm": lambda: knrm.Scorer(given, parse_recipe({"scorer": "knrm", **TRAINED}), sources),
        "bwe_agg": lambda: bwe_agg.Scorer(
            given, parse_recipe({"scorer": "bwe_agg", "weights": "idf"}), sources
        ).scores(),
    }
    rates = {}
    for name, call in calls.items():
        start = time.process_time()
        call()
        rates[name] = round(len(given) / (time.process_time() - start))
    return rates


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=350, help="a topic")
    print(json.dumps(measure(parser.parse_args().documents)))

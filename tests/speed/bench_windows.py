"""What it costs to cut documents into windows of sentences, beside encoding the windows.

    python tests/speed/bench_windows.py                        # 60 documents, 6 layers of width 384, 1 thread
    python tests/speed/bench_windows.py --documents 2000 --layers 2 --width 64

Documents are random words in sentences, 14 a document on average. Prints a line of JSON, in CPU seconds, each the least
of some alternating repetitions: encoding windows that lie in memory, cutting the documents and encoding what comes, the
ratio of the two (bar: .9), cutting alone with the windows and the megabytes of documents a second that this makes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_encoding import best_times
from bench_shares import some_words


def random_documents(number: int, words: np.ndarray, seed: int = 0) -> list:
    """Passages of 1 to 40 sentences of about 20 words."""
    from stele.benchmarks.types import Passage

    rng, documents = np.random.default_rng(seed), []
    for name in range(number):
        sentences = []
        for size in np.clip(rng.lognormal(2.9, 0.4, int(np.clip(rng.lognormal(2.5, 0.5), 1, 40))), 3, 80).astype(int):
            drawn = words[(rng.pareto(1.0, size) * 10).astype(int) % len(words)]
            sentences.append(" ".join(drawn).capitalize() + ".")
        documents.append(Passage(f"D{name}", "", " ".join(sentences)))
    return documents


def random_encoder(words: np.ndarray, layers: int, width: int) -> Any:
    """An encoder with random weights and a WordPiece vocabulary of the words, that reads 512 tokens."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    from stele.encoders.encode import Encoder
    from stele.recipes.encoding import EncodingSpec

    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *dict.fromkeys(words.tolist())]
    shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": max(1, width // 32)}
    model = BertModel(BertConfig(vocab_size=len(vocabulary), intermediate_size=4 * width, **shape))
    tokenizer = BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)})
    return Encoder(model, model, tokenizer, EncodingSpec(pooling="cls", passage_length=512))


def measure(documents: int, layers: int, width: int, repetitions: int) -> dict[str, Any]:
    """The figures that the module's docstring describes."""
    import tempfile

    import torch

    from stele.recipes.search import Windows
    from stele.retrieval.dense.windows import DocumentWindows, by_sentences

    torch.set_num_threads(1)
    words, five = some_words(), Windows(sentences=5, stride=1, hits=100, best=3)
    collection, encoder = random_documents(documents, words), random_encoder(words, layers, width)
    with tempfile.TemporaryDirectory() as folder:
        given = {"file": Path(folder) / "counts.json", "key": ""}
        windows = DocumentWindows(lambda: collection, by_sentences("en", five), **given)
        ready = [(window.id, window.text) for window in windows.read()]
        ways = {
            "encoding": lambda: list(encoder.encode_stream(ready, "passage")),
            "cutting_and_encoding": lambda: list(
                encoder.encode_stream(((window.id, window.text) for window in windows.read()), "passage")
            ),
            "cutting": lambda: list(windows.read()),
        }
        cpu = {name: least for name, (_, least) in best_times(ways, repetitions).items()}
    megabytes = sum(len(document.text.encode()) for document in collection) / 1e6
    return {
        "documents": documents,
        "windows": len(ready),
        **{f"{name}_seconds": round(least, 4) for name, least in cpu.items()},
        "ratio": round(cpu["encoding"] / cpu["cutting_and_encoding"], 3),
        "windows_per_second": round(len(ready) / cpu["cutting"]),
        "megabytes_per_second": round(megabytes / cpu["cutting"], 2),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    print(json.dumps(measure(args.documents, args.layers, args.width, args.repetitions)))

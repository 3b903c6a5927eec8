"""Speed of scoring by a cross-encoder against sentence-transformers' CrossEncoder, same model and pairs, in one run.

    python tests/speed/bench_reranking.py                        # BERT of 6 layers, 384 wide, 300 pairs, 1 thread
    python tests/speed/bench_reranking.py --pairs 1000 --layers 12 --width 768

Weights are random, texts of lognormal length, of which a third is cut at 512 tokens as CLEF's are. Prints a line of
JSON: seconds of CrossEncoder.predict (its default batch size, 32) and of `scored`, tokenisation included, each the best
of some alternating repetitions, their ratio (bar: 1.0), the same in CPU seconds, which other work on the machine
disturbs less, and the largest difference between the scores (bar: 1e-5).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).parent))

from bench_encoding import best_times


def random_pairs(number: int, seed: int = 0) -> list[tuple[str, str]]:
    """Queries of about 20 words with documents of lognormal length (median 330 words, a word is a token)."""
    rng = np.random.default_rng(seed)

    def text(size: int) -> str:
        return " ".join(f"w{n}" for n in rng.integers(0, 2000, size))

    sizes = np.clip(rng.lognormal(5.8, 0.8, number), 20, 3000).astype(int)
    return [(text(int(rng.integers(10, 30))), text(int(size))) for size in sizes]


def make_model(folder: Path, layers: int, width: int) -> None:
    """A random BertForSequenceClassification with a tokenizer of whole words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(2000))]
    tokenizer = BertTokenizer(vocab={word: n for n, word in enumerate(words)}, model_max_length=512)
    shape = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": width // 64}
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(words), intermediate_size=4 * width, num_labels=2, **shape)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def measure(number: int, layers: int, width: int, repetitions: int, threads: int) -> dict[str, float]:
    """The figures that the module's docstring describes."""
    import torch
    from safetensors.torch import load_file
    from sentence_transformers import CrossEncoder

    from stele.recipes.reranking import parse_recipe
    from stele.reranking.folds.candidates import Candidates
    from stele.reranking.folds.cross_validation import scored
    from stele.reranking.scorers import Sources, cross_encoder

    torch.set_num_threads(threads)
    values = {"batch": 1, "learning_rate": 1e-5, "head": "pooler", "loss": "pointwise"}
    recipe = parse_recipe({"scorer": "cross_encoder", **values})
    pairs, every = random_pairs(number), np.arange(number)
    queries, texts = zip(*pairs, strict=True)
    names, relevant = [str(n) for n in every], np.zeros(number, bool)
    given = Candidates(names, list(queries), [{}] * number, names, list(texts), every, every, relevant, {})
    scores: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as folder:
        make_model(Path(folder), layers, width)
        theirs = CrossEncoder(folder, max_length=recipe.length, device="cpu", local_files_only=True)
        sources = Sources("en", "en", Path(folder), None, None)
        module = cross_encoder.Scorer(given, recipe, sources).new_module(0)
        weights = load_file(Path(folder) / "model.safetensors")
        module.head.load_state_dict({name: weights[f"classifier.{name}"] for name in ("weight", "bias")})
        identity = torch.nn.Identity()

        def ours() -> None:
            tokens = cross_encoder.Scorer(given, recipe, sources).inputs
            module.pairs, module.lengths = tokens, tokens.tokens.lengths
            scores["ours"] = scored(module, every)

        def peer() -> None:
            predicted = theirs.predict(pairs, activation_fn=identity, show_progress_bar=False)
            scores["theirs"] = predicted[:, -1]

        times = best_times({"theirs": peer, "ours": ours}, repetitions)
    (their_wall, their_cpu), (wall, cpu) = times["theirs"], times["ours"]
    return {
        "pairs": number,
        "layers": layers,
        "width": width,
        "threads": threads,
        "seconds_theirs": round(their_wall, 2),
        "seconds_ours": round(wall, 2),
        "ratio": round(their_wall / wall, 3),
        "cpu_ratio": round(their_cpu / cpu, 3),
        "largest_difference": float(np.abs(scores["ours"] - scores["theirs"]).max()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in {"pairs": 300, "layers": 6, "width": 384, "repetitions": 3, "threads": 1}.items():
        parser.add_argument(f"--{option}", type=int, default=default)
    args = parser.parse_args()
    print(json.dumps(measure(args.pairs, args.layers, args.width, args.repetitions, args.threads)))

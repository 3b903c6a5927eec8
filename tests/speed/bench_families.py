"""Speed of encoding with each family of today's encoders against sentence-transformers, same weights, texts and type.

    python tests/speed/bench_families.py                                  # all families, 384 wide, 6 layers, 1 thread
    python tests/speed/bench_families.py --families qwen3 --weights bfloat16
    python tests/speed/bench_families.py --device cuda --width 1024 --layers 24 --weights bfloat16 --texts 20000

Folders have random weights and the family's own modules. Prints a line of JSON a family: seconds of both, each the best
of some alternating repetitions, their ratio (bar: 1.0), the same in CPU seconds, which other work on the machine
disturbs less, and the largest difference between the vectors (float32: 1e-5 at most). On a GPU also ours as a share of
the speed of a large matrix product of the same type (with --weights bfloat16: of the measured bf16 peak), counting only
tokens that are not padding.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

for folder in ("src", "tests/encoders", "tests/speed"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / folder))

POSITIONS = 512
WORDS = 2_000


class Family(NamedTuple):
    """What a family's encoders have in common."""

    model_type: str
    pooling: str  # as sentence-transformers calls it
    dense: bool = False  # two linear layers above the pooling
    own: dict[str, Any] = {}  # noqa: RUF012


FAMILIES = {
    "e5": Family("xlm-roberta", "mean"),
    "bge_m3": Family("xlm-roberta", "cls"),
    "gte": Family("gte", "cls", own={"type_vocab_size": 1}),
    "granite": Family(
        "modernbert", "cls", own={f"{name}_token_id": 0 for name in ("bos", "cls")} | {"sep_token_id": 2}
    ),
    "qwen3": Family("qwen3", "lasttoken"),
    "gemma": Family("gemma3_text", "mean", dense=True, own={"use_bidirectional_attention": True}),
    "harrier": Family("gemma3_text", "lasttoken"),
}


def make_folder(place: Path, family: Family, width: int, layers: int) -> Path:
    """A sentence-transformers folder of a family, with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from tiny_models import _subword_tokenizer
    from todays_folders import tokenizer_ending_in_eos
    from transformers import AutoConfig, AutoModel

    causal = family.model_type in ("qwen3", "gemma3_text")
    tokenizer = tokenizer_ending_in_eos() if causal else _subword_tokenizer()
    tokenizer.model_max_length = POSITIONS
    heads = max(1, width // 64)
    grouped = {"num_key_value_heads": heads, "head_dim": width // heads, "eos_token_id": tokenizer.eos_token_id}
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=POSITIONS + 2,
        pad_token_id=tokenizer.pad_token_id,
        **(grouped if causal else {}),
        **family.own,
    )
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(place / "base")
    tokenizer.save_pretrained(place / "base")
    modules = [Transformer(str(place / "base"), max_seq_length=POSITIONS), Pooling(width, family.pooling)]
    for _ in range(2 * family.dense):
        modules.append(Dense(width, width, bias=False, activation_function=torch.nn.Identity()))
    SentenceTransformer(modules=[*modules, Normalize()], device="cpu").save(str(place / "st"))
    return place / "st"


def texts(number: int, seed: int = 0) -> list[str]:
    """Texts of lognormal length (mean about 30 words) from words of letters."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(1, 5, WORDS)]
    sizes = np.clip(rng.lognormal(3.2, 0.7, number), 2, 150).astype(int)
    return [" ".join(rng.choice(words, size=size)) for size in sizes]


def operations(model, lengths: np.ndarray) -> float:
    """Multiplications and additions of the transformer layers for texts of these lengths: no embeddings, no padding.

    Each weight of a linear layer is used once a token; attention of all tokens to all is counted, causal or not.
    """
    import torch

    linear = [
        module.weight.numel()
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "pooler" not in name
    ]
    squares = float((lengths.astype(np.int64) ** 2).sum())
    attention = 4 * model.config.num_hidden_layers * model.config.hidden_size * squares
    return 2.0 * sum(linear) * float(lengths.sum()) + attention


def measure(
    name: str, number: int, repetitions: int, width: int, layers: int, weights: str = "float32", device: str = "cpu"
) -> dict[str, Any]:
    """The figures that the module's docstring describes."""
    import torch
    from bench_encoding import best_times
    from gpu_peak import product_peak
    from sentence_transformers import SentenceTransformer

    from stele.encoders.load import load_encoder

    with tempfile.TemporaryDirectory() as place:
        folder = make_folder(Path(place), FAMILIES[name], width, layers)
        ours = load_encoder(folder, {"weights": weights}, device)
        theirs = SentenceTransformer(str(folder), device=device, model_kwargs={"dtype": getattr(torch, weights)})
    given = texts(number)
    vectors: dict[str, np.ndarray] = {}
    ways = {
        "theirs": lambda: vectors.update(theirs=theirs.encode(given, show_progress_bar=False)),
        "ours": lambda: vectors.update(ours=ours.encode(given, "passage")),
    }
    times = best_times(ways, repetitions)
    lengths = ours.tokenize(given, "passage").lengths
    on_gpu = {}
    if torch.device(device).type == "cuda":
        speed = operations(ours.model("passage"), lengths) / times["ours"][0]
        on_gpu = {"peak_share": round(speed / product_peak(getattr(torch, weights)), 3)}
    return {
        "family": name,
        "weights": weights,
        "device": device,
        "texts": number,
        "tokens": int(lengths.sum()),
        "sentence_transformers_seconds": round(times["theirs"][0], 3),
        "stele_seconds": round(times["ours"][0], 3),
        "ratio": round(times["theirs"][0] / times["ours"][0], 3),
        "cpu_ratio": round(times["theirs"][1] / times["ours"][1], 3),
        "largest_difference": float(np.abs(vectors["ours"] - vectors["theirs"].astype(np.float32)).max()),
        **on_gpu,
    }


def main() -> int:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--weights", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for name in args.families:
        found = measure(name, args.texts, args.repetitions, args.width, args.layers, args.weights, args.device)
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

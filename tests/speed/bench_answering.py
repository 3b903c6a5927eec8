"""Windows of questions and paragraphs, beside transformers' own: five questions a paragraph, one process.

python tests/speed/bench_answering.py --paragraphs 400
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))

QUESTIONS = 5  # a paragraph, as in SQuAD


def measure(paragraphs: int, words: int = 400, length: int = 256, shared: int = 64) -> dict[str, float]:
    """CPU seconds of both, their ratio, and the windows of each; `shared`: tokens that two windows have in common."""
    from tiny_models import TEXTS, _subword_tokenizer

    from stele.answering.reading.windows import make_windows
    from stele.benchmarks.types import SpanQuestion
    from stele.recipes.finetuning import parse_answering

    draws, vocabulary, tokenizer = random.Random(0), " ".join(TEXTS).split(), _subword_tokenizer()
    texts = [" ".join(draws.choices(vocabulary, k=words)) for _ in range(paragraphs)]
    asked = "who wrote the first novel"
    own = len(tokenizer(asked, add_special_tokens=False)["input_ids"])
    stride = length - own - 4 - shared  # ours is the step, theirs what is shared
    recipe = parse_answering(
        {"training_set": "squad2", "batch": 16, "learning_rate": 1e-5, "length": length, "stride": stride}
    )
    items = [SpanQuestion(f"{n}-{m}", asked, text, []) for n, text in enumerate(texts) for m in range(QUESTIONS)]
    began = time.process_time()
    windows = make_windows(tokenizer, items, recipe, segments=False)
    ours, began = time.process_time() - began, time.process_time()
    theirs = tokenizer(
        [item.question for item in items],
        [item.context for item in items],
        truncation="only_second",
        max_length=length,
        stride=shared,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    peer = time.process_time() - began
    same = [windows.tokens.ids[a:b].tolist() for a, b in pairwise(windows.tokens.offsets)]
    return {
        "ours": ours,
        "transformers": peer,
        "ratio": peer / ours,
        "windows": len(windows),
        "equal": float(same == theirs["input_ids"]),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--paragraphs", type=int, default=400)
    print(measure(parser.parse_args().paragraphs))

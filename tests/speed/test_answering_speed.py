"""The benchmark of windows compares like with like; steps of `answer` at the real architecture size."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

import real_sizes


def test_the_benchmark_runs_on_equal_windows():
    from bench_answering import measure

    actual = measure(4)
    assert actual["equal"] and actual["windows"] > 20 and actual["ratio"] > 0


@pytest.mark.slow
def test_two_steps_at_the_real_architecture_size(tmp_path, capsys):
    """Random weights of mBERT's size, two windows a step; run where STELE_ALL_RECIPES is set."""
    if not os.environ.get(real_sizes.ALL):
        pytest.skip(real_sizes.REASON)
    from transformers import AutoModel

    from stele import catalogue
    from stele.answering.reading.reader import Reader, loss_of
    from stele.answering.reading.windows import Labels, Windows
    from stele.encoders.tokens import Tokens
    from stele.recipes.finetuning import parse_answering
    from stele.training.loop import MicroBatches, train
    from stele.training.processes import ProcessContext

    whole = {**catalogue.load("recipes")["answering"]["squad2"], "save_every_seconds": 3600, "threads": 2}
    recipe = parse_answering(whole)
    words = real_sizes.ARCHITECTURES["mbert"][1]["vocab_size"]
    ids = np.random.default_rng(0).integers(5, words, 4 * recipe.length).astype(np.int32)
    tokens, rows = Tokens(ids, np.arange(5) * recipe.length, None), np.arange(4)
    nothing = np.zeros((4, 2), np.int64)
    windows = Windows(tokens, rows, np.full(4, 20), nothing, nothing.astype(np.int32), nothing)
    right = Labels(rows, np.array([30, 0, 40, 0]), np.array([32, 0, 40, 0]), 0, 0)
    reader = Reader(AutoModel.from_config(real_sizes.config("mbert", 0.1)), 0)
    reader.backbone.embeddings.requires_grad_(False)
    batches = MicroBatches(
        lambda step: iter([{"span": loss_of(reader, windows, right, np.array([2 * step, 2 * step + 1]))}]), [0]
    )
    here, began = ProcessContext(torch.device("cpu")), time.process_time()
    outcome = train(reader, batches, recipe.optimisation(2), state=tmp_path / "state", seed=0, process=here)
    with capsys.disabled():
        print(f"\nsquad2 at mBERT's size: {(time.process_time() - began) / 2:.1f} CPU-seconds a step of 2 windows")
    assert outcome["steps"] == 2 and np.isfinite(outcome["losses"]["span"])

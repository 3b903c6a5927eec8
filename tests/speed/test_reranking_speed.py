"""The benchmark of re-ranking compares like with like; steps of `rerank` at the real architecture size.

Speeds are printed, not asserted: a busy machine is no failure.
"""

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


def test_the_benchmark_runs():
    pytest.importorskip("sentence_transformers")
    from bench_reranking import measure

    actual = measure(6, 1, 64, 1, 1)
    assert actual["largest_difference"] < 1e-5
    assert all(actual[name] > 0 for name in ("ratio", "cpu_ratio"))


@pytest.mark.slow
def test_two_steps_at_the_real_architecture_size(tmp_path, capsys):
    """Random weights of mBERT's size, two pairs a step; run where STELE_ALL_RECIPES is set."""
    if not os.environ.get(real_sizes.ALL):
        pytest.skip(real_sizes.REASON)
    from transformers import AutoModel

    from stele import catalogue
    from stele.encoders.tokens import Tokens
    from stele.recipes.reranking import parse_recipe
    from stele.reranking.folds.cross_validation import loss_of
    from stele.reranking.scorers.cross_encoder import Model, Pairs, encoder_layers, reset
    from stele.training.loop import MicroBatches, train
    from stele.training.processes import ProcessContext

    recipe = parse_recipe({**catalogue.load("recipes")["reranking"]["cv5"], "save_every_seconds": 3600, "threads": 2})
    words = real_sizes.ARCHITECTURES["mbert"][1]["vocab_size"]
    ids = np.random.default_rng(0).integers(5, words, 4 * recipe.length).astype(np.int32)
    tokens = Tokens(ids, np.arange(5) * recipe.length, None)
    backbone = AutoModel.from_config(real_sizes.config("mbert", 0.1))
    module, layers = Model(Pairs(tokens, 0), recipe, backbone), encoder_layers(backbone, tmp_path)
    backbone.requires_grad_(False)
    for layer in layers[-recipe.tuned_layers :]:
        reset(layer, 0.02)
        layer.requires_grad_(True)
    batches = MicroBatches(lambda step: iter([{"pairwise": loss_of(module(np.arange(4)), "pairwise")}]), [0])
    here, began = ProcessContext(torch.device("cpu")), time.process_time()
    outcome = train(module, batches, recipe.optimisation(2), state=tmp_path / "state", seed=0, process=here)
    with capsys.disabled():
        print(f"\ncv5 at mBERT's size: {(time.process_time() - began) / 2:.1f} CPU-seconds a step of 2 pairs")
    assert outcome["steps"] == 2 and np.isfinite(outcome["losses"]["pairwise"])


def test_the_benchmark_of_word_scorers_runs():
    from bench_word_scorers import measure

    assert all(rate > 0 for rate in measure(3).values())

"""The encoding benchmark runs and compares like with like; and fine-tuning steps at the real architecture size.

Speeds are printed, not asserted: a busy machine is no failure.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from stele import catalogue
from stele.finetuning.dual_encoder.batches import training_group
from stele.finetuning.dual_encoder.model import group_loss
from stele.finetuning.finetune import losses
from stele.recipes.finetuning import parse_finetuning
from stele.training.loop import train
from stele.training.processes import ProcessContext

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))

import real_sizes
from random_towers import random_examples, random_towers


def test_the_benchmark_runs(tmp_path):
    from bench_encoding import measure
    from tiny_models import make_folder

    from stele.encoders.backbone import load_backbone
    from stele.encoders.save import save_encoder
    from stele.encoders.tokenizer import load_tokenizer
    from stele.recipes.encoding import EncodingSpec

    source = make_folder(tmp_path / "plain", "bert")
    spec = EncodingSpec(pooling="mean", normalize=True, query_length=60, passage_length=60)
    save_encoder(tmp_path / "st", load_backbone(source, "mean")[0], None, load_tokenizer(source), spec)
    actual = measure(tmp_path / "st", 40, 1, 1)
    assert actual["largest_difference"] < 1e-5
    assert actual["tokens"] > 40
    assert all(actual[name] > 0 for name in ("ratio", "cpu_ratio", "share_of_matrix_product"))


# What a step takes in is cut, what it computes with is not.
CUT = {"batch": 2, "epochs": None, "steps": 2, "warmup_steps": 1, "query_length": 8, "passage_length": 16, "threads": 2}
CUT |= {"save_every_seconds": 3600}  # no state of many GB on disk
REAL = [
    *((name, "xlmr") for name in catalogue.load("recipes")["finetuning"]),
    ("mewsli", "mbert"),
    ("nq_ccp", "xlmr_large"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checkpoint"), REAL)
def test_two_steps_at_the_real_architecture_size(tmp_path, name, checkpoint, capsys):
    """Random weights, batch cut; run where STELE_ALL_RECIPES is set."""
    if not os.environ.get(real_sizes.ALL):
        pytest.skip(real_sizes.REASON)
    recipe = parse_finetuning({**real_sizes.jobs().finetuning.recipe(name).given(), **CUT}, name)
    words = real_sizes.ARCHITECTURES[checkpoint][1]["vocab_size"]
    module, data = random_towers(checkpoint, recipe), random_examples(2 * 2 * recipe.accumulation, words, 8, 16)
    here = ProcessContext(torch.device("cpu"))
    options = {"state": tmp_path / "state", "seed": 0, "process": here, "label": name}
    outcome = train(module, losses(module, data, recipe, 0, here), recipe.optimisation(2), **options)
    with capsys.disabled():
        print(f"\n{name} of {checkpoint}: {outcome['seconds'] / 2:.1f} s a step, losses {outcome['losses']}")
    assert outcome["steps"] == 2
    assert all(np.isfinite(value) for value in outcome["losses"].values())


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")


@pytest.mark.slow
@GPU
def test_speed_and_memory_of_a_released_size_group(capsys):
    """One DPR step at XLM-R base size: 128 queries of 16 tokens and 256 passages of 160, about what NQ has."""
    recipe = real_sizes.jobs().finetuning.recipe("nq")
    module = random_towers("xlmr", recipe).cuda().train()
    data = random_examples(256, 250_002, 16, 160)
    optimiser = recipe.optimisation(1).optimiser(module)
    number = 0

    def step():
        nonlocal number
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = group_loss(module, data, training_group(data, recipe.batch, 1, 0, number, 0))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 2.0)
        optimiser.step()
        number += 1

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - begin) / 10
    with capsys.disabled():
        print(
            f"\ndpr: {seconds * 1e3:.0f} ms a step, {3 * recipe.batch / seconds:.0f} sequences/s, "
            f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
        )
    assert seconds > 0


@pytest.mark.slow
@GPU
def test_the_loss_in_bfloat16_is_the_cpu_s(capsys):
    recipe = parse_finetuning({**real_sizes.jobs().finetuning.recipe("nq").given(), "dropout": 0.0})
    module = random_towers("xlmr", recipe).eval()
    data = random_examples(16, 250_002, 16, 64)
    group, actual = training_group(data, 16, 1, 0, 0, 0), {}
    with torch.no_grad():
        actual["cpu"] = group_loss(module, data, group).item()
        module.cuda()
        actual["float32"] = group_loss(module, data, group).item()
        with torch.autocast("cuda", torch.bfloat16):
            actual["bfloat16"] = group_loss(module, data, group).item()
    with capsys.disabled():
        print(f"\ndpr: {actual}")
    assert actual["float32"] == pytest.approx(actual["cpu"], rel=2e-3)
    assert actual["bfloat16"] == pytest.approx(actual["cpu"], rel=3e-2)

"""Pretraining steps on an accelerator at XLM-R base size: speed, memory, and the same loss as on the CPU.

Skipped where there is none. `python -m pytest -s tests/speed/test_training_gpu.py` prints the figures.
"""

import time

import numpy as np
import pytest
import real_sizes
import torch
from gpu_peak import product_peak

from stele.recipes.pretraining import parse_recipe
from stele.training import run_sizes, tasks
from stele.training.masking import Vocabulary
from stele.training.sampling import Group, generator
from stele.training.store import Flat

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
]
LENGTHS = {"msm": (16, [62] * 32), "mlm": (128, [254])}  # documents and sentences as long as a group can have


def paper_recipe(objective, **changes):
    """MSM's, without MLM beside it, or MLM's own."""
    own = {"mlm_share": 0.0} if objective == "msm" else {"steps": 1, "equal_compute_to": None}
    values = real_sizes.jobs().pretraining.recipe({"mlm": "mlm_equal_compute"}.get(objective, objective)).given()
    return parse_recipe({**values, **own, **changes})


def new_module(recipe):
    from transformers import AutoModelForMaskedLM

    torch.manual_seed(0)
    config = real_sizes.config("xlmr", recipe.dropout)
    model = AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa")
    return tasks.Pretraining(model, tasks.new_objectives(recipe), 0).train()


def new_batch(recipe, examples, lengths, device):
    vocabulary = Vocabulary(250_002, 0, 2, 1, 250_001, (0, 1, 2, 3, 250_001))
    tokens = np.random.default_rng(0).integers(5, 250_000, examples * sum(lengths))
    flat = Flat(tokens, np.array(lengths * examples), np.full(examples, len(lengths)))
    chosen = tasks.new_objectives(recipe)[recipe.objective]
    made = chosen.batch(flat, vocabulary, Group(0, [("en", np.arange(examples))]), generator(0))
    for name in tasks.COUNTED:
        made.pop(name, None)
    return tasks.to_device(made, torch.device(device))


@pytest.mark.parametrize("objective", list(LENGTHS))
def test_speed_and_memory_of_a_released_size_group(objective, capsys):
    examples, lengths = LENGTHS[objective]
    recipe = paper_recipe(objective)
    module = new_module(recipe).cuda()
    optimiser = recipe.optimiser(module)
    batch = new_batch(recipe, examples, lengths, "cuda")

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = module(objective, batch)
        loss.backward()
        optimiser.step()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - begin) / 10
    objective_module = tasks.new_objectives(recipe)[objective]
    speed = objective_module.flops(batch, run_sizes.Shape.of(module.model.config)) / seconds
    with capsys.disabled():
        print(
            f"\n{objective}: {seconds * 1e3:.0f} ms a group, {len(lengths) * examples / seconds:.0f} sequences/s, "
            f"{speed / 1e12:.0f} TFLOP/s, {speed / product_peak(torch.bfloat16):.2f} of the matrix product's peak, "
            f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
        )
    assert speed > 0


@pytest.mark.parametrize("objective", list(LENGTHS))
def test_the_loss_in_bfloat16_is_the_cpu_s(objective, capsys):
    cut = {"msm": dict(documents=4, sentences=8), "mlm": dict(mlm_sequences=4)}[objective]
    recipe = paper_recipe(objective, dropout=0.0, **cut)
    lengths = LENGTHS[objective][1][: cut.get("sentences", 1)]
    module = new_module(recipe)
    losses = {"cpu": module(objective, new_batch(recipe, 4, lengths, "cpu")).item()}
    module.cuda()
    batch = new_batch(recipe, 4, lengths, "cuda")
    losses["float32"] = module(objective, batch).item()
    with torch.autocast("cuda", torch.bfloat16):
        losses["bfloat16"] = module(objective, batch).item()
    with capsys.disabled():
        print(f"\n{objective}: {losses}")
    assert losses["float32"] == pytest.approx(losses["cpu"], rel=2e-3)
    assert losses["bfloat16"] == pytest.approx(losses["cpu"], rel=3e-2)

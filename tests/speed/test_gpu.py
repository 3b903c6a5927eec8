"""On an accelerator: steps at XLM-R base size and encoding, their speed and memory, and the same loss as on the CPU.

Skipped where there is none. `python -m pytest -s tests/speed/test_gpu.py` prints the figures.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from stele.finetuning.dual_encoder.batches import training_group
from stele.finetuning.dual_encoder.model import group_loss
from stele.recipes.finetuning import parse_finetuning
from stele.recipes.pretraining import parse_recipe
from stele.training import run_sizes, tasks
from stele.training.masking import Vocabulary
from stele.training.sampling import Group, generator
from stele.training.store import Flat
from tests.speed import real_sizes, table
from tests.speed.random_towers import random_examples, random_towers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
]
LENGTHS = {"msm": (16, [62] * 32), "mlm": (128, [254])}  # documents and sentences as long as a group can have
CUT = {"msm": {"documents": 4, "sentences": 8}, "mlm": {"mlm_sequences": 4}}
WEIGHTS = "bfloat16"


def product_peak(dtype, size: int = 8192, times: int = 30) -> float:
    """Operations a second of a product of two square matrices of `size` numbers, what a GPU can do at most."""
    one, other = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    return 2 * size**3 / seconds_of(lambda: one @ other, times)


def seconds_of(step, times: int = 10) -> float:
    """Of a call, the mean of some after three that are not counted."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    for _ in range(times):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / times


def paper_recipe(objective, **changes):
    """MSM's, without MLM beside it, or MLM's own."""
    only = {"mlm_share": 0.0} if objective == "msm" else {"steps": 1, "equal_compute_to": None}
    values = real_sizes.jobs().pretraining.recipe({"mlm": "mlm_equal_compute"}.get(objective, objective)).given()
    return parse_recipe({**values, **only, **changes})


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
def test_speed_and_memory_of_pretraining(objective, capsys):
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

    seconds = seconds_of(step)
    memory = torch.cuda.max_memory_allocated() / 2**30
    flops = tasks.new_objectives(recipe)[objective].flops(batch, run_sizes.Shape.of(module.model.config))
    with capsys.disabled():
        print(
            f"\n{objective}: {seconds * 1e3:.0f} ms a group, {len(lengths) * examples / seconds:.0f} sequences/s, "
            f"{flops / seconds / 1e12:.0f} TFLOP/s, {flops / seconds / product_peak(torch.bfloat16):.2f} of the matrix "
            f"product's peak, {memory:.1f} GiB"
        )
    assert seconds > 0


def test_speed_and_memory_of_fine_tuning(capsys):
    """One DPR step at XLM-R base size: 128 queries of 16 tokens and 256 passages of 160, about what NQ has."""
    recipe = real_sizes.jobs().finetuning.recipe("nq")
    module = random_towers("xlmr", recipe).cuda().train()
    data, numbers = random_examples(256, 250_002, 16, 160), iter(range(1000))
    optimiser = recipe.optimisation(1).optimiser(module)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = group_loss(module, data, training_group(data, recipe.batch, 1, 0, next(numbers), 0))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 2.0)
        optimiser.step()

    seconds = seconds_of(step)
    with capsys.disabled():
        print(
            f"\ndpr: {seconds * 1e3:.0f} ms a step, {3 * recipe.batch / seconds:.0f} sequences/s, "
            f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
        )
    assert seconds > 0


def losses_of(name):
    """The loss of a module on the CPU, on the GPU, and there in bfloat16."""
    if name == "dpr":
        recipe = parse_finetuning({**real_sizes.jobs().finetuning.recipe("nq").given(), "dropout": 0.0})
        module, data = random_towers("xlmr", recipe).eval(), random_examples(16, 250_002, 16, 64)
        group = training_group(data, 16, 1, 0, 0, 0)
        loss = lambda device: group_loss(module, data, group)  # noqa: E731
    else:
        recipe, lengths = paper_recipe(name, dropout=0.0, **CUT[name]), LENGTHS[name][1]
        module, lengths = new_module(recipe), lengths[: CUT[name].get("sentences", 1)]
        loss = lambda device: module(name, new_batch(recipe, 4, lengths, device))  # noqa: E731
    with torch.no_grad():
        yield loss("cpu").item()
        module.cuda()
        yield loss("cuda").item()
        with torch.autocast("cuda", torch.bfloat16):
            yield loss("cuda").item()


@pytest.mark.parametrize("name", [*LENGTHS, "dpr"])
def test_the_loss_in_bfloat16_is_the_cpu_s(name, capsys):
    cpu, float32, bfloat16 = losses_of(name)
    with capsys.disabled():
        print(f"\n{name}: CPU {cpu}, float32 {float32}, bfloat16 {bfloat16}")
    assert float32 == pytest.approx(cpu, rel=2e-3)
    assert bfloat16 == pytest.approx(cpu, rel=3e-2)


@pytest.mark.parametrize("family", ["e5", "bge_m3", "gte", "granite", "qwen3", "gemma", "harrier"])
def test_encoding_beside_sentence_transformers(tmp_path, family, capsys):
    """A family's encoder 1,024 wide with 24 layers, 20,000 texts in bfloat16; wall seconds, tokens without padding."""
    table.benchmarks()  # which makes the models' builders importable
    from tests.speed.encoders import FAMILIES, both_ways, make_folder, operations, random_texts

    folder, texts = make_folder(tmp_path, FAMILIES[family], 1024, 24), random_texts(20_000)
    encoder, *ways = both_ways(folder, texts, WEIGHTS, "cuda")
    seconds = [min(timed(way) for _ in range(2)) for way in ways]
    done = operations(encoder.model("passage"), encoder.tokenize(texts, "passage").lengths)
    share = done / seconds[0] / product_peak(getattr(torch, WEIGHTS))
    with capsys.disabled():
        print(f"\n{family}: {seconds[0]:.1f} s, sentence-transformers {seconds[1]:.1f} s, {share:.2f} of the peak")
    assert 0 < share < 1


def timed(way) -> float:
    begin = time.perf_counter()
    way()
    torch.cuda.synchronize()
    return time.perf_counter() - begin

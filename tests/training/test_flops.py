"""The arithmetic of equal compute against PyTorch's own operation counter."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from stele.registry import load_named
from stele.training import flops, tasks
from stele.training.masking import Vocabulary
from stele.training.recipe import OBJECTIVES, parse_recipe
from stele.training.sampling import generator
from stele.training.store import Flat

SIZES = dict(steps=10, groups=2, mlm_sequences=6, mlm_length=16, mask_probability=0.15, warmup_steps=1)
OWN = {
    "msm": dict(documents=4, sentences=5, sentence_length=12),
    "crop": dict(pairs=10, sentence_length=12),
    "ict": dict(pairs=8, query_length=8, block_length=20, width=16),
    "mlm": dict(),
}
SHAPES = {"msm": (4, [10] * 5), "crop": (10, [10] * 2), "ict": (8, [6, 18]), "mlm": (6, [14])}


def small_model():
    from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM

    config = XLMRobertaConfig(
        vocab_size=300,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return XLMRobertaForMaskedLM(config)


@pytest.mark.parametrize("objective", list(OWN))
def test_equals_what_pytorch_counts(objective):
    recipe = parse_recipe({"objective": objective, **SIZES, **OWN[objective]})
    model, chosen = small_model(), load_named(OBJECTIVES, objective, "objective")
    heads = chosen.Heads(recipe, model.config)
    examples, lengths = SHAPES[objective]
    tokens = np.random.default_rng(0).integers(5, 300, examples * sum(lengths))
    flat = Flat(tokens, np.array(lengths * examples), np.full(examples, len(lengths)))
    words = Vocabulary(300, 0, 2, 1, 4, (0, 1, 2, 3, 4))
    made = tasks.to_device(chosen.batch(flat, words, recipe, "en", generator(1)), torch.device("cpu"))
    with FlopCounterMode(display=False) as counter:
        heads(model, made).backward()
    expected = chosen.flops(recipe, flops.Shape.of(model.config))
    assert counter.get_total_flops() == pytest.approx(expected, rel=0.06)


def test_equal_compute_settles_steps_and_warm_up():
    shape = flops.Shape.of(small_model().config)
    msm = {"objective": "msm", **SIZES, **OWN["msm"], "steps": 100, "warmup_steps": 10}
    own = {"objective": "mlm", **{k: v for k, v in SIZES.items() if k != "steps"}, "groups": 3}
    settled, arithmetic = flops.with_steps(parse_recipe({**own, "equal_compute_to": msm}), shape)
    spent = flops.per_step(parse_recipe(msm), shape) * 100
    assert settled.steps * flops.per_step(settled, shape) == pytest.approx(spent, rel=0.5 / settled.steps)
    assert settled.warmup_steps == round(settled.steps / 10)
    assert arithmetic["flops_to_equal"] == spent and arithmetic["flops"] == pytest.approx(spent, rel=0.02)


def test_the_papers_sizes_by_hand():
    """XLM-R base: a contrastive group is 32,768 tokens; twelve layers of 2 x 7.08 million operations a token, and the
    attention of 64 tokens on top. The released halves: an MLM batch has as many tokens and the vocabulary besides."""
    shape = flops.Shape(layers=12, width=768, inner=3072, vocabulary=250_002)
    layer = 8 * 768**2 + 4 * 768 * 3072 + 4 * 64 * 768
    whole = 12 * layer * 32_768
    first_only = flops.encode(512, 64, shape, first_only=True)
    assert flops.encode(512, 64, shape, first_only=False) == whole
    assert 0.92 < first_only / whole < 0.95
    recipe = parse_recipe({"objective": "msm", "steps": 200_000})
    mlm = load_named(OBJECTIVES, "mlm", "objective").flops(recipe, shape)
    head = 3 * 0.15 * 32_768 * 2 * 768 * (768 + 250_002)
    assert mlm == pytest.approx(3 * (whole + 12 * 4 * (256 - 64) * 768 * 32_768) + head)

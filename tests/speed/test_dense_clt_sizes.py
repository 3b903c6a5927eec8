"""Two optimiser steps of Shi et al.'s models at their real sizes, with random weights and tokens."""

from __future__ import annotations

import os

import pytest
import real_sizes
import torch
from random_towers import random_examples, random_towers

from stele.recipes.finetuning import parse_generator
from stele.training.loop import train
from stele.training.processes import ProcessContext

CPU = ProcessContext(torch.device("cpu"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not os.environ.get(real_sizes.ALL), reason=real_sizes.REASON)]


def steps_of(tmp_path, module, batches, optimisation) -> list[float]:
    """The losses of a run's steps."""
    outcome = train(module, batches, optimisation, state=tmp_path, seed=0, process=CPU)
    assert outcome["steps"] == optimisation.steps == 2
    (name,) = {key for key in outcome["rows"][0] if key in ("nll", "cross_entropy")}
    return [row[name] for row in outcome["rows"]]


@pytest.mark.parametrize("name", ["nq_shi", "wiki"])
def test_two_towers_of_mbert_read_passages_of_512_tokens(tmp_path, name):
    from stele.finetuning.finetune import losses

    planned = real_sizes.jobs().finetuning.recipe(name)
    recipe = planned.model_copy(update={"batch": 2, "precision": "float32", "steps": 2, "epochs": None, "threads": 1})
    module, data = random_towers("mbert", recipe), random_examples(4, 119_547, 24, 512)
    values = steps_of(tmp_path, module, losses(module, data, recipe, 0, CPU), recipe.optimisation(2))
    assert all(0 < value < 1000 for value in values)


class RandomTokens:
    """A tokenizer that makes random tokens: passages of 512, queries of 16."""

    def __call__(self, texts=None, *, text_target=None, **_):
        from transformers import BatchEncoding

        rows, length = (len(texts), 512) if text_target is None else (len(text_target), 16)
        ids = torch.randint(5, 250_000, (rows, length), generator=torch.Generator().manual_seed(length))
        return BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def test_mbart_large_learns_queries_of_passages(tmp_path):
    """610 million parameters: the default of MBartConfig is mBART-large's shape, its vocabulary cc25's."""
    from transformers import MBartConfig, MBartForConditionalGeneration

    from stele.encoders.generator import Generator
    from stele.finetuning.finetune_generator import losses

    torch.manual_seed(0)
    sizes = {"training_set": "jsonl", "pairs": 4, "batch": 1, "steps": 2, "learning_rate": 3e-5}
    model, recipe = MBartForConditionalGeneration(MBartConfig(vocab_size=250_027)), parse_generator(sizes)
    assert sum(parameter.numel() for parameter in model.parameters()) // 10**6 == 610
    pairs = [("a query", "a passage")] * 4
    values = steps_of(tmp_path, model, losses(Generator(model, RandomTokens()), pairs, recipe, 0, CPU.device), recipe)
    assert values[1] < values[0], "the same tokens are seen twice"

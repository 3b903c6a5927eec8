"""Dual encoders with random weights and examples of random tokens, for measuring at any size."""

import numpy as np


def random_towers(checkpoint: str, recipe):
    """The module that a recipe trains, at the size of a public checkpoint, without its weights."""
    import torch
    from transformers import AutoModel

    from stele.finetuning.dual_encoder.model import DualEncoder
    from tests.speed.real_sizes import config

    torch.manual_seed(0)
    names = ["shared"] if recipe.towers == "shared" else ["query", "passage"]
    towers = {name: AutoModel.from_config(config(checkpoint, recipe.dropout)) for name in names}
    return DualEncoder(towers, recipe.spec(), 1, recipe.scale)


def random_examples(count: int, words: int, query_length: int, passage_length: int):
    """`count` examples with one hard negative each: the next one's positive."""
    from stele.encoders.tokens import Tokens
    from stele.finetuning.dual_encoder.examples import Examples

    rng, rows, ends = np.random.default_rng(0), np.arange(count), np.arange(count + 1)

    def texts(length):
        return Tokens(rng.integers(5, words, count * length).astype(np.int32), ends * length, None)

    return Examples(texts(query_length), texts(passage_length), rows, ends, (rows + 1) % count, ends, {})

"""Dual encoders with random weights and examples of random tokens, for measuring at any size."""

import numpy as np

BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}


def random_towers(family: str, words: int, sizes: dict, recipe):
    """The module that a recipe trains, without a checkpoint."""
    import torch
    from transformers import AutoConfig, AutoModel

    from stele.finetuning.model import DualEncoder

    rates = {"hidden_dropout_prob": recipe.dropout, "attention_probs_dropout_prob": recipe.dropout}
    config = AutoConfig.for_model(family, vocab_size=words, max_position_embeddings=514, **sizes, **rates)
    torch.manual_seed(0)
    names = ["shared"] if recipe.towers == "shared" else ["query", "passage"]
    return DualEncoder({name: AutoModel.from_config(config) for name in names}, recipe.spec(), 1, recipe.scale)


def random_examples(count: int, words: int, query_length: int, passage_length: int):
    """`count` examples with one hard negative each: the next one's positive."""
    from stele.encoders.tokens import Tokens
    from stele.finetuning.examples import Examples

    rng, rows, ends = np.random.default_rng(0), np.arange(count), np.arange(count + 1)

    def texts(length):
        return Tokens(rng.integers(5, words, count * length).astype(np.int32), ends * length, None)

    return Examples(texts(query_length), texts(passage_length), rows, ends, (rows + 1) % count, ends, {})

"""First-token states computed for that token alone against the models' own forward passes."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from stele.training.hidden_states import first_states, mean_states, pooled_states, token_states
from stele.training.masking import computed_length, pieces_by_length


def model(family, dropout=0.0):
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    if family == "distilbert":
        shape = {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}
    if family == "electra":
        shape["embedding_size"] = 16
    if family == "esm":
        shape["pad_token_id"] = 1
    config = AutoConfig.for_model(family, vocab_size=50, max_position_embeddings=40, **shape)
    made = AutoModel.from_config(config, attn_implementation="eager" if family == "mpnet" else "sdpa")
    for module in made.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return made


def batch(padded):
    ids = torch.randint(5, 50, (6, 9), generator=torch.Generator().manual_seed(1))
    if not padded:
        return ids, None
    mask = torch.arange(9) < torch.tensor([9, 4, 7, 2, 9, 5])[:, None]
    return torch.where(mask, ids, torch.tensor(1)), mask


FAMILIES = ["xlm-roberta", "bert", "ernie", "roberta", "camembert", "data2vec-text", "distilbert"]
# their layers have the names of BERT's, or nearly, and do other things
UNLIKE = ["xlm-roberta-xl", "esm", "electra", "mpnet"]


@pytest.mark.parametrize("family", [*FAMILIES, *UNLIKE])
@pytest.mark.parametrize("padded", [True, False])
def test_equal_the_whole_forward(family, padded):
    made = model(family).eval()
    if family not in ("xlm-roberta", "roberta"):
        made.config.pad_token_id = 1
    for weight in made.parameters():  # as far from 0 as trained ones
        torch.nn.init.normal_(weight, std=0.2)
    ids, mask = batch(padded)
    plain = made(input_ids=ids, attention_mask=None if mask is None else mask.long()).last_hidden_state
    assert torch.allclose(first_states(made, ids, mask), plain[:, 0], atol=1e-5)
    assert torch.allclose(token_states(made, ids, mask), plain, atol=1e-6)
    there = torch.ones_like(ids) if mask is None else mask.long()
    means = (plain * there[..., None]).sum(1) / there.sum(1, keepdim=True)
    assert torch.allclose(mean_states(made, ids, mask), means, atol=1e-5)


@pytest.mark.parametrize("family", ["xlm-roberta", "bert"])
def test_gradients_equal_those_of_the_whole_forward(family):
    made = model(family).train()
    ids, mask = batch(padded=True)
    weights = torch.randn(6, 32)

    def gradients(states):
        made.zero_grad()
        (states * weights).sum().backward()
        return {name: p.grad.clone() for name, p in made.named_parameters() if p.grad is not None}

    whole = gradients(made(input_ids=ids, attention_mask=mask.long()).last_hidden_state[:, 0])
    alone = gradients(first_states(made, ids, mask))
    assert whole.keys() == alone.keys()
    for name in whole:
        assert torch.allclose(whole[name], alone[name], atol=1e-5), name


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("chunk", [None, 2, 50, 300])
def test_pieces_change_neither_states_nor_gradients(pooling, chunk):
    """200 texts of 2 to 30 tokens: quarters by length, chunks in the order of length, or all at once."""
    made = model("xlm-roberta").train().double()  # sums of float32 in another order differ by the processor
    generator = torch.Generator().manual_seed(1)
    mask = torch.arange(30) < torch.randint(2, 31, (200, 1), generator=generator)
    ids = torch.where(mask, torch.randint(5, 50, mask.shape, generator=generator), torch.tensor(1))
    weights = torch.randn(200, 32, generator=generator, dtype=torch.double)
    tokens = []
    made.embeddings.register_forward_hook(lambda module, args, states: tokens.append(states.shape[:2].numel()))

    def encoded(encode):
        made.zero_grad()
        tokens.clear()
        states = encode()
        (states * weights).sum().backward()
        return states.detach(), made.embeddings.word_embeddings.weight.grad.clone()

    whole = encoded(lambda: {"cls": first_states, "mean": mean_states}[pooling](made, ids, mask))
    assert tokens == [200 * 30]
    pieces = encoded(lambda: pooled_states(pooling, made, ids, mask, chunk))
    for ours, expected in zip(pieces, whole, strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-12, rtol=0)
    again = 2 if chunk in (2, 50) else 1  # chunks are computed again in the backward pass
    assert sum(tokens) == again * round(200 * computed_length(mask.sum(1).numpy(), chunk)) < again * 0.7 * 200 * 30


def test_little_padding_is_not_worth_another_pass():
    lengths = np.array([9, 4, 7, 2, 9, 5])
    (rows,) = pieces_by_length(lengths)
    assert rows.tolist() == list(range(6)) and computed_length(lengths) == 9
    assert len(pieces_by_length(np.repeat(lengths, 40))) == 1 and len(pieces_by_length(np.repeat(lengths, 200))) == 4


def test_pairs_in_one_sequence_stay_in_their_order():
    made = model("bert").eval().double()
    ids = torch.randint(5, 50, (6, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.arange(9) < torch.tensor([9, 4, 7, 2, 9, 5])[:, None]
    types = (torch.arange(9) >= 4).long().expand(6, 9)
    expected = first_states(made, ids, mask, types)
    torch.testing.assert_close(pooled_states("cls", made, ids, mask, 2, types=types), expected, atol=1e-12, rtol=0)

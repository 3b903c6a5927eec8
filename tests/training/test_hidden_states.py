"""First-token states computed for that token alone against the models' own forward passes."""

import pytest
import torch

from stele.training.hidden_states import first_states, token_states


def model(family, dropout=0.0):
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    if family == "distilbert":
        shape = {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}
    config = AutoConfig.for_model(family, vocab_size=50, max_position_embeddings=40, **shape)
    made = AutoModel.from_config(config, attn_implementation="sdpa")
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


@pytest.mark.parametrize("family", ["xlm-roberta", "bert", "ernie", "roberta", "distilbert"])
@pytest.mark.parametrize("padded", [True, False])
def test_equal_the_whole_forward(family, padded):
    made = model(family).eval()
    if family not in ("xlm-roberta", "roberta"):
        made.config.pad_token_id = 1
    ids, mask = batch(padded)
    plain = made(input_ids=ids, attention_mask=None if mask is None else mask.long()).last_hidden_state
    assert torch.allclose(first_states(made, ids, mask), plain[:, 0], atol=1e-5)
    assert torch.allclose(token_states(made, ids, mask), plain, atol=1e-6)


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


def test_chunks_change_neither_states_nor_gradients():
    made = model("xlm-roberta").train().double()  # sums of float32 in another order differ by the processor
    ids, mask = batch(padded=True)
    results = []
    for chunk in (None, 2, 4):
        made.zero_grad()
        states = first_states(made, ids, mask, chunk)
        states.square().sum().backward()
        results.append((states.detach(), made.embeddings.word_embeddings.weight.grad.clone()))
    for states, gradient in results[1:]:
        assert torch.allclose(states, results[0][0], atol=1e-12)
        assert torch.allclose(gradient, results[0][1], atol=1e-12)

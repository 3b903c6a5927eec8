"""The document encoder against the plain way: every sentence masked in a copy of its document, each copy run alone."""

import numpy as np
import pytest
import torch

from stele.errors import SteleError
from stele.training.objectives._msm import DocumentEncoder

WIDTH = 16


def encoder(layers=2, dropout=0.0, positions=6):
    torch.manual_seed(5)
    made = DocumentEncoder(
        layers=layers, width=WIDTH, heads=2, inner=32, positions=positions, dropout=dropout, eps=1e-5
    )
    for parameter in made.parameters():  # away from the small initialisation, so that wrong wiring shows
        torch.nn.init.normal_(parameter, std=0.3)
    return made


def masked_copies(made, vectors, counts):
    """One forward a sentence, over its document alone, with PyTorch's own attention; the masked position's output."""
    collected = []
    for document in vectors.split(list(counts)):
        for t in range(len(document)):
            copy = document.clone()
            copy[t] = made.mask
            states = made.norm(copy + made.positions.weight[: len(copy)])[None]
            for layer in made.layers:
                attention = torch.nn.MultiheadAttention(WIDTH, layer.heads, batch_first=True)
                with torch.no_grad():
                    attention.in_proj_weight.copy_(torch.cat([layer.query.weight, layer.key_value.weight]))
                    attention.in_proj_bias.copy_(torch.cat([layer.query.bias, layer.key_value.bias]))
                    attention.out_proj.weight.copy_(layer.out.weight)
                    attention.out_proj.bias.copy_(layer.out.bias)
                states = layer.attention_norm(states + attention(states, states, states)[0])
                states = layer.norm(states + layer.outer(torch.nn.functional.gelu(layer.inner(states))))
            collected.append(states[0, t])
    return torch.stack(collected)


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("counts", [(4, 4), (3, 6, 1), (2,)])
def test_the_diagonal_equals_each_masked_copy_run_alone(layers, counts):
    made, vectors = encoder(layers).eval(), torch.randn(sum(counts), WIDTH)
    assert torch.allclose(made(vectors, counts), masked_copies(made, vectors, counts), atol=1e-5)


def test_a_prediction_never_sees_its_own_sentence():
    made, vectors = encoder().eval(), torch.randn(7, WIDTH)
    changed = vectors.clone()
    changed[2] = torch.randn(WIDTH)
    before, after = made(vectors, (4, 3)), made(changed, (4, 3))
    moved = (before - after).abs().amax(1) > 1e-4
    assert moved.tolist() == [True, True, False, True, False, False, False]


def test_padding_changes_nothing():
    """A short document beside a long one is predicted as it is alone."""
    made, short, long = encoder().eval(), torch.randn(2, WIDTH), torch.randn(6, WIDTH)
    together = made(torch.cat([short, long]), (2, 6))
    assert torch.allclose(together[:2], made(short, (2,)), atol=1e-6)
    assert torch.allclose(together[2:], made(long, (6,)), atol=1e-6)


def test_gradients_equal_those_of_the_copies():
    made, counts = encoder().eval(), (3, 4)
    vectors = torch.randn(7, WIDTH, requires_grad=True)
    weights = torch.randn(7, WIDTH)
    (made(vectors, counts) * weights).sum().backward()
    gradient = vectors.grad.clone()
    vectors.grad = None
    (masked_copies(made, vectors, counts) * weights).sum().backward()
    assert torch.allclose(gradient, vectors.grad, atol=1e-4)


def test_dropout_is_drawn_for_every_copy_and_only_in_training():
    made, vectors = encoder(dropout=0.3), torch.randn(8, WIDTH)
    made.train()
    torch.manual_seed(0)
    first = made(vectors, (4, 4))
    assert not torch.allclose(first, made(vectors, (4, 4)))
    made.eval()
    assert torch.equal(made(vectors, (4, 4)), made(vectors, (4, 4)))


def test_initial_weights_are_bert_s():
    made = DocumentEncoder(layers=2, width=128, heads=2, inner=512, positions=32, dropout=0.1, eps=1e-5)
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif "norm" in name:
            assert (parameter == 1).all()
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.25), name


def test_longer_documents_than_the_recipe_says_are_refused():
    with pytest.raises(SteleError, match=r"7 sentences.*allows 6"):
        encoder()(torch.randn(9, WIDTH), np.array([7, 2]))

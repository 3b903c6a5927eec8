"""MSM's document encoder and hierarchical loss, against the plain way to compute them."""

import math

import numpy as np
import pytest
import torch
from tiny_objectives import hierarchical_loss
from transformers import BertConfig, DistilBertConfig

from stele.errors import SteleError
from stele.training.objectives._msm import DocumentEncoder, dynamic_bias

WIDTH = 16


def config(width):
    return BertConfig(hidden_size=width, num_attention_heads=2, intermediate_size=2 * width, layer_norm_eps=1e-5)


def encoder(layers=2, dropout=0.0, positions=6):
    torch.manual_seed(5)
    made = DocumentEncoder(config(WIDTH), layers, positions, dropout)
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
    made = DocumentEncoder(config(128), layers=2, positions=32, dropout=0.1)
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif "norm" in name:
            assert (parameter == 1).all()
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.25), name


def test_it_is_as_wide_as_a_distilbert_whose_configuration_has_other_names():
    distilbert = DistilBertConfig(dim=WIDTH, n_heads=2, hidden_dim=24, initializer_range=0.05)
    made = DocumentEncoder(distilbert, layers=1, positions=6, dropout=0.1)
    assert made.layers[0].inner.weight.shape == (24, WIDTH) and made.layers[0].heads == 2
    assert made.norm.eps == made.layers[0].norm.eps == 1e-12
    assert made(torch.randn(5, WIDTH), np.array([3, 2])).shape == (5, WIDTH)


def test_longer_documents_than_the_recipe_says_are_refused():
    with pytest.raises(SteleError, match=r"7 sentences.*allows only 6"):
        encoder()(torch.randn(9, WIDTH), np.array([7, 2]))


def looped(p, h, counts, mu, temperature, intra_negatives=True):
    """Equations 1 and 2 word by word, one sentence at a time, in plain Python."""
    p, h = (np.asarray(side.detach(), np.float64) for side in (p, h))
    document = [d for d, n in enumerate(counts) for _ in range(n)]
    losses = []
    for t in range(len(p)):
        sim = [float(p[t] @ h[j] / np.linalg.norm(p[t]) / np.linalg.norm(h[j])) / temperature for j in range(len(h))]
        intra = [j for j in range(len(h)) if document[j] == document[t] and j != t]
        cross = [k for k in range(len(h)) if document[k] != document[t]]
        alpha = np.mean([sim[j] for j in intra]) - np.mean([sim[k] for k in cross]) if intra else 0.0
        total = math.exp(sim[t]) + sum(math.exp(sim[k]) for k in cross)
        if intra_negatives:
            total += sum(math.exp(sim[j] - mu * alpha) for j in intra)
        losses.append(-math.log(math.exp(sim[t]) / total))
    return float(np.mean(losses))


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("counts", [(4, 4, 4), (1, 5, 3, 2), (7, 2)])
@pytest.mark.parametrize("intra", [True, False])
def test_equals_the_loop_on_random_vectors(mu, counts, intra):
    rng = torch.Generator().manual_seed(hash((mu, counts)) % 1000)
    p, h = (torch.randn(sum(counts), 8, generator=rng) for _ in range(2))
    found = hierarchical_loss(p, h, counts, mu=mu, temperature=0.1, intra_negatives=intra)
    assert found.item() == pytest.approx(looped(p, h, counts, mu, 0.1, intra), abs=1e-4)


def test_no_gradient_goes_through_alpha():
    rng = torch.Generator().manual_seed(3)
    p, h = (torch.randn(6, 4, generator=rng, dtype=torch.float64) for _ in range(2))
    same = torch.tensor([0, 0, 0, 1, 1, 1])[:, None] == torch.tensor([0, 0, 0, 1, 1, 1])[None]
    intra, cross = same & ~torch.eye(6).bool(), ~same

    def gradient(detach):
        q = p.clone().requires_grad_()
        unit = torch.nn.functional.normalize
        scores = unit(q, dim=-1) @ unit(h, dim=-1).T / 0.1
        alpha = dynamic_bias(scores.detach() if detach else scores, intra, cross)
        torch.nn.functional.cross_entropy(scores - 0.5 * alpha[:, None] * intra, torch.arange(6)).backward()
        return q.grad

    own = p.clone().float().requires_grad_()
    hierarchical_loss(own, h.float(), (3, 3), mu=0.5, temperature=0.1).backward()
    assert torch.allclose(own.grad.double(), gradient(detach=True), atol=1e-5)
    assert not torch.allclose(own.grad.double(), gradient(detach=False), atol=1e-3)


def test_a_group_of_one_document_is_refused():
    vectors = torch.randn(4, 3)
    with pytest.raises(SteleError, match="one document"):
        hierarchical_loss(vectors, vectors, (4,), mu=0.5, temperature=0.1)

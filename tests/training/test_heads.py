"""Projection heads and vocabulary heads against the libraries' own layers."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from stele.errors import SteleError
from stele.training.heads import ProjectionHead, Projector, vocabulary_head


@pytest.mark.parametrize("norms", [1, 2])
def test_the_projection_head_is_that_of_the_released_code(norms):
    """Linear, BatchNorm, ReLU, Linear, BatchNorm without scale and shift, none of the linear ones with a bias."""
    head, states = ProjectionHead(4, 0.5, norms), torch.randn(6, 4)
    first, last = torch.nn.BatchNorm1d(4, eps=1e-12), torch.nn.BatchNorm1d(4, eps=1e-12, affine=False)
    for by_batch in (True, False):
        first.train(by_batch), last.train(by_batch)
        projected = head.second(torch.relu(first(head.first(states))))
        expected = last(projected) if norms == 2 else projected
        for mode in (True, False):  # statistics are the group's, or running ones, in every mode
            torch.testing.assert_close(head.train(mode)(states, by_batch), expected)
        if by_batch:
            head.update(head.seen(), 0)
    torch.testing.assert_close(head.norms[0].variance[0], first.running_var)
    assert sum(p.numel() for p in head.parameters()) == 2 * 16 + 2 * 4


def test_without_normalisation_two_layers_are_left():
    head, states = ProjectionHead(4, 0.5, norms=0), torch.randn(3, 4)
    torch.testing.assert_close(head(states), torch.relu(states @ head.first.weight.T) @ head.second.weight.T)


def test_projection_head_keeps_what_vectors_differ_in_under_bfloat16():
    """Sentence vectors that share most of their length: as bfloat16 (steps of 1/128) they would be equal."""
    head = ProjectionHead(6)
    vectors = 1 + 0.001 * torch.randn(10, 6)
    exact = head(vectors)
    with torch.autocast("cpu", torch.bfloat16):
        actual = head(vectors)
    assert actual.dtype == torch.float32 and torch.allclose(actual, exact, atol=1e-3)


@pytest.mark.parametrize(("kind", "heads"), [("none", 0), ("shared", 1), ("asymmetric", 2)])
def test_a_projector_has_the_heads_of_its_kind(kind, heads):
    made = Projector(kind, 4)
    keys, queries = torch.randn(5, 4), torch.randn(5, 4)
    assert len(made.heads) == heads
    found_keys, found_queries = made(keys, queries)
    if heads == 0:
        assert found_keys is keys and found_queries is queries
    else:
        assert torch.equal(found_keys, made.heads[0](keys))
        assert torch.equal(found_queries, made.heads[heads - 1](queries))


@pytest.mark.parametrize("family", ["xlm-roberta", "bert", "ernie", "roberta", "distilbert"])
def test_vocabulary_head_on_masked_positions_equals_the_model(family):
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
    if family == "distilbert":
        shape = {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24}
    config = AutoConfig.for_model(family, vocab_size=40, max_position_embeddings=20, **shape)
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(config).eval()
    ids = torch.randint(5, 40, (3, 7))
    states = model.base_model(input_ids=ids).last_hidden_state
    places = torch.tensor([2, 9, 20])
    expected = model(input_ids=ids).logits.flatten(0, 1)[places]
    assert torch.allclose(vocabulary_head(model)(states.flatten(0, 1)[places]), expected, atol=1e-5)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight, "tied"


def test_a_model_without_a_known_head_is_named():
    with pytest.raises(SteleError, match="Linear: Stele finds no masked-language-model head"):
        vocabulary_head(torch.nn.Linear(2, 2))

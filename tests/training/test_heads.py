"""Projection heads and vocabulary heads against the libraries' own layers."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from stele.errors import SteleError
from stele.training.heads import ProjectionHead, Projector, vocabulary_head


def test_projection_head_is_the_released_one():
    """Linear - BatchNorm(eps 1e-12) - ReLU - Linear - BatchNorm(affine False), written out with batch statistics."""
    head, vectors = ProjectionHead(6), torch.randn(10, 6)
    torch.nn.init.normal_(head.first_norm.weight)
    torch.nn.init.normal_(head.first_norm.bias)

    def normalised(x):
        return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-12).sqrt()

    hidden = normalised(vectors @ head.first.weight.T) * head.first_norm.weight + head.first_norm.bias
    expected = normalised(hidden.relu() @ head.second.weight.T)
    assert torch.allclose(head(vectors), expected, atol=1e-5)
    assert {name for name, _ in head.named_parameters()} == {
        "first.weight",
        "second.weight",
        "first_norm.weight",
        "first_norm.bias",
    }
    assert torch.allclose(head.eval()(vectors), expected, atol=1e-5), "statistics are the group's in every mode"


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

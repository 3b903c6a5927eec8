"""First-token states and heads against the models' own forward passes and the libraries' own layers."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM

from stele.errors import SteleError
from stele.training.heads import ProjectionHead, Projector, vocabulary_head
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


# --- projection heads and vocabulary heads against the libraries' own layers ------------------------------------------
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

"""BERT with global and sliding-window attention: equal to full attention where it may be, to a dense mask elsewhere."""

import numpy as np
import pytest
import torch
from tiny_models import make_folder
from todays_folders import change
from transformers import AutoModelForMaskedLM, BertConfig, BertForPreTraining

from stele.encoders.backbone import load_backbone, positions
from stele.encoders.load import load_encoder
from stele.encoders.save import save_encoder
from stele.encoders.sliding_window import convert
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.files.strict import validate
from stele.recipes.encoding import EncodingSpec
from stele.recipes.pretraining import SlidingWindow
from stele.training.hidden_states import global_attention, token_states

LENGTHS, QUERIES = (60, 41, 17), (9, 4, 12)  # tokens of three inputs, and of their queries


def recipe(window, positions=128, global_separators=2):
    return SlidingWindow(window=window, positions=positions, global_separators=global_separators)


def converted(folders, place, window, **changes):
    convert(folders["bert"], place, recipe(window, **changes))
    return load_backbone(place, "cls")[0].eval()


def pairs(lengths=LENGTHS, queries=QUERIES, seed=0):
    """ids, mask and token types of queries with documents, padded on the right."""
    rng, width = np.random.default_rng(seed), max(lengths)
    columns, ends = np.arange(width), np.array(lengths)[:, None]
    mask = columns < ends
    ids = np.where(mask, rng.integers(5, 60, mask.shape), 0)
    types = mask & (columns > np.array(queries)[:, None])
    return torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(types).long()


def different_projections(model):
    """The global projections, moved away from the local ones."""
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "_global" in name:
                weight += 0.2 * torch.randn(weight.shape, generator=generator)
    return model


def dense_states(model, ids, mask, types, chosen, window):
    """Last hidden states by full matrices of scores, of which a mask leaves what may be seen."""
    heads = model.config.num_attention_heads
    place = torch.arange(ids.shape[1])
    near = (place[:, None] - place).abs() <= window // 2
    seen = mask[:, None] & (near | chosen[:, None] | chosen[:, :, None])

    def attend(layer, states, suffix):
        query, key, value = (
            getattr(layer, f"{name}{suffix}")(states).unflatten(-1, (heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~seen[:, None], -torch.inf)
        return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)

    states = model.embeddings(input_ids=ids, token_type_ids=types)
    for layer in model.encoder.layer:
        local, globally = (attend(layer.attention.self, states, suffix) for suffix in ("", "_global"))
        attended = layer.attention.output(torch.where(chosen[..., None], globally, local), states)
        states = layer.output(layer.intermediate(attended), attended)
    return states


# --- what it computes -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lengths", [LENGTHS, (60, 60, 60)], ids=["padded", "not padded"])
@pytest.mark.parametrize("window", [120, 256])
def test_it_is_full_attention_where_half_a_window_covers_the_input(folders, tmp_path, window, lengths):
    full, model = load_backbone(folders["bert"], "cls")[0].eval(), converted(folders, tmp_path / "w", window)
    ids, mask, types = pairs(lengths)
    with torch.no_grad():
        expected, actual = (token_states(one, ids, mask, types) for one in (full, model))
        alone = [token_states(one, ids, mask)[mask] for one in (full, model)]
    assert (expected - actual)[mask].abs().max() < 1e-5
    assert (alone[0] - alone[1]).abs().max() < 1e-5


@pytest.mark.parametrize("separators", [1, 2])
@pytest.mark.parametrize("window", [32, 64, 128, 256])
def test_it_is_dense_attention_under_a_mask(folders, tmp_path, window, separators):
    model = converted(folders, tmp_path / "w", window, positions=512, global_separators=separators)
    different_projections(model)
    ids, mask, types = pairs((400, 333, 70), (12, 30, 5))
    chosen = mask & (types == 0)
    if separators == 2:
        chosen[torch.arange(3), [399, 332, 69]] = True
    with torch.no_grad():
        expected = dense_states(model, ids, mask, types, chosen, window)
        actual = token_states(model, ids, mask, types)
        assert (expected - actual)[mask].abs().max() < 1e-5
        wrong = dense_states(model, ids, mask, types, chosen, window + 2)  # so the mask is one that can be told
        assert (wrong - actual)[mask].abs().max() > 1e-4


def test_which_tokens_are_global():
    """[CLS] q q [SEP] d d [SEP], and a shorter one; texts alone have [CLS] and [SEP]."""
    mask = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0]])

    class Config:
        max_position_embeddings, pad_token_id, global_separators = 20, 0, 2

    def chosen(separators, types):
        Config.global_separators = separators
        return global_attention(Config, mask, mask, types)["global_attention_mask"].tolist()

    assert chosen(2, types) == [[1, 1, 1, 1, 0, 0, 1], [1, 1, 1, 0, 1, 0, 0]]
    assert chosen(1, types) == [[1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0]]
    alone = [[1, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0]]
    assert chosen(2, None) == chosen(1, None) == chosen(2, types * 0) == alone
    del Config.global_separators
    assert global_attention(Config, mask, mask, types) == {}, "Longformers of others"


# --- the folder -------------------------------------------------------------------------------------------------------
def test_positions_are_copied_and_shifted_by_the_padding_row(folders, tmp_path):
    full, model = load_backbone(folders["bert"], "cls")[0], converted(folders, tmp_path / "w", 8)
    table, copied = (one.embeddings.position_embeddings.weight for one in (full, model))
    shift = full.config.pad_token_id + 1
    assert copied.shape == (128 + shift, table.shape[1]) and positions(model.config) == 128
    assert torch.equal(copied[shift:], torch.cat([table, table]))


def test_global_projections_start_as_copies_and_are_trained_by_themselves(folders, tmp_path):
    model = converted(folders, tmp_path / "w", 8)
    attention = model.encoder.layer[0].attention.self
    assert torch.equal(attention.key.weight, attention.key_global.weight)
    ids, mask, types = pairs()
    token_states(model, ids, mask, types).square().sum().backward()
    torch.optim.SGD(model.parameters(), 1e-4).step()
    assert not torch.equal(attention.key.weight, attention.key_global.weight)


def test_the_vocabulary_head_and_the_pooler_come_along(folders, tmp_path):
    torch.manual_seed(0)
    bert = BertForPreTraining(BertConfig.from_pretrained(folders["bert"])).eval()
    bert.cls.predictions.bias.data.normal_()
    bert.save_pretrained(tmp_path / "bert")
    load_tokenizer(folders["bert"]).save_pretrained(tmp_path / "bert")
    convert(tmp_path / "bert", tmp_path / "w", recipe(128))
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "w").eval()
    ids, mask, _ = pairs()
    with torch.no_grad():
        expected = bert(input_ids=ids, attention_mask=mask.long()).prediction_logits
        assert (expected - model(input_ids=ids, attention_mask=mask.long()).logits)[mask].abs().max() < 1e-5
    pooler = load_backbone(tmp_path / "w", "pooler")[0].pooler
    assert torch.equal(pooler.dense.weight, bert.bert.pooler.dense.weight)


@pytest.mark.parametrize("segments", [False, True])
def test_saved_and_loaded_again_it_gives_the_same_vectors_of_one_text_or_many(folders, tmp_path, segments):
    model = different_projections(converted(folders, tmp_path / "w", 8))
    spec = EncodingSpec(pooling="cls", query_length=100, passage_length=100, segments=segments)
    save_encoder(tmp_path / "saved", model, None, load_tokenizer(tmp_path / "w"), spec)
    texts = [("who wrote the novel", "the river Nile flows " * 20), ("a", "b c d"), "Uganda and Egypt"]
    encoder = load_encoder(tmp_path / "saved")
    vectors = encoder.encode(texts, "passage")
    tokens = encoder.tokenize(texts, "passage")
    for row, vector in enumerate(vectors):
        part = slice(*tokens.offsets[row : row + 2])
        ids = torch.from_numpy(tokens.ids[part].astype(np.int64))[None]
        types = torch.from_numpy(tokens.types[part].astype(np.int64))[None] if segments else None
        with torch.no_grad():
            expected = token_states(model.eval(), ids, None, types)[0, 0].numpy()
        assert np.abs(vector - expected).max() < 1e-5


def test_a_layer_is_that_of_a_model_cut_there(folders, tmp_path):
    converted(folders, tmp_path / "w", 8)
    lengths = {"query_length": 60, "passage_length": 60}
    texts = ["the river Nile " * 9]
    encoder = load_encoder(tmp_path / "w", {"pooling": "mean", **lengths})
    encoder.spec = encoder.spec.model_copy(update={"layer": 1})  # read from the states of the whole model
    first = load_encoder(tmp_path / "w", {"pooling": "mean", "layer": 1, **lengths}).encode(texts, "query")
    assert np.abs(encoder.encode(texts, "query") - first).max() < 1e-5


# --- bad input --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("window", "message"), [(7, "want an even number"), (0, "greater than or equal to 2")])
def test_windows_that_cannot_be(window, message):
    with pytest.raises(SteleError, match=message):
        validate(SlidingWindow, {"window": window, "positions": 1024, "global_separators": 2}, "recipe")


def test_inputs_past_the_last_position_are_refused(folders, tmp_path):
    model = converted(folders, tmp_path / "w", 8)
    ids, _, types = pairs((129,), (6,))
    with pytest.raises(SteleError, match="an input has 129 tokens, but the model has only 128 positions"):
        token_states(model, ids, None, types)
    assert token_states(model, ids[:, :128], None, types[:, :128]).shape[1] == 128
    with pytest.raises(SteleError, match="passage_length is 129, the model has 128 positions"):
        load_encoder(tmp_path / "w", {"pooling": "cls", "query_length": 9, "passage_length": 129})


def test_other_families_are_refused_and_nothing_is_written(folders, tmp_path):
    with pytest.raises(SteleError, match="sliding windows are for bert"):
        convert(folders["xlm-roberta"], tmp_path / "w", recipe(8))
    damaged = make_folder(tmp_path / "bert", "bert")
    change(damaged / "config.json", num_hidden_layers=3)
    with pytest.raises(SteleError, match="its weights lack"):
        convert(damaged, tmp_path / "w", recipe(8))
    assert not (tmp_path / "w").exists()
    change(damaged / "config.json", num_hidden_layers=2, intermediate_size=96)
    with pytest.raises(SteleError, match=r"not shaped as config.json says: bert\.encoder"):
        convert(damaged, tmp_path / "w", recipe(8))

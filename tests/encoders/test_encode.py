"""Buckets and windows change the speed, never the vectors or their order."""

import numpy as np
import pytest
import torch
from tiny_models import random_model, subword_tokenizer
from todays_folders import causal_folder
from transformers import AutoConfig

from stele.encoders import encode as encoding
from stele.encoders.load import load_encoder
from stele.encoders.tokenizer import load_tokenizer
from stele.encoders.tokens import collate, length_buckets, tokenize
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec


@pytest.fixture(scope="module")
def encoder(folders):
    return load_encoder(folders["xlm-roberta"], {"pooling": "mean", "query_length": 40, "passage_length": 40})


@pytest.fixture(scope="module")
def texts():
    words = ["the", "river", "Nile", "flows", "through", "Uganda", "and", "Egypt", "who", "wrote", "novel"]
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(words, size=size)) for size in rng.integers(1, 25, size=60)]


def test_every_budget_and_window_gives_the_vectors_of_one_text_at_a_time(encoder, texts, monkeypatch):
    alone = np.concatenate([encoder.encode([text], "query") for text in texts])
    for budget, window in ((1, 2048), (64, 2048), (10_000, 2048), (512, 7)):
        monkeypatch.setattr(encoding, "default_batch_tokens", lambda *_, budget=budget: budget)
        monkeypatch.setattr(encoder, "window", window)
        assert np.abs(encoder.encode(texts, "query") - alone).max() < 1e-5


@pytest.mark.parametrize("family", ["convbert", "fnet", "mobilebert", "nystromformer", "yoso"])
def test_a_family_that_sees_padding_gets_none(tmp_path, folders, texts, family):
    """ConvBERT's convolution, for example, reads over a text's end."""
    tokenizer = load_tokenizer(folders["bert"])
    shape = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}
    shape |= {"embedding_size": 32, "true_hidden_size": 32, "intra_bottleneck_size": 32}
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), max_position_embeddings=66, **shape)
    random_model(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    encoder = load_encoder(tmp_path, {"pooling": "mean", "normalize": True, "query_length": 40, "passage_length": 40})
    alone = np.concatenate([encoder.encode([text], "query") for text in texts])
    assert np.abs(encoder.encode(texts, "query") - alone).max() < 1e-5


def test_a_long_text_s_vector_does_not_depend_on_the_texts_before_it(tmp_path):
    """BigBird reads texts longer than 28 tokens by blocks here, until the first shorter one."""
    shape = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}
    shape |= {"block_size": 4, "num_random_blocks": 1, "max_position_embeddings": 128, "pad_token_id": 1}
    tokenizer = subword_tokenizer()
    random_model(AutoConfig.for_model("big_bird", vocab_size=len(tokenizer), **shape)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    encoder = load_encoder(tmp_path, {"pooling": "mean", "query_length": 100, "passage_length": 100})
    first = encoder.encode(["a b c d " * 20], "query")
    encoder.encode(["the river"], "query")
    assert np.abs(encoder.encode(["a b c d " * 20], "query") - first).max() < 1e-5


@pytest.mark.parametrize(
    ("device", "width", "tokens"),
    [
        *[("cuda", 384, 65_536), ("cuda", 1_024, 65_536), ("cuda", 4_096, 16_384), ("cuda", 8_192, 8_192)],
        *[("cpu", 64, 4_096), ("cpu", 384, 768), ("cpu", 128, 2_048), ("cpu", 4_096, 768)],
    ],
)
def test_a_wider_model_gets_fewer_tokens_at_a_time(device, width, tokens):
    """An 8B model is 4,096 wide: two texts of 8,192 tokens, whose states take as much memory as 65,536 of 1,024."""
    assert encoding.default_batch_tokens(torch.device(device), width) == tokens


def test_nothing_is_held_of_what_was_read_and_attention_is_torch_s(tmp_path):
    """Of a model that reads from left to right, too, whose own default is to keep keys and values."""
    folder = causal_folder(tmp_path / "qwen3", "qwen3")
    assert AutoConfig.from_pretrained(folder).use_cache
    model = load_encoder(folder, {"pooling": "last", "query_length": 16, "passage_length": 16}).model("passage")
    assert not model.config.use_cache and model.config._attn_implementation == "sdpa"
    assert model(torch.tensor([[3, 4, 1]])).past_key_values is None


@pytest.mark.parametrize("family", ["bert", "albert", "xlm-roberta-xl"])
def test_the_pooler_is_the_model_s_own(family):
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    model = random_model(AutoConfig.for_model(family, vocab_size=50, **shape)).eval()
    ids = torch.arange(5, 17).reshape(2, 6)
    with torch.inference_mode():
        vectors = encoding.embed(model, {"input_ids": ids}, EncodingSpec(pooling="pooler"))
        torch.testing.assert_close(vectors, model(input_ids=ids).pooler_output)


def test_stream_gives_blocks_in_order_and_no_more_than_a_window(encoder, texts, monkeypatch):
    whole = encoder.encode(texts, "passage")
    monkeypatch.setattr(encoder, "window", 7)
    read = []

    def items():
        for number, text in enumerate(texts):
            read.append(number)
            yield f"id{number}", text

    ids, parts = [], []
    for block, vectors in encoder.encode_stream(items(), "passage"):
        assert len(block) == len(vectors) <= 7
        assert len(read) <= len(ids) + len(block) + 7  # memory: the stream is not read ahead of the window
        ids += block
        parts.append(vectors)
    assert ids == [f"id{number}" for number in range(len(texts))]
    assert np.abs(np.concatenate(parts) - whole).max() < 1e-5

    # an accelerator's reader, which works one block ahead in a thread of its own, gives the same
    monkeypatch.setattr(encoding, "_each", encoding._ahead)
    ahead = list(encoder.encode_stream(((i, t) for i, t in enumerate(texts)), "passage"))
    assert [i for block, _ in ahead for i in block] == list(range(len(texts)))
    assert np.concatenate([v for _, v in ahead]).tobytes() == np.concatenate(parts).tobytes()


def test_a_prompt_is_measured_before_another_thread_has_the_tokenizer(folders, texts, monkeypatch):
    """Both set the length at which it cuts: that of the prompt would cut documents that are being made windows."""
    spec = {"passage_prompt": "it ", "include_prompt": False, "query_length": 40, "passage_length": 40}
    encoder, done = load_encoder(folders["xlm-roberta"], {"pooling": "mean", **spec}), []
    monkeypatch.setattr(encoder, "window", 7)
    monkeypatch.setattr(encoding, "_each", encoding._ahead)
    monkeypatch.setattr(encoding, "tokenize", lambda *given: done.append("prompt") or tokenize(*given))
    items = ((done.append("text"), text) for text in texts)
    assert len(list(encoder.encode_stream(items, "passage"))) > 2
    assert done == ["prompt", *["text"] * len(texts)]


def test_a_stream_says_after_each_batch_how_far_it_is(encoder, texts, monkeypatch):
    batches = []
    monkeypatch.setattr(encoding, "default_batch_tokens", lambda *_: 64)
    ids, _ = next(encoder.encode_stream(enumerate(texts), "passage", on_batch=batches.append))
    assert len(batches) > 2 and sum(batches) == len(ids)


def test_encoding_no_text_gives_no_vector(encoder):
    assert encoder.encode([], "query").shape == (0, 32)
    assert list(encoder.encode_stream(iter([]), "query")) == []


def test_unknown_kind_is_refused(encoder):
    with pytest.raises(SteleError, match="document"):
        encoder.encode(["a"], "document")


def test_bfloat16_is_near_float32(encoder, folders, texts):
    half = load_encoder(folders["xlm-roberta"], encoder.spec.model_copy(update={"precision": "bfloat16"}))
    one, two = encoder.encode(texts, "query"), half.encode(texts, "query")
    assert two.dtype == np.float32
    assert 0 < np.abs(one - two).max() < 0.2


def test_buckets_hold_every_row_once_within_the_budget():
    lengths = np.random.default_rng(0).integers(1, 50, size=200)
    batches = length_buckets(lengths, 128)
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    for rows in batches:
        assert len(rows) * lengths[rows].max() <= 128 or len(rows) == 1
    assert [lengths[rows].max() for rows in batches] == sorted((lengths[rows].max() for rows in batches), reverse=True)
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    assert padded < 1.15 * lengths.sum()


def test_collate_pads_and_masks(folders):
    tokenizer = load_tokenizer(folders["bert"])
    tokens = tokenize(tokenizer, ["a", "a b c", ("a", "b")], 16, segments=True)
    batch = collate(tokens, np.array([1, 0, 2]), tokenizer.pad_token_id)
    wanted = tokenizer(["a b c", "a"], padding=True, return_tensors="pt")
    assert batch["input_ids"][:2].tolist() == wanted["input_ids"].tolist()
    assert batch["attention_mask"][:2].tolist() == wanted["attention_mask"].tolist()
    assert batch["token_type_ids"][2].tolist() == tokenizer("a", "b")["token_type_ids"]
    assert "attention_mask" not in collate(tokens, np.array([1]), tokenizer.pad_token_id)


def test_pairs_are_cut_at_their_longer_text(folders):
    tokenizer = load_tokenizer(folders["bert"])
    tokens = tokenize(tokenizer, [("a b", "c d e f g h i j k l")], 9)
    wanted = tokenizer("a b", "c d e f g h i j k l", truncation="longest_first", max_length=9)["input_ids"]
    assert tokens.ids.tolist() == wanted


def test_a_vector_that_is_not_finite_is_refused_and_its_text_named(encoder, texts, monkeypatch):
    whole = encoder._encode

    def broken(tokens, kind, *options, **more):
        vectors = whole(tokens, kind, *options, **more)
        vectors[3, 5] = np.nan
        return vectors

    monkeypatch.setattr(encoder, "_encode", broken)
    with pytest.raises(SteleError, match=r"query 4 of 60 \('.+'\): its vector is not finite"):
        encoder.encode(texts, "query")
    with pytest.raises(SteleError, match="passage 'id3': its vector is not finite"):
        list(encoder.encode_stream(((f"id{n}", text) for n, text in enumerate(texts)), "passage"))

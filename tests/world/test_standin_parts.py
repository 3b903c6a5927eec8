"""Parts of stand-ins: copied layers keep their vectors, new ones are as they should be; vocabularies, mBART's texts."""

import numpy as np
import pytest
import torch

from stele import catalogue
from stele.errors import SteleError
from stele.recipes import standins
from stele.recipes.world import world_sizes
from stele.training.masking import read_vocabulary
from stele_world.content.generate import generate
from stele_world.standins import denoising, models, pairs
from stele_world.standins.masked import as_ernie, composition, hide_spans, retokenise
from stele_world.standins.ranking import as_distilbert, with_pooler
from tests.world.standin_runs import recipe

TEXTS = [
    "the old town stands by the long river and the bridge",
    "a river runs by the town; old bridges stand",
    "who built the long bridge by the old town?",
] * 5


@pytest.fixture(scope="module")
def bert():
    tokenizer = models.make_tokenizer(standins.Tokenizer(kind="wordpiece", size=60, lowercase=True), TEXTS)
    return _built("bert", tokenizer), tokenizer


@pytest.fixture(scope="module")
def xlmr():
    tokenizer = models.make_tokenizer(standins.Tokenizer(kind="sentencepiece", size=60), TEXTS)
    return _built("xlm-roberta", tokenizer), tokenizer


def _built(model_type: str, tokenizer):
    sizes = standins.Architecture(model_type=model_type, layers=2, width=16, heads=2, inner=32, positions=40)
    return models.build(models.new_config(sizes, tokenizer), 5).eval()


def _states(model, ids, **options):
    with torch.no_grad():
        return model.eval()(input_ids=ids, attention_mask=torch.ones_like(ids), **options)


def _ids(tokenizer, text: str = TEXTS[0]):
    return tokenizer(text, return_tensors="pt")["input_ids"]


def test_stacked_layers_are_copies(xlmr):
    """Up to the base's depth the deeper one computes what the base does; above, each layer is its copy below."""
    base, tokenizer = xlmr
    deeper = models.with_layers(base, 5, 0)
    ids = _ids(tokenizer)
    states = _states(deeper.base_model, ids, output_hidden_states=True).hidden_states
    torch.testing.assert_close(states[2], _states(base.base_model, ids).last_hidden_state)
    layers = deeper.base_model.encoder.layer
    assert len(layers) == 5 and base.config.num_hidden_layers == 2
    for i, layer in enumerate(layers):
        for name, value in layer.state_dict().items():
            assert torch.equal(value, base.base_model.encoder.layer[i % 2].state_dict()[name])
    assert deeper.lm_head.decoder.weight is deeper.base_model.embeddings.word_embeddings.weight


@pytest.mark.parametrize("family", ["xlmr", "bert"])
def test_positions_are_copied_and_short_texts_stay(family, request):
    base, tokenizer = request.getfixturevalue(family)
    longer = models.with_positions(base, 90, 0)
    ids = _ids(tokenizer)
    torch.testing.assert_close(_states(longer, ids).logits, _states(base, ids).logits)
    reserved = 2 if family == "xlmr" else 0
    old = base.base_model.embeddings.position_embeddings.weight
    new = longer.base_model.embeddings.position_embeddings.weight
    assert len(new) == 90 + reserved
    for k in (0, 39, 40, 79, 80, 89):
        assert torch.equal(new[reserved + k], old[reserved + k % 40])
    far = ids[:, 1:2].expand(1, 90)
    assert torch.isfinite(_states(longer, far).logits).all()
    with pytest.raises((IndexError, RuntimeError)):
        _states(base, far)


def test_ernie_computes_what_bert_does(bert):
    model, tokenizer = bert
    ernie = as_ernie(model, 0)
    assert ernie.config.model_type == "ernie"
    torch.testing.assert_close(_states(ernie, _ids(tokenizer)).logits, _states(model, _ids(tokenizer)).logits)


def test_distilbert_with_all_layers_computes_what_bert_does(bert):
    model, tokenizer = bert
    ids = _ids(tokenizer)
    same = as_distilbert(model, 2, 0)
    expected = _states(model.base_model, ids, output_hidden_states=True)
    torch.testing.assert_close(_states(same, ids).last_hidden_state, expected.last_hidden_state, atol=1e-5, rtol=1e-4)
    half = as_distilbert(model, 1, 0)
    torch.testing.assert_close(_states(half, ids).last_hidden_state, expected.hidden_states[1], atol=1e-5, rtol=1e-4)
    with pytest.raises(SteleError, match="at most the base's 2"):
        as_distilbert(model, 3, 0)


def test_pooler_is_new_and_the_rest_stays(bert):
    model, tokenizer = bert
    pooled, again = with_pooler(model, 7), with_pooler(model, 7)
    states, ids = _states(pooled, _ids(tokenizer)), _ids(tokenizer)
    torch.testing.assert_close(states.last_hidden_state, _states(model.base_model, ids).last_hidden_state)
    assert torch.equal(pooled.pooler.dense.weight, again.pooler.dense.weight)
    assert not torch.equal(pooled.pooler.dense.weight, with_pooler(model, 8).pooler.dense.weight)


def test_new_vocabulary_starts_from_the_old_tokens(bert):
    model, before = bert
    tokenizer = models.make_tokenizer(standins.Tokenizer(kind="byte", size=300), TEXTS)
    shares = composition(before, tokenizer, model.config.vocab_size)
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-6)
    new = retokenise(model, before, tokenizer, 0)
    embeddings, old = (m.base_model.embeddings.word_embeddings.weight for m in (new, model))
    assert torch.equal(embeddings[tokenizer.mask_token_id], old[before.mask_token_id])
    whole = next(
        t
        for t in tokenizer.get_vocab()
        if len(t) > 3 and len(before.tokenize(t.lstrip("Ġ"))) == 1 and t.startswith("Ġ")
    )
    single = before.convert_tokens_to_ids(before.tokenize(whole.lstrip("Ġ")))[0]
    torch.testing.assert_close(embeddings[tokenizer.convert_tokens_to_ids(whole)], old[single])
    several = next(t for t in tokenizer.get_vocab() if t.isalpha() and t.isascii() and len(before.tokenize(t)) == 2)
    parts = before.convert_tokens_to_ids(before.tokenize(several))
    torch.testing.assert_close(embeddings[tokenizer.convert_tokens_to_ids(several)], old[parts].mean(0))
    for mine, theirs in zip(new.base_model.encoder.layer, model.base_model.encoder.layer, strict=True):
        assert all(torch.equal(v, theirs.state_dict()[n]) for n, v in mine.state_dict().items())
    positions = new.base_model.embeddings.position_embeddings.weight
    assert torch.equal(positions[2:], model.base_model.embeddings.position_embeddings.weight)
    assert torch.equal(new.lm_head.dense.weight, model.cls.predictions.transform.dense.weight)


def test_spans_hide_whole_words(bert):
    _, tokenizer = bert
    vocabulary = read_vocabulary(tokenizer, len(tokenizer))
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    inside = np.array([token.startswith("##") for token in tokens])
    rng = np.random.default_rng(0)
    ids = np.array([tokenizer(" ".join(TEXTS[:3]))["input_ids"]] * 200)
    hidden, places, targets = hide_spans(inside)(ids, vocabulary, rng, 0.15)
    flat = ids.ravel()
    chosen = np.zeros(len(flat), bool)
    chosen[places] = True
    assert np.array_equal(targets, flat[places])
    assert not np.isin(flat[places], vocabulary.special).any()
    assert np.array_equal(hidden.ravel()[~chosen], flat[~chosen])
    followers = np.flatnonzero(inside[flat])  # a word's later token is chosen when and only when the one before it is
    assert len(followers) and np.array_equal(chosen[followers], chosen[followers - 1])
    assert 0.11 < len(places) / (~np.isin(flat, vocabulary.special)).sum() < 0.17
    assert 0.7 < (hidden.ravel()[places] == vocabulary.mask).mean() < 0.9


def test_contrast_by_hand():
    first = torch.tensor([[2.0, 0.0], [0.0, 3.0]])  # cosines with the second side: 1 and 0, .6 and .8
    second = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    names = torch.tensor([1, 2]), torch.tensor([3, 4])
    table = np.array([[1.0, 0.6], [0.0, 0.8]])
    table[[0, 1], [0, 1]] -= 0.3
    table /= 0.5
    by_row = [np.log(np.exp(r).sum()) - r[i] for i, r in enumerate(table)]
    by_column = [np.log(np.exp(c).sum()) - c[i] for i, c in enumerate(table.T)]
    expected = (np.mean(by_row) + np.mean(by_column)) / 2
    assert pairs.contrast(first, second, names, 0.5, 0.3).item() == pytest.approx(expected, abs=1e-6)


def test_contrast_leaves_out_equal_texts_and_refuses_single_candidates():
    vectors = torch.eye(3)
    same = torch.tensor([5, 5, 6])
    others = torch.tensor([1, 2, 3])
    with_copy = pairs.contrast(vectors, vectors, (others, same), 1.0)
    assert with_copy < pairs.contrast(vectors, vectors, (others, torch.tensor([4, 5, 6])), 1.0)
    with pytest.raises(SteleError, match="no candidate"):
        pairs.contrast(vectors[:2], vectors[:2], (others[:2], same[:2]), 1.0)


# --- vocabularies
@pytest.mark.parametrize("scale", ["miniature", "small"])
def test_few_names_are_one_token(scale):
    """A piece that is a whole name is learnt for itself: BERT ranks far worse where most names are (standins.yaml)."""
    sizes = catalogue.load(f"scales/{scale}")
    world = generate(world_sizes(sizes["world"]), ["en"], sizes["seed"])
    texts = [sentence for d in world.web_documents("en") for p in d for sentence in p]
    names = sorted({word for entity in world.entities.values() for word in entity.names["en"].split()})
    for key in ("bert", "roberta"):
        settings = {**catalogue.load("standins")[key], **sizes["standins"].get(key, {})}["tokenizer"]
        tokenizer = models.make_tokenizer(standins.Tokenizer(**settings), texts)
        assert len(tokenizer) == settings["size"]
        whole = sum(len(tokenizer.tokenize(f" {name}")) == 1 for name in names)
        assert 0 < whole < 0.2 * len(names), (key, whole, len(names))


# --- mBART: the spans hidden of a text, the marks of both tokenizers, the loss
@pytest.fixture(params=["mbart", "mbart50"])
def tokenizer(request):
    return models.make_tokenizer(standins.Tokenizer(kind=request.param, size=200), TEXTS)


def test_about_a_third_is_hidden_and_each_span_is_one_mask():
    parsed = standins.parse_recipe(recipe("mbart"))
    rng, tokens = np.random.default_rng(0), np.arange(100, 140)
    kept, spans = [], []
    for _ in range(300):
        hidden = denoising.hide_spans(tokens, 7, parsed, rng)
        left = hidden[hidden != 7]
        assert np.all(np.diff(left) > 0) and set(left) <= set(tokens), "the order stays, nothing is new"
        kept.append(len(left) / len(tokens))
        spans.append((hidden == 7).sum())
    assert 0.65 <= np.mean(kept) < 0.75, "spans overlap now and then"
    assert 3 < np.mean(spans) < 6


def test_a_text_is_marked_as_its_tokenizer_marks_it(tokenizer):
    text = tokenizer("the river", add_special_tokens=False)["input_ids"]
    for language, code in (("fr", "fr_XX"), ("ar", "ar_AR")):
        tokenizer.src_lang = code
        mark = denoising.language_marks(tokenizer)[language]
        assert list(denoising.marked(np.array(text), mark, tokenizer)) == tokenizer("the river")["input_ids"]


def test_the_loss_is_that_of_transformers(tokenizer):
    import torch

    config = denoising.new_config(standins.Architecture(model_type="mbart", width=16), tokenizer)
    model = models.build(config, 1, "AutoModelForSeq2SeqLM")
    windows = np.array([[10, 11, 12, 13], [12, 11, 10, 9]])
    hidden = [np.array([10, tokenizer.mask_token_id, 13]), windows[1]]
    marks = np.array([denoising.language_marks(tokenizer)[language] for language in ("fr", "ar")])
    model.eval()
    ours = denoising.restored_loss(model, tokenizer, hidden, windows, marks)
    losses = [
        model(
            input_ids=torch.from_numpy(denoising.marked(h, m, tokenizer))[None],
            labels=torch.from_numpy(denoising.marked(w, m, tokenizer))[None],
        ).loss
        for h, w, m in zip(hidden, windows, marks, strict=True)
    ]
    assert float(ours.detach()) == pytest.approx(float(torch.stack(losses).mean().detach()), abs=1e-5)

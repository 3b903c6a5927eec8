"""mBART's stand-in: what is hidden of a text, how both of mBART's tokenizers mark it, and what is learnt."""

from __future__ import annotations

import numpy as np
import pytest

from stele.recipes import standins
from stele_world.standins import denoising
from stele_world.standins.models import make_tokenizer
from tests.world.standin_runs import recipe

TEXTS = ["the town stands by the river", "a river runs by the old town"] * 5


@pytest.fixture(params=["mbart", "mbart50"])
def tokenizer(request):
    return make_tokenizer(standins.Tokenizer(kind=request.param, size=200), TEXTS)


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

    model = denoising.build(denoising.new_config(standins.Architecture(model_type="mbart", width=16), tokenizer), 1)
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

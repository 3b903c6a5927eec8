"""Stand-ins of mBART, trained to restore texts with hidden spans."""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.errors import SteleError
from stele.recipes.standins import Architecture, Denoising
from stele.training.sampling import derive, generator
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import corpus, read_sentences
from stele_world.standins.models import build, make_tokenizer, set_dropout

IGNORED = -100  # a label that adds nothing to the loss


def make_denoising(recipe: Denoising, inputs: Inputs) -> StandIn:
    """Makes mBART, trained from new weights to restore texts in the languages that its tokenizer marks.

    Text infilling (Liu et al. 2020, section 2.2): spans of Poisson-drawn length are each replaced by one <mask>. The
    order of sentences is not changed here: a window has one or two. Raises SteleError without any of the languages.
    """
    read = read_sentences(inputs.mirror, recipe.of(inputs.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, chain.from_iterable(read.values()))
    marks = language_marks(tokenizer)
    sentences = {language: texts for language, texts in read.items() if language in marks}
    if not sentences:
        raise SteleError(f"{recipe.kind}: mBART has none of the languages {', '.join(read)}; add one")
    text = corpus(sentences, tokenizer, recipe.length - 2)
    config = new_config(recipe.architecture, tokenizer)
    model = build(config, derive(inputs.seed, "initial weights"), "AutoModelForSeq2SeqLM")
    set_dropout(model, recipe.dropout)
    codes = np.array([marks[language] for language in text.begins])

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "windows", step)
        windows, drawn = text.windows(rng, recipe.batch, recipe.length - 2, recipe.sampling_alpha)
        hidden = [hide_spans(row, tokenizer.mask_token_id, recipe, rng) for row in windows]
        yield {"denoising": restored_loss(model, tokenizer, hidden, windows, codes[drawn])}

    return StandIn(model, tokenizer, inputs.train(model, loss_at))


def language_marks(tokenizer: Any) -> dict[str, int]:
    """Ids of the tokenizer's language marks, by language ("ar" for ar_AR)."""
    marks = tokenizer.lang_code_to_id
    return {code.partition("_")[0]: number for code, number in marks.items()}


def hide_spans(tokens: np.ndarray, mask: int, recipe: Denoising, rng: np.random.Generator) -> np.ndarray:
    """Hides about a share of the tokens: replaces random spans of Poisson-drawn lengths by one `mask` each."""
    left, hidden = round(recipe.mask_probability * len(tokens)), np.zeros(len(tokens), bool)
    begins = np.zeros(len(tokens), bool)
    while left > 0:
        size = min(left, max(1, rng.poisson(recipe.span)))
        start = int(rng.integers(len(tokens) - size + 1))
        begins[start] = True
        hidden[start : start + size] = True
        left -= size
    return np.where(begins, mask, tokens)[~hidden | begins]


def restored_loss(
    model: Any, tokenizer: Any, hidden: Sequence[np.ndarray], windows: np.ndarray, marks: np.ndarray
) -> Tensor:
    """Cross-entropy of whole texts given the texts with hidden spans; both have the tokenizer's marks."""
    import torch

    sources = [marked(row, mark, tokenizer) for row, mark in zip(hidden, marks, strict=True)]
    targets = np.stack([marked(row, mark, tokenizer) for row, mark in zip(windows, marks, strict=True)])
    ids = np.full((len(sources), max(map(len, sources))), tokenizer.pad_token_id, np.int64)
    for row, source in enumerate(sources):
        ids[row, : len(source)] = source
    inputs = torch.from_numpy(ids).to(model.device)
    mask = (inputs != tokenizer.pad_token_id).long()
    labels = torch.from_numpy(targets).to(model.device)
    logits = model(input_ids=inputs, attention_mask=mask, labels=labels).logits
    return nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED)


def marked(tokens: np.ndarray, mark: int, tokenizer: Any) -> np.ndarray:
    """Adds end and language mark to a text: in cc25 the mark follows the end, in mBART-50 it precedes the text."""
    leads = tokenizer("a")["input_ids"][-1] == tokenizer.eos_token_id
    before, after = ([mark], [tokenizer.eos_token_id]) if leads else ([], [tokenizer.eos_token_id, mark])
    return np.concatenate([before, tokens, after]).astype(np.int64)


def new_config(sizes: Architecture, tokenizer: Any) -> Any:
    """mBART's configuration with these sizes, for encoder and decoder; new weights scaled from .02 at width 1,024."""
    from transformers import MBartConfig

    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("layers", sizes.layers), ("attention_heads", sizes.heads), ("ffn_dim", sizes.inner))
    }
    return MBartConfig(
        vocab_size=len(tokenizer),
        d_model=sizes.width,
        max_position_embeddings=sizes.positions,
        scale_embedding=True,
        init_std=round(0.02 * math.sqrt(1024 / sizes.width), 6),
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=tokenizer.eos_token_id,
        **sides,
    )

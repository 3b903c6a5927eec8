"""ERNIE 2.0 from BERT: same vocabulary, continued with whole words and spans of words masked at once (Sun et al.)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stele.recipes.standins.spans import Recipe
from stele.training.masking import RANDOM, REPLACED, Vocabulary
from stele_world.standins import _recipe
from stele_world.standins._mlm import fit
from stele_world.standins._models import build, filled, load

LONGEST = 3  # words of a span


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = as_ernie(base, given.seed)
    inside = np.array([t.startswith("##") for t in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))])
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given, hide=hide_spans(inside)))


def as_ernie(base: Any, seed: int) -> Any:
    """The BERT `base` as a model of type `ernie`, which names its parts alike."""
    from transformers import AutoConfig

    values = {k: v for k, v in base.config.to_dict().items() if k not in ("model_type", "architectures")}
    model = build(AutoConfig.for_model("ernie", **values), seed)
    weights = {name.replace("bert.", "ernie.", 1): value for name, value in base.state_dict().items()}
    return filled(model, weights)


def hide_spans(inside: np.ndarray) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """`mask_tokens` for spans of 1 to 3 whole words sharing their fate; inside bool [vocabulary]: not its start."""

    def hide(
        ids: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator, probability: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        flat = ids.ravel()
        special = np.isin(flat, vocabulary.special)
        word = np.cumsum(special | ~inside[flat])  # the number of the word each token belongs to
        number = int(word[-1]) + 1
        begins = np.flatnonzero(rng.random(number) < probability / ((1 + LONGEST) / 2))
        if not len(begins):
            begins = rng.choice(number, 1)
        fate = np.full(number + LONGEST, 2.0)  # 2: left alone
        for begin, length, drawn in zip(
            begins, rng.integers(1, LONGEST + 1, len(begins)), rng.random(len(begins)), strict=True
        ):
            fate[begin : begin + length] = drawn
        of_token = np.where(special, 2.0, fate[word])
        chosen = np.flatnonzero(of_token < 1)
        if not len(chosen):
            chosen = rng.choice(np.flatnonzero(~special), 1)
        hidden = flat.copy()
        hidden[chosen[of_token[chosen] < REPLACED]] = vocabulary.mask
        other = chosen[(of_token[chosen] >= REPLACED) & (of_token[chosen] < REPLACED + RANDOM)]
        hidden[other] = rng.choice(vocabulary.ordinary, len(other))
        return hidden.reshape(ids.shape), chosen, flat[chosen].copy()

    return hide

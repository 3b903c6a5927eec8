"""mContriever from mBERT: momentum contrast of two crops of one window of text (Izacard et al. 2022, section 3).

The objective is the one of pretraining (training/objectives/moco.py), on windows of mixed languages. Published, as
upstream, as the encoder alone, without vocabulary head and pooler.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from stele.recipes.standins.moco import Recipe
from stele.training.masking import read_vocabulary
from stele.training.objectives.moco import MomentumContrast
from stele.training.sampling import Group, generator
from stele.training.store import Flat
from stele.training.tasks import Pretraining, to_device
from stele.world.standins import _recipe
from stele.world.standins._corpus import corpus, read_sentences
from stele.world.standins._models import load, set_dropout


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    set_dropout(base, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, base.config.vocab_size)
    size = recipe.length - 2
    text = corpus(read_sentences(given.mirror, recipe.of(given.languages)), tokenizer, size)
    objective = MomentumContrast(recipe.objective())
    module = Pretraining(base, {"moco": objective}, given.seed)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(given.seed, "crops", step)
        windows = text.windows(rng, recipe.pairs, size, recipe.sampling_alpha)
        flat = Flat(windows.ravel(), np.full(recipe.pairs, size), np.ones(recipe.pairs, np.int64))
        made = objective.batch(flat, vocabulary, Group(step, []), rng)
        yield {"moco": module("moco", to_device(made, base.device))}

    outcome = given.train(module, loss_at, module.after_step)
    return _recipe.Made(base.base_model, tokenizer, outcome)

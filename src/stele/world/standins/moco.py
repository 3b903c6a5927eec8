"""mContriever from mBERT: momentum contrast of two crops of one window of text (Izacard et al. 2022, section 3).

The objective is the one of pretraining (training/objectives/moco.py), on windows of mixed languages. Published, as
upstream, as the encoder alone, without vocabulary head and pooler.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field, model_validator
from torch import Tensor

from stele.recipes.crop_ratio import CropRatio
from stele.recipes.objectives.moco import Recipe as Objective
from stele.training.masking import read_vocabulary
from stele.training.objectives import moco
from stele.training.sampling import generator
from stele.training.store import Flat
from stele.training.tasks import Pretraining, to_device
from stele.world.standins import _recipe
from stele.world.standins._corpus import corpus, read_sentences
from stele.world.standins._models import load, set_dropout

BASES = 1


class Recipe(_recipe.PairsRecipe):
    queue: int = Field(ge=1, description="keys of earlier steps")
    momentum: float = Field(ge=0, le=1, description="what the encoder of the keys keeps of itself in a step")
    crop_ratio: CropRatio = (0.1, 0.5)

    @model_validator(mode="after")
    def _queue_holds_a_step(self) -> Recipe:
        if self.queue < self.pairs:
            raise ValueError(f"queue: want room for the {self.pairs} keys of a step")
        return self

    def objective(self) -> Objective:
        """The keys that the objective reads; how it is optimised is the stand-in's own matter."""
        shared = self.model_dump(include={"pairs", "temperature", "queue", "momentum", "crop_ratio"})
        return Objective.model_construct(**shared, length=self.pair_length, groups=1, encode_chunk=None)


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    set_dropout(base, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, base.config.vocab_size)
    size = recipe.length - 2
    text = corpus(read_sentences(given.mirror, recipe.of(given.languages)), tokenizer, size)
    settled = recipe.objective()
    module = Pretraining.of(base, {"moco": moco.Heads}, settled, given.seed)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(given.seed, "crops", step)
        windows = text.windows(rng, recipe.pairs, size, recipe.sampling_alpha)
        flat = Flat(windows.ravel(), np.full(recipe.pairs, size), np.ones(recipe.pairs, np.int64))
        made = moco.batch(flat, vocabulary, settled, None, rng)
        yield {"moco": module("moco", to_device(made, base.device))}

    outcome = given.train(module, loss_at, module.after_step)
    return _recipe.Made(base.base_model, tokenizer, outcome)

"""InfoXLM: masked language modelling of text and of translation pairs, and contrast of the pairs (Chi et al. 2021).

Equation 10 there is the sum of the three losses. The contrast is within the batch, where the original has a queue of
a momentum encoder; it is on the first token's state of the last layer, where the original takes layer 8 of 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch import Tensor

from stele.recipes.standins.translation import Recipe
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary, attention, mask_tokens, read_vocabulary
from stele.training.sampling import Batch, generator
from stele.training.tasks import to_device
from stele_world.standins import _recipe
from stele_world.standins._corpus import corpus, read_sentences
from stele_world.standins._mlm import MaskedModel, masked_batch
from stele_world.standins._models import load, set_dropout
from stele_world.standins._pairs import contrast, draw, side_batch, translation_pairs


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    model, tokenizer = load(given.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    text = corpus(read_sentences(given.mirror, given.languages), tokenizer, recipe.length - 2)
    pairs = translation_pairs(given.mirror, given.languages, tokenizer)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(given.seed, "translation", step)
        first, second = draw(pairs, rng, recipe.pairs)
        one, other = (
            to_device(side_batch(side, vocabulary, recipe.pair_length), model.device) for side in (first, second)
        )
        vectors = [first_states(model.base_model, side["ids"], side["mask"]) for side in (one, other)]
        both = to_device(joined_batch(first, second, vocabulary, recipe, rng), model.device)
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        yield {
            "mlm": module(mixed),
            "tlm": module(both),
            "contrast": contrast(*vectors, (one["duplicate_keys"], other["duplicate_keys"]), recipe.temperature),
        }

    return _recipe.Made(model, tokenizer, given.train(module, loss_at))


def joined_batch(
    first: Sequence[np.ndarray],
    second: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    recipe: Recipe,
    rng: np.random.Generator,
) -> Batch:
    """Both sides of each pair as one masked sequence, `<s> a </s></s> b </s>` (TLM, Conneau and Lample 2019)."""
    room = recipe.pair_length - 2
    rows = [
        np.concatenate([[vocabulary.cls], a[:room], [vocabulary.sep, vocabulary.sep], b[:room], [vocabulary.sep]])
        for a, b in zip(first, second, strict=True)
    ]
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), vocabulary.pad, np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    hidden, places, targets = mask_tokens(ids, vocabulary, rng, recipe.mask_probability)
    return {"ids": hidden, "mask": attention(lengths, ids.shape[1]), "places": places, "targets": targets}

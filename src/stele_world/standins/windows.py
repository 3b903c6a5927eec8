"""CCP: sentences of one window of a document are drawn together (Wu et al. 2022), beside masked language modelling.

The contrastive batch is of one language, so its negatives are of that language, as the original's bank has them; here
they are those of the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from stele.errors import SteleError
from stele.recipes.standins.windows import Recipe
from stele.training.hidden_states import first_states
from stele.training.masking import read_vocabulary
from stele.training.sampling import generator
from stele.training.tasks import to_device
from stele_world.standins import _recipe, _texts
from stele_world.standins._corpus import corpus
from stele_world.standins._mlm import MaskedModel, masked_batch
from stele_world.standins._models import load, set_dropout
from stele_world.standins._pairs import Pairs, Side, contrast, draw, side_batch


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    model, tokenizer = load(given.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    documents = {
        language: [[s for paragraph in d for s in paragraph] for d in _texts.documents(given.mirror, language)]
        for language in _texts.readable(given.languages)
    }
    text = corpus({n: [s for d in ds for s in d] for n, ds in documents.items()}, tokenizer, recipe.length - 2)
    pairs = near_pairs(documents, recipe.window, tokenizer)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(given.seed, "windows", step)
        sides = [
            to_device(side_batch(s, vocabulary, recipe.pair_length), model.device)
            for s in draw(pairs, rng, recipe.pairs)
        ]
        vectors = [first_states(model.base_model, side["ids"], side["mask"]) for side in sides]
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        keys = tuple(side["duplicate_keys"] for side in sides)
        yield {"mlm": module(mixed), "contrast": contrast(*vectors, keys, recipe.temperature)}

    return _recipe.Made(model, tokenizer, given.train(module, loss_at))


def near_pairs(documents: dict[str, Sequence[Sequence[str]]], window: int, tokenizer: object) -> Pairs:
    """language -> pairs of sentences at most `window` apart in one document."""
    by_language = {}
    for language, texts in documents.items():
        pairs = [(d[i], d[j]) for d in texts for i in range(len(d)) for j in range(i + 1, min(i + window + 1, len(d)))]
        if len(pairs) < 2:
            raise SteleError(f"{language}: no document of two sentences to draw pairs from; generate more text")
        first, second = zip(*pairs, strict=True)
        by_language[language] = (Side.of(tokenizer, first), Side.of(tokenizer, second))
    return by_language

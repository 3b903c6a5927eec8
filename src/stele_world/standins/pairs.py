"""Stand-ins that contrast pairs of texts (translations, neighbouring sentences, crops), and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from stele.errors import SteleError
from stele.recipes.standins import Moco, PairsRecipe, Translation, Windows
from stele.training.contrastive_loss import check_candidates, duplicate_mask
from stele.training.masking import Vocabulary, attention, fingerprints, mask_tokens, pad, read_vocabulary
from stele.training.objectives.moco import MomentumContrast
from stele.training.sampling import Batch, Group, generator
from stele.training.store import Flat
from stele.training.tasks import Pretraining, to_device
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import all_translations, corpus, documents_of, read_sentences, readable, tokenize
from stele_world.standins.masked import MaskedModel, masked_batch
from stele_world.standins.models import load, set_dropout


@dataclass(frozen=True)
class Side:
    """One side of pairs of texts, as tokens without special ones, in order."""

    tokens: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, tokenizer: Any, texts: Sequence[str]) -> Side:
        tokens, lengths = tokenize(tokenizer, texts)
        return cls(tokens, np.cumsum(lengths))

    def take(self, chosen: np.ndarray) -> list[np.ndarray]:
        begins = np.concatenate([[0], self.ends[:-1]])
        return [self.tokens[begins[i] : self.ends[i]] for i in chosen]


Pairs = Mapping[str, tuple[Side, Side]]  # language -> both sides


def translation_pairs(mirror: Path, languages: Sequence[str], tokenizer: Any) -> Pairs:
    """The English sentences and their translations, for each language but English."""
    translated = all_translations(mirror, languages).items()
    sides = {language: zip(*pairs, strict=True) for language, pairs in translated}
    return {language: tuple(Side.of(tokenizer, texts) for texts in both) for language, both in sides.items()}


def draw(pairs: Pairs, rng: np.random.Generator, number: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """`number` pairs of one language, without repetition, both sides; languages take turns by chance."""
    language = list(pairs)[rng.integers(len(pairs))]
    first, second = pairs[language]
    if len(first.ends) < 2:
        raise SteleError(f"{language}: want at least 2 pairs of texts, found {len(first.ends)}")
    chosen = rng.permutation(len(first.ends))[:number]
    return first.take(chosen), second.take(chosen)


def side_batch(texts: Sequence[np.ndarray], vocabulary: Vocabulary, longest: int) -> Batch:
    """ids int64 [n, t], mask bool [n, t] or None, duplicate_keys int64 [n], equal for equal texts"""
    lengths = np.array([max(1, len(text)) for text in texts])
    tokens = np.concatenate([text if len(text) else [vocabulary.mask] for text in texts]).astype(np.int64)
    ids, whole = pad(tokens, lengths, vocabulary, longest)
    return {"ids": ids, "mask": attention(whole, ids.shape[1]), "duplicate_keys": fingerprints(ids).view(np.int64)}


def drawn_batches(
    pairs: Pairs, rng: np.random.Generator, recipe: PairsRecipe, vocabulary: Vocabulary, device: torch.device
) -> list[Batch]:
    """The batches (`side_batch`) of both sides of pairs that are drawn."""
    sides = draw(pairs, rng, recipe.pairs)
    return [to_device(side_batch(side, vocabulary, recipe.pair_length), device) for side in sides]


def contrast(
    first: Tensor, second: Tensor, duplicate_keys: tuple[Tensor, Tensor], temperature: float, margin: float = 0.0
) -> Tensor:
    """Cosine softmax in both directions, the margin taken off the pair's own score (Yang et al. 2019, equations 5, 6).

    first, second [n, d], row i of one belongs to row i of the other; duplicate_keys int64 [n] of each side: a text
    equal to the right answer is no negative.
    """
    diagonal = torch.arange(len(first), device=first.device)
    sides = functional.normalize(first.float(), dim=-1), functional.normalize(second.float(), dim=-1)
    scores = (sides[0] @ sides[1].T - margin * torch.eye(len(diagonal), device=first.device)) / temperature
    losses = []
    for table, candidates in ((scores, duplicate_keys[1]), (scores.T, duplicate_keys[0])):
        mask = duplicate_mask(candidates, diagonal)
        check_candidates(len(diagonal) - mask.sum(1))
        losses.append(functional.cross_entropy(table.masked_fill(mask, float("-inf")), diagonal))
    return (losses[0] + losses[1]) / 2


def contrasted(
    encode: Callable[[Batch], Tensor], sides: Sequence[Batch], temperature: float, margin: float = 0.0
) -> Tensor:
    """`contrast` of the vectors of both sides, batches of `side_batch`."""
    keys = tuple(side["duplicate_keys"] for side in sides)
    return contrast(*map(encode, sides), keys, temperature, margin)


def make_translation(recipe: Translation, inputs: Inputs) -> StandIn:
    """InfoXLM: masked language modelling of text and of translation pairs, and contrast of the pairs (Chi et al. 2021).

    Equation 10 there is the sum of the three losses. The contrast is within the batch, where the original has a queue
    of a momentum encoder; it is on the first token's state of the last layer, where the original takes layer 8 of 12.
    """
    model, tokenizer = load(inputs.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    text = corpus(read_sentences(inputs.mirror, inputs.languages), tokenizer, recipe.length - 2)
    pairs = translation_pairs(inputs.mirror, inputs.languages, tokenizer)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translation", step)
        first, second = draw(pairs, rng, recipe.pairs)
        sides = [to_device(side_batch(side, vocabulary, recipe.pair_length), model.device) for side in (first, second)]
        loss = contrasted(module.first, sides, recipe.temperature)
        both = to_device(joined_batch(first, second, vocabulary, recipe, rng), model.device)
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        yield {"mlm": module(mixed), "tlm": module(both), "contrast": loss}

    return StandIn(model, tokenizer, inputs.train(module, loss_at))


def joined_batch(
    first: Sequence[np.ndarray],
    second: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    recipe: Translation,
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


def make_windows(recipe: Windows, inputs: Inputs) -> StandIn:
    """CCP: sentences of one window of a document are drawn together (Wu et al. 2022), beside masked language modelling.

    The contrastive batch is of one language, so its negatives are of that language, as the original's bank has them;
    here they are those of the batch.
    """
    model, tokenizer = load(inputs.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    documents = {
        language: [[s for paragraph in d for s in paragraph] for d in documents_of(inputs.mirror, language)]
        for language in readable(inputs.languages)
    }
    text = corpus({n: [s for d in ds for s in d] for n, ds in documents.items()}, tokenizer, recipe.length - 2)
    pairs = near_pairs(documents, recipe.window, tokenizer)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "windows", step)
        sides = drawn_batches(pairs, rng, recipe, vocabulary, model.device)
        loss = contrasted(module.first, sides, recipe.temperature)
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        yield {"mlm": module(mixed), "contrast": loss}

    return StandIn(model, tokenizer, inputs.train(module, loss_at))


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


def make_moco(recipe: Moco, inputs: Inputs) -> StandIn:
    """mContriever from mBERT: momentum contrast of two crops of one window of text (Izacard et al. 2022, section 3).

    The objective is the one of pretraining (training/objectives/moco.py), on windows of mixed languages. Published, as
    upstream, as the encoder alone, without vocabulary head and pooler.
    """
    base, tokenizer = load(inputs.bases[0])
    set_dropout(base, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, base.config.vocab_size)
    size = recipe.length - 2
    text = corpus(read_sentences(inputs.mirror, recipe.of(inputs.languages)), tokenizer, size)
    objective = MomentumContrast(recipe.objective())
    module = Pretraining(base, {"moco": objective}, inputs.seed)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "crops", step)
        windows = text.windows(rng, recipe.pairs, size, recipe.sampling_alpha)
        flat = Flat(windows.ravel(), np.full(recipe.pairs, size), np.ones(recipe.pairs, np.int64))
        made = objective.batch(flat, vocabulary, Group(step, []), rng)
        yield {"moco": module("moco", to_device(made, base.device))}

    outcome = inputs.train(module, loss_at, module.after_step)
    return StandIn(base.base_model, tokenizer, outcome)

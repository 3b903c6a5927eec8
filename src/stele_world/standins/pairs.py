"""Stand-ins that learn by contrasting pairs of texts: translations, neighbouring sentences, crops."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.recipes.standins import Moco, PairsRecipe, Translation, Windows
from stele.training.contrastive_loss import check_candidates, duplicate_mask
from stele.training.hidden_states import mean_states, token_states
from stele.training.masking import Vocabulary, attention, fingerprints, mask_tokens, pad, read_vocabulary
from stele.training.objectives.moco import MomentumContrast
from stele.training.sampling import Batch, Group, generator
from stele.training.store import Flat
from stele.training.tasks import Pretraining, to_device
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import all_translations, corpus, documents_of, read_sentences, readable, tokenize
from stele_world.standins.masked import MaskedModel, masked_batch
from stele_world.standins.models import load, set_dropout

Side = list[np.ndarray]  # texts as tokens without special ones
Pairs = Mapping[str, Sequence[tuple[str, str]]]  # language -> pairs of texts


def draw(pairs: Pairs, tokenizer: Any, rng: np.random.Generator, number: int) -> list[Side]:
    """Draws `number` distinct pairs of one random language; returns both sides. Raises SteleError for a single pair."""
    language = list(pairs)[rng.integers(len(pairs))]
    of_language = pairs[language]
    if len(of_language) < 2:
        raise SteleError(f"{language}: want at least 2 pairs of texts, found {len(of_language)}")
    chosen = [of_language[i] for i in rng.permutation(len(of_language))[:number]]
    tokens = (tokenize(tokenizer, texts) for texts in zip(*chosen, strict=True))
    return [np.split(ids, np.cumsum(lengths)[:-1]) for ids, lengths in tokens]


def side_batches(
    sides: Sequence[Side], recipe: PairsRecipe, vocabulary: Vocabulary, device: torch.device
) -> list[Batch]:
    """Batch of each side: ids int64 [n, t], mask bool [n, t] or None, duplicate_keys int64 [n]."""
    batches = []
    for side in sides:
        texts = [text if len(text) else np.array([vocabulary.mask]) for text in side]
        ids, lengths = _padded(texts, vocabulary, recipe.pair_length)
        keys = fingerprints(ids).view(np.int64)
        batch = {"ids": ids, "mask": attention(lengths, ids.shape[1]), "duplicate_keys": keys}
        batches.append(to_device(batch, device))
    return batches


def _padded(texts: Side, vocabulary: Vocabulary, longest: int) -> tuple[np.ndarray, np.ndarray]:
    return pad(np.concatenate(texts), np.array([len(text) for text in texts]), vocabulary, longest)


def contrast(
    first: Tensor, second: Tensor, duplicate_keys: tuple[Tensor, Tensor], temperature: float, margin: float = 0.0
) -> Tensor:
    """Cosine softmax in both directions with a margin on the pair's own score (Yang et al. 2019, equations 5, 6).

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
    """Loss `contrast` of the vectors of both sides, which are batches of `side_batches`."""
    keys = tuple(side["duplicate_keys"] for side in sides)
    return contrast(*map(encode, sides), keys, temperature, margin)


class Encoder(nn.Module):
    """Encodes batches of texts to vectors, float32 [n, d], as the modules of a published folder do."""

    def __init__(self, model: nn.Module, pooling: str, heads: Sequence[nn.Sequential]) -> None:
        super().__init__()
        self.model, self.pooling, self.heads = model, pooling, nn.ModuleList(heads)

    def forward(self, batch: Batch) -> Tensor:
        ids, mask = batch["ids"], batch["mask"]
        if self.pooling == "mean":
            vectors = mean_states(self.model, ids, mask)
        else:
            states = token_states(self.model, ids, mask)
            place = 0 if self.pooling == "cls" else mask.sum(1) - 1
            vectors = states[torch.arange(len(states)), place]
        for head in self.heads:
            vectors = head(vectors)
        return vectors


def make_translation(recipe: Translation, inputs: Inputs) -> StandIn:
    """Makes InfoXLM: MLM of text and of translation pairs, and contrast of the pairs (Chi et al. 2021).

    The loss is the sum of three losses (equation 10 there). The contrast is within the batch, while the original has a
    queue and a momentum encoder; it uses the first token's state in the last layer, the original in layer 8 of 12.
    """
    model, tokenizer = load(inputs.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    text = corpus(read_sentences(inputs.mirror, inputs.languages), tokenizer, recipe.length - 2)
    pairs = all_translations(inputs.mirror, inputs.languages)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translation", step)
        sides = draw(pairs, tokenizer, rng, recipe.pairs)
        batches = side_batches(sides, recipe, vocabulary, model.device)
        loss = contrasted(module.first, batches, recipe.temperature)
        both = to_device(joined_batch(*sides, vocabulary, recipe, rng), model.device)
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        yield {"mlm": module(mixed), "tlm": module(both), "contrast": loss}

    return StandIn(model, tokenizer, inputs.train(module, loss_at))


def joined_batch(
    first: Side, second: Side, vocabulary: Vocabulary, recipe: Translation, rng: np.random.Generator
) -> Batch:
    """Masks both sides of each pair in one sequence, `<s> a </s></s> b </s>` (TLM, Conneau and Lample 2019)."""
    room, between = recipe.pair_length - 2, [vocabulary.sep, vocabulary.sep]
    rows = [np.concatenate([a[:room], between, b[:room]]) for a, b in zip(first, second, strict=True)]
    ids, lengths = _padded(rows, vocabulary, 2 * recipe.pair_length)
    hidden, places, targets = mask_tokens(ids, vocabulary, rng, recipe.mask_probability)
    return {"ids": hidden, "mask": attention(lengths, ids.shape[1]), "places": places, "targets": targets}


def make_windows(recipe: Windows, inputs: Inputs) -> StandIn:
    """Makes CCP: contrast of sentences within a window of a document (Wu et al. 2022), beside MLM.

    A contrastive batch has one language, so all negatives are in that language, as in the original's memory bank; here
    they come from the batch alone.
    """
    model, tokenizer = load(inputs.bases[0])
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    documents = {
        language: [[s for paragraph in d for s in paragraph] for d in documents_of(inputs.mirror, language)]
        for language in readable(inputs.languages)
    }
    text = corpus({n: [s for d in ds for s in d] for n, ds in documents.items()}, tokenizer, recipe.length - 2)
    pairs = near_pairs(documents, recipe.window)
    module = MaskedModel(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "windows", step)
        batches = side_batches(draw(pairs, tokenizer, rng, recipe.pairs), recipe, vocabulary, model.device)
        loss = contrasted(module.first, batches, recipe.temperature)
        mixed = to_device(masked_batch(text, vocabulary, recipe, rng), model.device)
        yield {"mlm": module(mixed), "contrast": loss}

    return StandIn(model, tokenizer, inputs.train(module, loss_at))


def near_pairs(documents: dict[str, Sequence[Sequence[str]]], window: int) -> Pairs:
    """Pairs of sentences at most `window` apart in a document, by language. Raises SteleError without any pair."""
    by_language = {}
    for language, texts in documents.items():
        pairs = [(d[i], d[j]) for d in texts for i in range(len(d)) for j in range(i + 1, min(i + window + 1, len(d)))]
        if len(pairs) < 2:
            raise SteleError(f"{language}: no document of two sentences to draw pairs from; generate more text")
        by_language[language] = pairs
    return by_language


def make_moco(recipe: Moco, inputs: Inputs) -> StandIn:
    """Makes mContriever from mBERT: momentum contrast of crops of one window (Izacard et al. 2022, section 3).

    The objective is that of pretraining (training/objectives/moco.py), on windows of mixed languages. As upstream, only
    the encoder is published, without vocabulary head and pooler.
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
        windows, _ = text.windows(rng, recipe.pairs, size, recipe.sampling_alpha)
        flat = Flat(windows.ravel(), np.full(recipe.pairs, size), np.ones(recipe.pairs, np.int64))
        batch = objective.batch(flat, vocabulary, Group(step, []), rng)
        yield {"moco": module("moco", to_device(batch, base.device))}

    outcome = inputs.train(module, loss_at, module.after_step)
    return StandIn(base.base_model, tokenizer, outcome)

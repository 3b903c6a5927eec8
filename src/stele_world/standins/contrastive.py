"""Stand-ins for encoders trained for retrieval: models of any architecture that learn from translations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from stele.recipes.standins import Causal, Contrastive
from stele.training.sampling import Batch, derive, generator
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import all_translations, read_sentences
from stele_world.standins.models import build, load, make_tokenizer, new_config, seeded, set_dropout
from stele_world.standins.pairs import Encoder, contrasted

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def train_encoder(
    recipe: Contrastive, inputs: Inputs, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> StandIn:
    """Trains an encoder on translations: the English text is the query, its translation the passage."""
    set_dropout(model, recipe.dropout)
    encoder = Encoder(model, recipe.pooling, _heads(model.config.hidden_size, recipe.dense, inputs.seed))
    pairs = all_translations(inputs.mirror, inputs.languages)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translations", step)
        of_language = pairs[list(pairs)[rng.integers(len(pairs))]]
        chosen = [of_language[index] for index in rng.permutation(len(of_language))[: recipe.pairs]]
        sides = list(zip(*chosen, strict=True))
        prompts = (recipe.query_prompt, recipe.passage_prompt)
        batches = [_batch(tokenizer, *side, recipe.pair_length) for side in zip(prompts, sides, strict=True)]
        yield {"ranking": contrasted(encoder, batches, recipe.temperature)}

    outcome = inputs.train(encoder, loss_at)
    length = recipe.max_length
    spec = {"pooling": recipe.pooling, "normalize": True, "query_length": length, "passage_length": length}
    return StandIn(model, tokenizer, outcome, spec, list(encoder.heads))


def _heads(width: int, widths: Sequence[int], seed: int) -> list[nn.Sequential]:
    heads = []
    with seeded(derive(seed, "linear maps")):
        for wide in widths:
            heads.append(nn.Sequential(nn.Linear(width, wide, bias=False), nn.Identity()))
            width = wide
    return heads


def _batch(tokenizer: PreTrainedTokenizerBase, prompt: str, texts: Sequence[str], longest: int) -> Batch:
    """Tokenises texts: ids int64, mask bool [n, t], always padded on the right; duplicate_keys int64 [n]."""
    options = {"padding": True, "truncation": True, "max_length": longest, "padding_side": "right"}
    prompted = [prompt + text for text in texts]
    batch = tokenizer(prompted, return_tensors="pt", return_token_type_ids=False, **options)
    keys = torch.from_numpy(np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64))
    return {"ids": batch["input_ids"], "mask": batch["attention_mask"].bool(), "duplicate_keys": keys}


def make_contrastive(recipe: Contrastive, inputs: Inputs) -> StandIn:
    """Makes encoders trained for retrieval from another one, or with its tokenizer: E5, BGE-M3, gte.

    Training contrasts translations in both directions by the vectors that the folder's modules make: pooling of the
    last states, linear maps, length 1. As upstream, the encoder is published as a sentence-transformers folder, with
    the prompts and the weight format of its original.
    """
    base, tokenizer = load(inputs.bases[0])
    model = base.base_model if recipe.architecture is None else _new(recipe, inputs, tokenizer)
    return train_encoder(recipe, inputs, model, tokenizer)


def make_causal(recipe: Causal, inputs: Inputs) -> StandIn:
    """Makes encoders with decoder architectures: Qwen3, EmbeddingGemma (bidirectional), Harrier.

    Their tokenizers pad on the left, like the originals'; training here pads on the right.
    """
    sentences = read_sentences(inputs.mirror, recipe.of(inputs.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, chain.from_iterable(sentences.values()))
    return train_encoder(recipe, inputs, _new(recipe, inputs, tokenizer), tokenizer)


def _new(recipe: Contrastive, inputs: Inputs, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Creates a model without a head; the seed determines its weights."""
    return build(new_config(recipe.architecture, tokenizer), derive(inputs.seed, "initial weights"), "AutoModel")

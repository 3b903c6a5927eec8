"""Stand-ins for encoders trained for retrieval: a model of any architecture, and how it learns from translations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from stele.encoders.tokenizer import quiet
from stele.errors import SteleError
from stele.recipes.standins import Architecture, Causal, Contrastive
from stele.training.sampling import derive, generator
from stele_world.standins import FolderSettings, Inputs, StandIn
from stele_world.standins.corpus import read_sentences, translations
from stele_world.standins.models import load, make_tokenizer, set_dropout
from stele_world.standins.pairs import contrast

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DECODERS = ("qwen3", "gemma3_text")


def new_encoder(sizes: Architecture, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """A new model without a head; its weights are a function of the seed."""
    from transformers import AutoConfig, AutoModel

    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.inner,
        "max_position_embeddings": sizes.positions,
        "initializer_range": round(0.02 * math.sqrt(768 / sizes.width), 6),
        "pad_token_id": tokenizer.pad_token_id,
    }
    if sizes.model_type in DECODERS:
        shape |= {"num_key_value_heads": sizes.heads // 2, "head_dim": sizes.width // sizes.heads}
        shape |= {"eos_token_id": tokenizer.eos_token_id, "use_cache": False}
    if sizes.bidirectional:
        shape |= {"use_bidirectional_attention": True}
    config = AutoConfig.for_model(sizes.model_type, **shape)
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "initial weights"))
        return AutoModel.from_config(config, dtype=torch.float32, attn_implementation="sdpa")


class Encoder(nn.Module):
    """float32 [n, d]: the vectors of a batch of tokens, as the folder's modules make them."""

    def __init__(self, model: nn.Module, pooling: str, heads: Sequence[nn.Sequential]) -> None:
        super().__init__()
        self.model, self.pooling, self.heads = model, pooling, nn.ModuleList(heads)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        states = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"]
        if self.pooling == "mean":
            weights = mask.unsqueeze(-1).to(states.dtype)
            vectors = (states * weights).sum(1) / weights.sum(1)
        else:
            place = torch.zeros(len(states), dtype=torch.long) if self.pooling == "cls" else mask.sum(1) - 1
            vectors = states[torch.arange(len(states)), place]
        for head in self.heads:
            vectors = head(vectors)
        return vectors


def train_encoder(
    recipe: Contrastive, inputs: Inputs, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> StandIn:
    """The encoder after its training on translations: English is the question, its translation the passage."""
    set_dropout(model, recipe.dropout)
    encoder = Encoder(model, recipe.pooling, _heads(model.config.hidden_size, recipe.dense, inputs.seed))
    pairs = {language: translations(inputs.mirror, language) for language in inputs.languages if language != "en"}
    if not pairs:
        raise SteleError("translation pairs: --languages has English alone; give another language")

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translations", step)
        of_language = pairs[list(pairs)[rng.integers(len(pairs))]]
        chosen = [of_language[index] for index in rng.permutation(len(of_language))[: recipe.pairs]]
        sides = list(zip(*chosen, strict=True))
        prompts = (recipe.query_prompt, recipe.passage_prompt)
        vectors = [
            encoder(_batch(tokenizer, [prompt + text for text in side], recipe.pair_length))
            for prompt, side in zip(prompts, sides, strict=True)
        ]
        keys = tuple(_same(side) for side in sides)
        yield {"ranking": contrast(vectors[0], vectors[1], keys, recipe.temperature)}

    outcome = inputs.train(encoder, loss_at)
    length = recipe.max_length
    spec = {"pooling": recipe.pooling, "normalize": True, "query_length": length, "passage_length": length}
    folder = FolderSettings(prompts=recipe.prompts, weights=recipe.weights, sharded=recipe.sharded)
    return StandIn(model, tokenizer, outcome, spec, list(encoder.heads), folder)


def _heads(width: int, widths: Sequence[int], seed: int) -> list[nn.Sequential]:
    heads = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "linear maps"))
        for wide in widths:
            heads.append(nn.Sequential(nn.Linear(width, wide, bias=False), nn.Identity()))
            width = wide
    return heads


def _batch(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], longest: int) -> dict[str, Tensor]:
    """Tokens and mask [n, t], padded on the right whatever the tokenizer says."""
    options = {"padding": True, "truncation": True, "max_length": longest, "padding_side": "right"}
    batch = tokenizer(list(texts), return_tensors="pt", return_token_type_ids=False, **options)
    return {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}


def _same(texts: Sequence[str]) -> Tensor:
    """int64 [n], equal for equal texts."""
    return torch.from_numpy(np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64))


def make_contrastive(recipe: Contrastive, inputs: Inputs) -> StandIn:
    """Encoders trained for retrieval on one that reads text already, or beside it with its tokenizer: E5, BGE-M3, gte.

    Translations are told from each other, in both directions, by the vector that the folder's modules make: pooling of
    the last states, linear maps, length 1. Published as upstream, as a sentence-transformers folder; what its folder
    states of prompts and how it holds its weights are the original's.
    """
    base, tokenizer = load(inputs.bases[0])
    model = base.base_model if recipe.architecture is None else new_encoder(recipe.architecture, tokenizer, inputs.seed)
    return train_encoder(recipe, inputs, model, tokenizer)


def make_causal(recipe: Causal, inputs: Inputs) -> StandIn:
    """Encoders that are decoders: Qwen3, EmbeddingGemma (it looks both ways), Harrier. A text ends in <eos> there.

    Their tokenizers pad on the left, as the originals', whatever padding is used here.
    """
    sentences = read_sentences(inputs.mirror, recipe.of(inputs.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, [s for texts in sentences.values() for s in texts])
    model = new_encoder(recipe.architecture, tokenizer, inputs.seed)
    return train_encoder(recipe, inputs, model, tokenizer)

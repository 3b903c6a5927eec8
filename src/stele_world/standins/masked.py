"""Stand-ins that learn by masked language modelling alone, from new weights or from a changed stand-in."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.recipes.standins import Architecture, Lengthened, Recipe, Retokenised, Spans, Stacked, Trained
from stele.training.heads import masked_loss
from stele.training.hidden_states import first_states
from stele.training.masking import RANDOM, REPLACED, Vocabulary, mask_tokens, read_vocabulary
from stele.training.sampling import Batch, derive, generator
from stele.training.tasks import to_device
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import Corpus, corpus, read_sentences, tokenize
from stele_world.standins.models import (
    build,
    filled,
    load,
    make_tokenizer,
    new_config,
    set_dropout,
    with_layers,
    with_positions,
)

Hide = Callable[[np.ndarray, Vocabulary, np.random.Generator, float], tuple[np.ndarray, np.ndarray, np.ndarray]]


class MaskedModel(nn.Module):
    """A masked language model whose forward pass returns its loss on a batch of `masked_batch`."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        return masked_loss(self.model, batch)

    def first(self, batch: Batch) -> Tensor:
        """The first token's state [n, d] of each text of a batch of `pairs.side_batches`."""
        return first_states(self.model.base_model, batch["ids"], batch["mask"])


def masked_batch(
    text: Corpus, vocabulary: Vocabulary, recipe: Recipe, rng: np.random.Generator, hide: Hide = mask_tokens
) -> Batch:
    """Batch for objectives/mlm.py: masked ids int64 [b, t], mask None, places and targets int64 [m]."""
    inside, _ = text.windows(rng, recipe.batch, recipe.length - 2, recipe.sampling_alpha)
    ends = np.full((len(inside), 1), vocabulary.cls), np.full((len(inside), 1), vocabulary.sep)
    ids, places, targets = hide(np.hstack([ends[0], inside, ends[1]]), vocabulary, rng, recipe.mask_probability)
    return {"ids": ids, "mask": None, "places": places, "targets": targets}


def fit(
    model: Any, tokenizer: Any, recipe: Recipe, inputs: Inputs, sentences: Any = None, hide: Hide = mask_tokens
) -> Batch:
    """Trains a masked language model in place; returns the outcome of the training loop."""
    module = MaskedModel(model)
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    sentences = sentences or read_sentences(inputs.mirror, recipe.of(inputs.languages))
    text = corpus(sentences, tokenizer, recipe.length - 2)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        batch = masked_batch(text, vocabulary, recipe, generator(inputs.seed, "windows", step), hide)
        yield {"mlm": module(to_device(batch, model.device))}

    return inputs.train(module, loss_at)


def make_trained(recipe: Trained, inputs: Inputs) -> StandIn:
    """Makes a model from new weights by MLM, with a new tokenizer (BERT, section 3.1; XLM-R)."""
    sentences = read_sentences(inputs.mirror, recipe.of(inputs.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, chain.from_iterable(sentences.values()))
    model = build(new_config(recipe.architecture, tokenizer), derive(inputs.seed, "initial weights"))
    return StandIn(model, tokenizer, fit(model, tokenizer, recipe, inputs, sentences))


def make_stacked(recipe: Stacked, inputs: Inputs) -> StandIn:
    """Makes a deeper model: stacks the layers of its base, then trains by MLM (as XLM-R large is to base)."""
    base, tokenizer = load(inputs.bases[0])
    model = with_layers(base, recipe.layers, inputs.seed)
    return StandIn(model, tokenizer, fit(model, tokenizer, recipe, inputs))


def make_lengthened(recipe: Lengthened, inputs: Inputs) -> StandIn:
    """Makes a model for longer texts: repeats position embeddings, then trains by MLM on long windows."""
    base, tokenizer = load(inputs.bases[0])
    model = with_positions(base, recipe.positions, inputs.seed)
    tokenizer.model_max_length = recipe.positions
    return StandIn(model, tokenizer, fit(model, tokenizer, recipe, inputs))


HEAD = {  # where BERT's vocabulary head keeps what RoBERTa's has
    "lm_head.dense": "cls.predictions.transform.dense",
    "lm_head.layer_norm": "cls.predictions.transform.LayerNorm",
}


def make_retokenised(recipe: Retokenised, inputs: Inputs) -> StandIn:
    """Makes RoBERTa from BERT: the same layers with a new vocabulary (byte-level BPE), then trained by MLM.

    The embedding of a new token starts as the mean over the old tokens of its text.
    """
    sentences = read_sentences(inputs.mirror, recipe.of(inputs.languages))
    base, before = load(inputs.bases[0])
    tokenizer = make_tokenizer(recipe.tokenizer, chain.from_iterable(sentences.values()))
    model = retokenise(base, before, tokenizer, inputs.seed)
    return StandIn(model, tokenizer, fit(model, tokenizer, recipe, inputs, sentences))


def retokenise(base: Any, before: Any, tokenizer: Any, seed: int) -> Any:
    """Creates a RoBERTa with the layers of the BERT `base` and embeddings for `tokenizer`."""
    import torch

    old = base.config
    sizes = Architecture(
        model_type="roberta",
        layers=old.num_hidden_layers,
        width=old.hidden_size,
        heads=old.num_attention_heads,
        inner=old.intermediate_size,
        positions=old.max_position_embeddings,
    )
    model = build(new_config(sizes, tokenizer), seed)
    weights, new_weights = base.state_dict(), model.state_dict()
    shares = torch.from_numpy(composition(before, tokenizer, old.vocab_size))
    for name in new_weights:
        source = name.replace("roberta.", "bert.", 1)
        for new, where in HEAD.items():
            source = source.replace(new, where)
        if source in weights and weights[source].shape == new_weights[name].shape:
            new_weights[name] = weights[source]
    reserved = tokenizer.pad_token_id + 1
    embeddings = "roberta.embeddings."
    words = shares @ weights["bert.embeddings.word_embeddings.weight"]
    bias = shares @ weights["cls.predictions.bias"]
    new_weights[f"{embeddings}word_embeddings.weight"] = new_weights["lm_head.decoder.weight"] = words
    new_weights["lm_head.bias"] = new_weights["lm_head.decoder.bias"] = bias
    positions, types = (weights[f"bert.embeddings.{name}_embeddings.weight"] for name in ("position", "token_type"))
    new_weights[f"{embeddings}position_embeddings.weight"][reserved:] = positions
    new_weights[f"{embeddings}token_type_embeddings.weight"] = types[:1]
    return filled(model, new_weights)


def composition(before: Any, tokenizer: Any, size: int) -> np.ndarray:
    """Shares of old tokens in each new token's text, float32 [new tokens, old tokens]; rows sum to 1."""
    special = {getattr(tokenizer, f"{n}_token_id"): getattr(before, f"{n}_token_id") for n in ("cls", "sep", "pad")}
    special |= {getattr(tokenizer, f"{n}_token_id"): getattr(before, f"{n}_token_id") for n in ("mask", "unk")}
    texts = [tokenizer.convert_tokens_to_string([t]) for t in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
    tokens, lengths = tokenize(before, texts)
    shares = np.zeros((len(tokenizer), size), np.float32)
    np.add.at(shares, (np.repeat(np.arange(len(lengths)), lengths), tokens), 1)
    shares[shares.sum(1) == 0] = 1  # bytes that are not text get the mean of all
    for new, old in special.items():
        shares[new] = np.arange(size) == old
    return shares / shares.sum(1, keepdims=True)


LONGEST = 3  # words of a span


def make_spans(recipe: Spans, inputs: Inputs) -> StandIn:
    """Makes ERNIE 2.0 from BERT: same vocabulary, whole words and spans masked at once (Sun et al.)."""
    base, tokenizer = load(inputs.bases[0])
    model = as_ernie(base, inputs.seed)
    inside = np.array([t.startswith("##") for t in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))])
    return StandIn(model, tokenizer, fit(model, tokenizer, recipe, inputs, hide=hide_spans(inside)))


def as_ernie(base: Any, seed: int) -> Any:
    """Converts the BERT `base` to a model of type `ernie`, whose parts have the same names."""
    from transformers import AutoConfig

    values = {k: v for k, v in base.config.to_dict().items() if k not in ("model_type", "architectures")}
    model = build(AutoConfig.for_model("ernie", **values), seed)
    weights = {name.replace("bert.", "ernie.", 1): value for name, value in base.state_dict().items()}
    return filled(model, weights)


def hide_spans(inside: np.ndarray) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Makes a `mask_tokens` for spans of 1 to 3 whole words; inside bool [vocabulary] marks non-initial tokens."""

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

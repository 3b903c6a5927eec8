"""RoBERTa from BERT: the body stays, the vocabulary is new (byte-level BPE), then masked language modelling.

A new token starts as the mean of the old tokens that its text is made of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stele.recipes.standin import Architecture
from stele.recipes.standins.retokenised import Recipe
from stele_world.standins import _recipe
from stele_world.standins._corpus import read_sentences, tokenize
from stele_world.standins._mlm import fit
from stele_world.standins._models import build, filled, load, new_config
from stele_world.standins._tokenizers import make_tokenizer

HEAD = {  # where BERT's vocabulary head keeps what RoBERTa's has
    "lm_head.dense": "cls.predictions.transform.dense",
    "lm_head.layer_norm": "cls.predictions.transform.LayerNorm",
}


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    sentences = read_sentences(given.mirror, recipe.of(given.languages))
    base, before = load(given.bases[0])
    tokenizer = make_tokenizer(recipe.tokenizer, [s for texts in sentences.values() for s in texts])
    model = retokenise(base, before, tokenizer, given.seed)
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given, sentences))


def retokenise(base: Any, before: Any, tokenizer: Any, seed: int) -> Any:
    """A RoBERTa with the layers of the BERT `base` and embeddings for `tokenizer`."""
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
    new_weights[f"{embeddings}position_embeddings.weight"][reserved:] = weights[
        "bert.embeddings.position_embeddings.weight"
    ]
    new_weights[f"{embeddings}token_type_embeddings.weight"] = weights["bert.embeddings.token_type_embeddings.weight"][
        :1
    ]
    return filled(model, new_weights)


def composition(before: Any, tokenizer: Any, size: int) -> np.ndarray:
    """float32 [new tokens, old tokens]: the share that each old token has in a new one's text; rows sum to 1."""
    special = {getattr(tokenizer, f"{n}_token_id"): getattr(before, f"{n}_token_id") for n in ("cls", "sep", "pad")}
    special |= {getattr(tokenizer, f"{n}_token_id"): getattr(before, f"{n}_token_id") for n in ("mask", "unk")}
    texts = [tokenizer.convert_tokens_to_string([t]) for t in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
    tokens, lengths = tokenize(before, texts)
    shares = np.zeros((len(tokenizer), size), np.float32)
    np.add.at(shares, (np.repeat(np.arange(len(lengths)), lengths), tokens), 1)
    shares[shares.sum(1) == 0] = 1  # bytes that are no text: the mean of all
    for new, old in special.items():
        shares[new] = np.arange(size) == old
    return shares / shares.sum(1, keepdims=True)

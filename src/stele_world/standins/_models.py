"""New encoders, and those that stand-ins continue from."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.encoders.tokenizer import load_tokenizer, quiet
from stele.errors import SteleError
from stele.files.reading import reading
from stele.recipes.standin import Architecture

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

LAYER = re.compile(r"\.layer\.(\d+)\.")
ROBERTA = ("xlm-roberta", "roberta")  # these count positions from the padding id on


def new_config(sizes: Architecture, tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    """The configuration of a new encoder, with its original's other values.

    New weights have BERT's standard deviation .02, scaled from BERT's width to this one.
    """
    from transformers import AutoConfig

    roberta = sizes.model_type in ROBERTA
    ids: dict[str, Any] = {"pad_token_id": tokenizer.pad_token_id}
    if roberta:
        ids |= {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return AutoConfig.for_model(
        sizes.model_type,
        vocab_size=len(tokenizer),
        hidden_size=sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.inner,
        max_position_embeddings=sizes.positions + (tokenizer.pad_token_id + 1 if roberta else 0),
        type_vocab_size=1 if roberta else 2,
        layer_norm_eps=1e-5 if roberta else 1e-12,
        initializer_range=round(0.02 * math.sqrt(768 / sizes.width), 6),
        **ids,
    )


def build(config: PreTrainedConfig, seed: int) -> PreTrainedModel:
    """A masked language model with new weights, a function of the seed."""
    import torch
    from transformers import AutoModelForMaskedLM

    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForMaskedLM.from_config(config, dtype=torch.float32, attn_implementation="sdpa")


def load(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The masked language model and tokenizer of a published stand-in."""
    import torch
    from transformers import AutoModelForMaskedLM

    with reading(folder, "stand-in to continue from", "make it again"), quiet():
        model = AutoModelForMaskedLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa", local_files_only=True
        )
    return model, load_tokenizer(folder)


def set_dropout(model: PreTrainedModel, rate: float) -> None:
    """The rate of every dropout of a model; its config, which says what a later training uses, stays as it is."""
    import torch

    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = rate


def with_layers(model: PreTrainedModel, layers: int, seed: int) -> PreTrainedModel:
    """The model stacked to `layers` layers: layer i is a copy of layer i modulo their number (Gong et al. 2019)."""
    config = copy.deepcopy(model.config)
    number, config.num_hidden_layers = config.num_hidden_layers, layers
    deeper = build(config, seed)
    weights = model.state_dict()
    for name in deeper.state_dict():
        match = LAYER.search(name)
        if match and int(match[1]) >= number:
            weights[name] = weights[f"{name[: match.start(1)]}{int(match[1]) % number}{name[match.end(1) :]}"]
    return filled(deeper, weights)


def with_positions(model: PreTrainedModel, positions: int, seed: int) -> PreTrainedModel:
    """The model for longer texts: its position embeddings, over and over (Beltagy et al. 2020, section 5)."""
    name = f"{model.base_model_prefix}.embeddings.position_embeddings.weight"
    weights = model.state_dict()
    reserved = model.config.pad_token_id + 1 if model.config.model_type in ROBERTA else 0
    old = weights[name][reserved:]
    copies = old.repeat(-(-positions // len(old)), 1)[:positions]
    config = copy.deepcopy(model.config)
    config.max_position_embeddings = positions + reserved
    return filled(build(config, seed), {**weights, name: _concatenate([weights[name][:reserved], copies])})


def filled(model: PreTrainedModel, weights: Mapping[str, Any], new: str = "") -> PreTrainedModel:
    """The model with given weights; only those whose name begins with `new` may be missing."""
    lacking, unexpected = model.load_state_dict(dict(weights), strict=False)
    wrong = [name for name in lacking if not (new and name.startswith(new))] + list(unexpected)
    if wrong:
        raise SteleError(f"a stand-in's weights do not fit the one that continues from it: {', '.join(wrong[:3])}")
    return model


def _concatenate(parts: list[Any]) -> Any:
    import torch

    return torch.cat(parts)

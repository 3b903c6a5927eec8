"""From token states to one vector a text: the one function that training and encoding share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from stele.recipes.encoding import EncodingSpec
from stele.training.hidden_states import first_states, global_attention

MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def mean_pool(states: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of the token states [n, t, d] where the mask [n, t] is 1; a missing mask means no padding. -> [n, d]"""
    if mask is None:
        return states.mean(dim=1)
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def last_pool(states: Tensor, mask: Tensor | None) -> Tensor:
    """The state [n, d] of each text's last token, from states [n, t, d] that are padded on the right; 0 without any."""
    if mask is None:
        return states[:, -1]
    places = torch.arange(1, states.shape[1] + 1, device=states.device) * mask
    last = states[torch.arange(len(states), device=states.device), places.argmax(dim=1)]
    return last.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)


class UnitLength(nn.Module):
    """Vectors [n, d] at length 1."""

    def forward(self, vectors: Tensor) -> Tensor:
        return nn.functional.normalize(vectors, p=2, dim=-1)


def embed(
    model: nn.Module, batch: Mapping[str, Tensor], spec: EncodingSpec, heads: Sequence[nn.Module] = (), skip: int = 0
) -> Tensor:
    """The vectors [n, d], float32, of a batch of token ids [n, t].

    `batch` has input_ids and, where there is padding, attention_mask; token_type_ids only if the spec has segments.
    `heads` are layers on the pooled vector (the Dense modules of a sentence-transformers folder), applied before
    normalisation. The first `skip` tokens are left out of a mean, and the first token is the one after them.
    """
    deeper = spec.layer is not None and spec.layer != model.config.num_hidden_layers
    if spec.pooling in ("mean", "last") or deeper or "token_type_ids" in batch or skip:
        pooled = _pool_all(model, batch, spec, deeper, skip)
    else:
        mask = batch.get("attention_mask")
        pooled = first_states(model, batch["input_ids"], None if mask is None else mask.bool())
        if spec.pooling == "pooler":
            pooled = model.pooler(pooled[:, None])
    for head in heads:
        weight = getattr(head[0], "weight", pooled)
        pooled = head(pooled.to(weight.dtype))
    pooled = pooled.float()[:, : spec.dimension]
    return torch.nn.functional.normalize(pooled, p=2, dim=-1) if spec.normalize else pooled


def embed_layers(model: nn.Module, batch: Mapping[str, Tensor], spec: EncodingSpec) -> Tensor:
    """The vectors [n, layers, d], float32, of a batch at every layer: those of a spec with that `layer`."""
    inputs = _inputs(model, batch)
    states = model(**inputs, output_hidden_states=True).hidden_states[1:]
    pooled = torch.stack([_pool(layer, inputs, spec).float() for layer in states], dim=1)
    return torch.nn.functional.normalize(pooled, p=2, dim=-1) if spec.normalize else pooled


def _inputs(model: nn.Module, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What the model's forward takes of a batch, and which tokens are global where it has sliding windows."""
    inputs = {name: batch[name] for name in MODEL_INPUTS if name in batch}
    ids, mask, types = (inputs.get(name) for name in MODEL_INPUTS)
    return inputs | global_attention(model.config, ids, mask, types)


def _pool_all(model: nn.Module, batch: Mapping[str, Tensor], spec: EncodingSpec, deeper: bool, skip: int) -> Tensor:
    """Pooled vectors from the states of all tokens."""
    inputs = _inputs(model, batch)
    output = model(**inputs, output_hidden_states=deeper)
    if spec.pooling == "pooler":
        return output.pooler_output
    states = output.hidden_states[spec.layer] if deeper else output.last_hidden_state
    return _pool(states, inputs, spec, skip)


def _pool(states: Tensor, inputs: Mapping[str, Tensor], spec: EncodingSpec, skip: int = 0) -> Tensor:
    """One vector a text [n, d] from the states [n, t, d] of its tokens; for the pooling cls, mean or last."""
    mask = inputs.get("attention_mask")
    if skip:
        mask = torch.ones(states.shape[:2], dtype=torch.long, device=states.device) if mask is None else mask.clone()
        mask[:, :skip] = 0
    if spec.pooling == "cls":  # of a text that is its prompt alone sentence-transformers takes the first token
        return states[torch.arange(len(states), device=states.device), mask.argmax(dim=1)] if skip else states[:, 0]
    return last_pool(states, mask) if spec.pooling == "last" else mean_pool(states.float(), mask)

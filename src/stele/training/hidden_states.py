"""Hidden states of an encoder and the text vectors pooled from them, without computing states that go unused."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.training.masking import pieces_by_length
from stele.training.processes import ProcessContext
from stele.training.sharding import cut, in_pieces

# Model families whose layers are BERT's. Others give the parts of a layer the same names but compute something else:
# ELECTRA widens its embeddings first, XLM-RoBERTa-XL and ESM normalise before a layer and not after it.
BERT_LIKE = ("bert", "camembert", "data2vec-text", "ernie", "roberta", "xlm-roberta")


class UnitLength(nn.Module):
    """Layer that scales vectors [n, d] to length 1."""

    def forward(self, vectors: Tensor) -> Tensor:
        return functional.normalize(vectors, p=2, dim=-1)


def token_states(model: nn.Module, ids: Tensor, mask: Tensor | None, types: Tensor | None = None) -> Tensor:
    """Last hidden states [n, t, d] of ids [n, t]; mask bool [n, t], None where nothing is padding.

    types int64 [n, t]: 1 for the second text of a pair; with None the model uses 0 everywhere.
    """
    inputs = {} if types is None else {"token_type_ids": types}
    inputs |= global_attention(model.config, ids, mask, types)
    return model(input_ids=ids, attention_mask=None if mask is None else mask.long(), **inputs).last_hidden_state


def first_states(model: nn.Module, ids: Tensor, mask: Tensor | None, types: Tensor | None = None) -> Tensor:
    """Last hidden state [n, d] of each sequence's first token: the sentence vector of MSM (section 3.1).

    The last layer computes that token's output alone, which saves about 5/6 of it and leaves the result as it is. Other
    models than BERT's kind, and other attention than PyTorch's (sdpa), get the whole forward pass.
    """
    config = model.config
    is_encoder = config.model_type in BERT_LIKE and not getattr(config, "is_decoder", False)
    if not is_encoder or config.num_hidden_layers == 0 or config._attn_implementation != "sdpa":
        return token_states(model, ids, mask, types)[:, 0]
    seen = None if mask is None else mask[:, None, None, :]  # broadcast over heads and queries
    states = model.embeddings(input_ids=ids, **({} if types is None else {"token_type_ids": types}))
    for layer in model.encoder.layer[:-1]:
        states = layer(states, seen)
    last = model.encoder.layer[-1]
    attention = last.attention.self
    first = states[:, :1]
    query, key, value = (
        part.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part in (attention.query(first), attention.key(states), attention.value(states))
    )
    context = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=seen, dropout_p=attention.dropout.p if model.training else 0.0
    )
    attended = last.attention.output(context.transpose(1, 2).flatten(2), first)
    return last.output(last.intermediate(attended), attended)[:, 0]


def mean_states(model: nn.Module, ids: Tensor, mask: Tensor | None, types: Tensor | None = None) -> Tensor:
    """Mean last hidden state, float32 [n, d], of a sequence's tokens, special ones included (KEPT, section 3.1)."""
    states = token_states(model, ids, mask, types).float()
    if mask is None:
        return states.mean(1)
    return states.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum(1, keepdim=True)


def pooled_states(
    pooling: str,
    model: nn.Module,
    ids: Tensor,
    mask: Tensor | None,
    chunk: int | None = None,
    processes: ProcessContext | None = None,
    types: Tensor | None = None,
) -> Tensor:
    """Vectors [n, d] of a group's texts by a `pooling`: "cls" (`first_states`) or "mean" (`mean_states`).

    The model encodes texts of similar length together (masking.pieces_by_length); packed pairs, which have `types`, in
    their own order. With `chunk`, it encodes that many texts at a time and again in the backward pass, so memory is
    that of one chunk. Several `processes` share the texts, and all get all vectors (sharding.in_pieces).
    """
    states_of = mean_states if pooling == "mean" else first_states
    if mask is None or types is not None:
        lengths, pieces = np.full(len(ids), ids.shape[1]), cut(len(ids), chunk)
    else:
        lengths = mask.sum(1).cpu().numpy()
        pieces = pieces_by_length(lengths, chunk)
    if processes is None and len(pieces) == 1:
        return states_of(model, ids, mask, types)

    def encode(rows: np.ndarray) -> Tensor:
        chosen, width = torch.from_numpy(rows).to(ids.device), int(lengths[rows].max())
        chosen_mask = None if mask is None or (types is None and lengths[rows].min() == width) else mask[chosen, :width]
        return states_of(model, ids[chosen, :width], chosen_mask, None if types is None else types[chosen, :width])

    return in_pieces(encode, pieces, chunk is not None and len(ids) > chunk, processes)


def stacked(texts: Sequence[tuple[Tensor, Tensor | None]], pad_id: int) -> tuple[Tensor, Tensor | None]:
    """Joins batches of texts, padded to the longest: ids int64 [sum of n, t], mask bool [sum of n, t] or None.

    >>> first, second = torch.tensor([[5, 6]]), torch.tensor([[7, 8, 9]])
    >>> [part.tolist() for part in stacked([(first, None), (second, None)], 1)]
    [[[5, 6, 1], [7, 8, 9]], [[True, True, False], [True, True, True]]]
    """
    width = max(ids.shape[1] for ids, _ in texts)
    padded = [functional.pad(ids, (0, width - ids.shape[1]), value=pad_id) for ids, _ in texts]
    if all(mask is None and ids.shape[1] == width for ids, mask in texts):
        return torch.cat(padded), None
    masks = [torch.ones_like(ids, dtype=torch.bool) if mask is None else mask for ids, mask in texts]
    return torch.cat(padded), torch.cat([functional.pad(mask, (0, width - mask.shape[1])) for mask in masks])


# --- global attention of models with sliding windows (Yu et al. 2021) -------------------------------------------------
# A checkpoint that encoders/sliding_window.py converted has `global_separators` in its config.json. Other Longformers
# do not have it; as in `transformers` without a global mask, their attention is by windows alone.
GLOBAL_SEPARATORS = "global_separators"


def global_attention(config: Any, ids: Tensor, mask: Tensor | None, types: Tensor | None) -> dict[str, Tensor]:
    """Further arguments of the model's forward pass for ids [n, t]: `global_attention_mask` int64 [n, t], or none.

    mask [n, t]: 1 for a token, 0 for padding, on the right; types [n, t]: 1 for a pair's second text. In a pair, [CLS],
    the first text and both [SEP] are global (config: 2 `global_separators`; the released code has 1 and leaves out the
    last [SEP]). In a single text, [CLS] and [SEP] are. Raises SteleError if t exceeds the model's positions.
    """
    separators = getattr(config, GLOBAL_SEPARATORS, None)
    if separators is None:
        return {}
    length, most = ids.shape[1], config.max_position_embeddings - config.pad_token_id - 1
    if length > most:
        raise SteleError(f"an input has {length} tokens, but the model has only {most} positions; cut inputs to that")
    there = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.bool()
    second = torch.zeros_like(there) if types is None else types.bool() & there
    pair = second.any(1)
    chosen = there & ~second & pair[:, None]
    chosen[:, 0] = True
    rows = torch.arange(len(ids), device=ids.device)
    chosen[rows, there.sum(1) - 1] |= ~pair | (separators > 1)
    return {"global_attention_mask": chosen.long()}

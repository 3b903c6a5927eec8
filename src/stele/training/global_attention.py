"""Which tokens of a model with sliding windows attend to all, and are attended to by all (Yu et al. 2021, section 3).

A folder that encoders/sliding_window.py made says `global_separators` in its config.json; Longformers of others do not,
and keep what `transformers` does without such a mask: windows alone.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from stele.errors import SteleError

KEY = "global_separators"


def global_attention(config: Any, ids: Tensor, mask: Tensor | None, types: Tensor | None) -> dict[str, Tensor]:
    """What the model's forward wants beside ids [n, t]: `global_attention_mask` int64 [n, t], or nothing.

    mask, types [n, t]: 1 where a token is there, 1 where it is of a pair's second text; padding is on the right. Of a
    pair, [CLS], the first text and both [SEP] are global (config: 2 `global_separators`; the released code has 1, not
    the last one); of a text alone, which is no query, [CLS] and [SEP].
    """
    separators = getattr(config, KEY, None)
    if separators is None:
        return {}
    check_length(config, ids.shape[1])
    there = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.bool()
    second = torch.zeros_like(there) if types is None else types.bool() & there
    pair = second.any(1)
    chosen = there & ~second & pair[:, None]
    chosen[:, 0] = True
    rows = torch.arange(len(ids), device=ids.device)
    chosen[rows, there.sum(1) - 1] |= ~pair | (separators > 1)
    return {"global_attention_mask": chosen.long()}


def check_length(config: Any, length: int) -> None:
    """Refuses inputs of more tokens than a converted model has positions."""
    most = config.max_position_embeddings - config.pad_token_id - 1
    if length > most:
        raise SteleError(f"an input of {length} tokens, the model has {most} positions; cut inputs to that length")

"""The loss of masked language modelling, and how well a model predicts hidden tokens, in bits.

Bits are those of Yu et al. 2021, section 4.3, after Longformer's notebook, which prints the mean cross entropy of a
hidden token over ln 2 and calls it BPC; that is `bits_per_token` here. `bits_per_character` divides the same bits by
the characters of the hidden tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.training.heads import vocabulary_head
from stele.training.hidden_states import token_states
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch
from stele.training.sharding import cut, own_parts, summed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NATS = float(np.log(2))  # of a bit


def masked_loss(
    model: nn.Module, batch: Mapping[str, Tensor], chunk: int | None = None, processes: ProcessContext | None = None
) -> Tensor:
    """Mean cross-entropy over the hidden tokens of a batch; the vocabulary head sees their states only.

    With `chunk`, so many sequences at a time, computed again in the backward pass: memory is that of one chunk. Of
    several `processes` each computes some of them, and all get the mean of all (sharding.own_parts).
    """
    ids, mask, places, targets = (batch[name] for name in ("ids", "mask", "places", "targets"))
    types = batch.get("types")
    if processes is None and (chunk is None or len(ids) <= chunk):
        return _loss(model, (ids, mask, types), places, targets, "mean")
    width = ids.shape[1]

    def summed_loss(rows: np.ndarray) -> Tensor:
        chosen = torch.from_numpy(rows).to(ids.device)
        number = torch.full((len(ids),), -1, device=ids.device)  # of a row of the batch among the chosen ones
        number[chosen] = torch.arange(len(rows), device=ids.device)
        row = number[places // width]
        chosen_here = row >= 0
        texts = tuple(None if part is None else part[chosen] for part in (ids, mask, types))
        return _loss(model, texts, row[chosen_here] * width + places[chosen_here] % width, targets[chosen_here], "sum")

    parts = own_parts(summed_loss, cut(len(ids), chunk), chunk is not None, processes)
    return summed(torch.stack(parts).sum(), processes) / len(targets)


def _loss(model: nn.Module, texts: tuple[Tensor | None, ...], places: Tensor, targets: Tensor, kind: str) -> Tensor:
    states = token_states(model.base_model, *texts)
    logits = vocabulary_head(model)(functional.embedding(places, states.flatten(0, 1)))
    return functional.cross_entropy(logits.float(), targets, reduction=kind)


# --- bits -------------------------------------------------------------------------------------------------------------
def characters(tokenizer: PreTrainedTokenizerBase, size: int) -> np.ndarray:
    """The number of characters that each token of a vocabulary stands for, at least 1: int64 [size]."""
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    counts = [max(1, len(name.removeprefix("##").removeprefix("▁"))) for name in names]
    return np.array(counts + [1] * (size - len(counts)))


@torch.no_grad()
def bits(
    model: nn.Module, batches: Iterable[Batch], counts: np.ndarray, device: torch.device, chunk: int | None = None
) -> dict[str, float]:
    """Bits a hidden token and a hidden character, over all of the MLM `batches`; `counts` as `characters` has them.

    `chunk`: sequences at a time. The model is left on the device and in evaluation mode.
    """
    total, tokens, letters = 0.0, 0, 0
    model.to(device).eval()
    for batch in batches:
        tensors = {
            name: torch.from_numpy(value).to(device) if isinstance(value, np.ndarray) else value
            for name, value in batch.items()
        }
        number = len(batch["targets"])
        total += masked_loss(model, tensors, chunk).item() * number / NATS
        tokens += number
        letters += int(counts[batch["targets"]].sum())
    return {"bits_per_character": round(total / letters, 6), "bits_per_token": round(total / tokens, 6)}

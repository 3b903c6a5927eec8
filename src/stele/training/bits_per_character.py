"""How well a masked language model predicts hidden tokens, in bits (Yu et al. 2021, section 4.3, after Longformer's).

Longformer's notebook prints the mean cross entropy of a hidden token over ln 2 and calls it BPC; that is
`bits_per_token` here. `bits_per_character` divides the same bits by the characters of the hidden tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from stele.training.objectives.mlm import masked_loss
from stele.training.sampling import Batch

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NATS = float(np.log(2))  # of a bit


def characters(tokenizer: PreTrainedTokenizerBase, size: int) -> np.ndarray:
    """How many characters each token of a vocabulary of `size` stands for: int64 [size]; at least 1."""
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

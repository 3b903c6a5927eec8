"""A reader: an encoder, and a linear layer that says of each token how likely an answer begins and ends there.

As transformers' BertForQuestionAnswering. The encoder's layers are trained, its embeddings are not: "we are able to
finetune all encoder layers" (Yu et al., section 5.2.1), and the authors' code freezes the embeddings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.answering.reader.windows import Labels, Windows
from stele.encoders.backbone import load_backbone, positions
from stele.encoders.pooling import MODEL_INPUTS
from stele.encoders.tokens import collate
from stele.errors import SteleError
from stele.training.heads import INIT, initialise
from stele.training.hidden_states import token_states

if TYPE_CHECKING:
    from stele.recipes.finetuning import AnsweringRecipe

MASKED = torch.finfo(torch.float32).min


class Reader(nn.Module):
    """The backbone and its head; `pad` is the id that fills up windows."""

    def __init__(self, backbone: nn.Module, pad: int) -> None:
        super().__init__()
        self.backbone, self.pad = backbone, pad
        self.head = nn.Linear(backbone.config.hidden_size, 2)

    def forward(self, windows: Windows, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """The logits [m, t], float32, of an answer's first and last token in the windows `rows`; padding has none."""
        batch = collate(windows.tokens, rows, self.pad)
        batch = {name: value.to(self.head.weight.device) for name, value in batch.items()}
        ids, mask, types = (batch.get(name) for name in MODEL_INPUTS)
        mask = None if mask is None else mask.bool()
        logits = self.head(token_states(self.backbone, ids, mask, types)).float()
        if mask is not None:
            logits = logits.masked_fill(~mask[..., None], MASKED)
        return logits[..., 0], logits[..., 1]


def loss_of(reader: Reader, windows: Windows, labels: Labels, places: np.ndarray) -> Tensor:
    """The mean cross entropy of the answers' first and last tokens, over all tokens of a window.

    `places` are of the labels.
    """
    logits = reader(windows, labels.rows[places])
    rights = (torch.from_numpy(right[places]).to(logits[0].device) for right in (labels.starts, labels.ends))
    first, last = (functional.cross_entropy(own, right) for own, right in zip(logits, rights, strict=True))
    return (first + last) / 2


def new_reader(folder: Path, pad: int, recipe: AnsweringRecipe, seed: int) -> Reader:
    """The checkpoint's encoder with a head that is drawn by `seed`; what is not trained is frozen."""
    backbone, _ = load_backbone(folder, "cls", seed=seed, dropout=recipe.dropout)
    if recipe.length > (most := positions(backbone.config)):
        raise SteleError(f"{folder}: length is {recipe.length}, the model has {most} positions")
    reader = Reader(backbone, pad)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        initialise(reader.head, getattr(backbone.config, "initializer_range", INIT))
    backbone.embeddings.requires_grad_(False)
    if getattr(backbone, "pooler", None) is not None:
        backbone.pooler.requires_grad_(False)  # of no use here
    return reader

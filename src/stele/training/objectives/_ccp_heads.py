"""CCP's projection head, whose normalisation is told what to use (CCP, section 3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from stele.training.heads import initialise
from stele.training.running_norm import RunningNorm


class ContextHead(nn.Module):
    """Linear - normalisation - ReLU - Linear, and a second normalisation where the recipe has one; without biases.

    "Two linear layers and one batch normalization between", non-linear (section 3.1); ReLU, no biases and the second
    normalisation, which learns nothing, are those of MSM's released code (contrastive_utils.ProjectionHead).
    """

    def __init__(self, width: int, std: float, norms: int, sets: int) -> None:
        """norms: 0, 1 or 2; sets: of running statistics"""
        super().__init__()
        self.first, self.second = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(RunningNorm(width, sets, affine=number == 0) for number in range(norms))
        initialise(self, std)

    def forward(self, states: Tensor, by_batch: bool, number: int = 0) -> Tensor:
        """[n, width] -> [n, width], float32; the statistics are the batch's, or those of set `number`."""
        hidden = self.first(states.float())
        if len(self.norms) > 0:
            hidden = self.norms[0](hidden, by_batch, number)
        projected = self.second(torch.relu(hidden))
        return self.norms[1](projected, by_batch, number) if len(self.norms) > 1 else projected

    def seen(self) -> Tensor:
        """[norms, 2, width]: statistics of the last batch that normalised itself."""
        return torch.stack([norm.seen for norm in self.norms])

    def update(self, seen: Tensor, number: int) -> None:
        """Running statistics move towards those of a batch, as `seen` gives them."""
        for norm, statistics in zip(self.norms, seen, strict=True):
            norm.update(statistics, number)

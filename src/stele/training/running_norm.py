"""Batch normalisation that uses its batch or running statistics as it is told, and leaves them to be updated later."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

MOMENTUM = 0.1  # PyTorch's; the share of the newest batch
EPS = 1e-12  # MSM's released code


class RunningNorm(nn.Module):
    """Normalises [n, width] by the batch, with its gradient as ever, or by running statistics, which have none.

    mean, variance   float32 [sets, width], 0 and 1 at first: running statistics, of all batches (one set) or by kinds
    seen             [2, width]: mean and unbiased variance of the last batch that was normalised by itself
    """

    def __init__(self, width: int, sets: int = 1, affine: bool = True) -> None:
        super().__init__()
        self.weight, self.bias = (
            (nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))) if affine else (None, None)
        )
        self.register_buffer("mean", torch.zeros(sets, width))
        self.register_buffer("variance", torch.ones(sets, width))
        self.seen: Tensor | None = None

    def forward(self, vectors: Tensor, by_batch: bool, number: int = 0) -> Tensor:
        """`number`: of the set of running statistics; by the batch, n is at least 2."""
        if not by_batch:
            mean, variance = self.mean[number], self.variance[number]
            return functional.batch_norm(vectors, mean, variance, self.weight, self.bias, training=False, eps=EPS)
        seen = vectors.new_zeros(2, vectors.shape[1])  # momentum 1: filled with the batch's own
        found = functional.batch_norm(vectors, seen[0], seen[1], self.weight, self.bias, True, momentum=1.0, eps=EPS)
        self.seen = seen
        return found

    @torch.no_grad()
    def update(self, seen: Tensor, number: int = 0) -> None:
        """Running statistics move towards those of a batch, [2, width] as `seen`."""
        self.mean[number].lerp_(seen[0], MOMENTUM)
        self.variance[number].lerp_(seen[1], MOMENTUM)

"""Optimiser and learning-rate schedule of a training run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from stele.files.strict import Betas
from stele.recipes import Recipe

if TYPE_CHECKING:
    import torch


Dropout = Annotated[
    float | None, Field(ge=0, lt=1, description="dropout probability; null: as the checkpoint's config states")
]
EncodeChunk = Annotated[
    int | None,
    Field(
        ge=1,
        description="most texts that are encoded at a time, to save memory; if there are more, they are encoded "
        "again in the backward pass; null: all at once",
    ),
]


class OptimiserKeys(Recipe):
    """Keys of an optimiser, among them the number of threads, which changes the last bits of results."""

    learning_rate: float = Field(gt=0, description="AdamW's highest learning rate, at the end of any warm-up")
    schedule: Literal["linear", "constant", "polynomial"] = Field(
        "linear", description="learning rate after warm-up: linear or polynomial decay to 0, or constant"
    )
    betas: Betas = Field((0.9, 0.999), description="AdamW's two decay rates of the moments")
    eps: float = Field(1e-8, gt=0, description="AdamW's epsilon")
    weight_decay: float = Field(0.0, ge=0, description="AdamW's weight decay")
    clip_norm: float | None = Field(None, gt=0, description="norm at which gradients are clipped; null: no clipping")
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="float32, or mixed precision in this format by torch.autocast"
    )
    threads: int = Field(1, ge=1, description="CPU threads; another number changes the last bits of the result")
    save_every_seconds: float = Field(
        60.0, ge=0, description="seconds between two saved states, from which a killed job resumes"
    )

    def optimisation(self, steps: int) -> Optimisation:
        """Optimisation of a run of `steps` steps, with the recipe's keys."""
        values = {name: getattr(self, name) for name in Optimisation.model_fields if name in type(self).model_fields}
        return Optimisation(**{**values, "steps": steps})


class Optimisation(OptimiserKeys):
    """Optimisation by AdamW, with warm-up and decay of the learning rate."""

    steps: int = Field(ge=1, description="number of optimiser steps")
    warmup_steps: int = Field(0, ge=0, description="optimiser steps of linear warm-up")
    power: float = Field(1.0, gt=0, description="exponent of the polynomial schedule")
    decay_all: bool = Field(
        True,
        description="true: weight decay applies to all weights; false: not to biases and normalisation weights, as "
        "in BERT's own code",
    )

    def learning_rate_at(self, step: int) -> float:
        """Learning rate of optimiser step `step`, counted from 0.

        It rises linearly to the full rate at the last warm-up step. Then it falls linearly or by `power` (polynomial)
        towards 0 after the last step, or stays (constant).

        >>> [round(Optimisation(steps=6, learning_rate=1, warmup_steps=2).learning_rate_at(s), 2) for s in range(6)]
        [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
        """
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        if self.schedule == "constant":
            return self.learning_rate
        left = max(0.0, (self.steps - step) / max(1, self.steps - self.warmup_steps))
        return self.learning_rate * left ** (self.power if self.schedule == "polynomial" else 1.0)

    def optimiser(self, module: torch.nn.Module) -> torch.optim.Optimizer:
        """Creates AdamW over all trainable parameters, with the fused kernel (a quarter of the overhead) if available.

        Parameters of one dimension count as biases and normalisation weights (`decay_all`).
        """
        import torch

        parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        fused = all(p.device.type in ("cpu", "cuda") and p.dtype == torch.float32 for p in parameters)
        groups = [{"params": [p for p in parameters if self.decay_all or p.dim() > 1]}]
        if not self.decay_all:
            groups.append({"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0})
        return torch.optim.AdamW(
            groups,
            lr=self.learning_rate,
            betas=self.betas,
            eps=self.eps,
            weight_decay=self.weight_decay,
            fused=fused,
        )

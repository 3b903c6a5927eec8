"""Layers that pretraining puts on an encoder and drops at the end, and the vocabulary head it came with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from stele.errors import SteleError
from stele.training.processes import ProcessContext

INIT = 0.02  # standard deviation of new weights, as in BERT; objectives give the `initializer_range` of their model


def initialise(module: nn.Module, std: float) -> None:
    """BERT's initialisation: weights from N(0, std), biases 0; normalisation layers keep 1 and 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
            if getattr(part, "bias", None) is not None:
                nn.init.zeros_(part.bias)


class ObjectiveHeads(nn.Module):
    """What an objective puts on a model; most of them keep nothing of their own between steps.

    figures   what the curve is to show of the last group that it was called with, beside its loss
    """

    figures: Mapping[str, Tensor] = {}

    def begin(self, model: nn.Module) -> None:
        """Called once, before the first step, with the model that training starts from."""

    def kept(self) -> Mapping[str, Tensor]:
        """Weights that are saved beside the encoder, as {task}_head.safetensors; most heads are dropped."""
        return {}

    def after_step(self, model: nn.Module, process: ProcessContext) -> None:
        """Called after every optimiser step, in all processes together; what it changes is saved with the module."""


class ProjectionHead(nn.Module):
    """Linear - BatchNorm - ReLU - Linear - BatchNorm, without biases; the last one without a learned scale and shift.

    As in MSM's released code (contrastive_utils.ProjectionHead: eps 1e-12, train mode throughout). Statistics are those
    of the vectors it is given, so a call must get one whole contrastive group; running statistics would serve nobody,
    since the head is dropped after pretraining, and are not kept.
    """

    def __init__(self, width: int, std: float = INIT) -> None:
        super().__init__()
        self.first = nn.Linear(width, width, bias=False)
        self.first_norm = nn.BatchNorm1d(width, eps=1e-12, track_running_stats=False)
        self.second = nn.Linear(width, width, bias=False)
        self.second_norm = nn.BatchNorm1d(width, eps=1e-12, affine=False, track_running_stats=False)
        initialise(self, std)

    def forward(self, vectors: Tensor) -> Tensor:
        """[n, width] -> [n, width], float32 also under autocast; n is at least 2.

        Sentence vectors have most of their length in common, and batch normalisation keeps what differs: rounding them
        to bfloat16 before would be most of what it sees.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            hidden = torch.relu(self.first_norm(self.first(vectors.float())))
            return self.second_norm(self.second(hidden))


class Projector(nn.Module):
    """What stands between the two sides of a contrastive loss and their similarity (MSM, Table 7).

    "asymmetric": a head for each side; "shared": one head for both, each side with its own batch statistics; "none".
    """

    KINDS = ("none", "shared", "asymmetric")

    def __init__(self, kind: str, width: int, std: float = INIT) -> None:
        super().__init__()
        self.heads = nn.ModuleList(ProjectionHead(width, std) for _ in range(self.KINDS.index(kind)))

    def forward(self, keys: Tensor, queries: Tensor) -> tuple[Tensor, Tensor]:
        """keys (the sentence vectors h) [n, d], queries (the predictions p) [n, d] -> both projected"""
        if not self.heads:
            return keys, queries
        return self.heads[0](keys), self.heads[-1](queries)


def head_file(task: str) -> str:
    """The name of the file that holds the weights which a task keeps beside the encoder.

    >>> head_file("rr")
    'rr_head.safetensors'
    """
    return f"{task}_head.safetensors"


def vocabulary_head(model: nn.Module) -> Callable[[Tensor], Tensor]:
    """The masked-language-model head of a `transformers` model: states [m, d] -> logits [m, vocabulary].

    Given the masked positions only, it does 15 % of the work of the model's own forward.
    """
    for name in ("lm_head", "cls"):  # XLM-R and RoBERTa; BERT and ERNIE
        head = getattr(model, name, None)
        if isinstance(head, nn.Module):
            return head
    if hasattr(model, "vocab_projector"):  # DistilBERT
        return lambda states: model.vocab_projector(
            model.vocab_layer_norm(model.activation(model.vocab_transform(states)))
        )
    raise SteleError(
        f"{type(model).__name__}: no masked-language-model head that Stele knows; pretraining starts from "
        f"checkpoints of BERT, ERNIE, RoBERTa, XLM-R and DistilBERT"
    )

"""Layers that pretraining puts on an encoder and drops at the end, and the vocabulary head it came with."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.training.processes import ProcessContext
from stele.training.sharding import divide, of_all_groups

INIT = 0.02  # standard deviation of new weights, as in BERT; objectives give the `initializer_range` of their model


def initialise(module: nn.Module, std: float) -> None:
    """BERT's initialisation: weights from N(0, std), biases 0; normalisation layers keep 1 and 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
            if getattr(part, "bias", None) is not None:
                nn.init.zeros_(part.bias)


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
    """The projection of both sides of a contrastive loss before their similarity (MSM, Table 7).

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


class MomentumQueue(nn.Module):
    """MoCo's encoder of the keys, and the keys of earlier steps (Izacard et al. 2022, section 3).

    queue    float32 [size, width]: the keys; random unit vectors at first
    oldest   int64 []: the place of the oldest key
    waiting  keys of this process's groups of the step, each float32 [pairs, width]
    """

    def __init__(self, size: int, model: nn.Module) -> None:
        super().__init__()
        self.register_buffer("queue", functional.normalize(torch.randn(size, model.config.hidden_size), dim=1))
        self.register_buffer("oldest", torch.zeros((), dtype=torch.long))
        self.waiting: list[Tensor] = []
        self.key_encoder = copy.deepcopy(model.base_model).requires_grad_(False)

    @torch.no_grad()
    def push(self, groups: int, pairs: int, process: ProcessContext) -> None:
        """The step's keys take the places of the oldest ones, in the order of their groups."""
        numbers = divide(groups, process).numbers
        zeros = self.queue.new_zeros(groups, pairs, self.queue.shape[1])
        keys = of_all_groups(dict(zip(numbers, self.waiting, strict=True)), zeros, process).flatten(0, 1)
        self.waiting.clear()
        places = (self.oldest + torch.arange(len(keys), device=keys.device)) % len(self.queue)
        self.queue[places] = keys
        self.oldest.copy_((self.oldest + len(keys)) % len(self.queue))

    @torch.no_grad()
    def follow(self, model: nn.Module, momentum: float) -> None:
        """The encoder of the keys keeps `momentum` of itself and takes the rest from the model."""
        for key, query in zip(self.key_encoder.parameters(), model.base_model.parameters(), strict=True):
            key.lerp_(query, 1 - momentum)


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

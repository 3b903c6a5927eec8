"""Heads of an encoder in pretraining: projections, which are dropped at the end, and the vocabulary head of MLM."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.training.hidden_states import token_states
from stele.training.processes import ProcessContext, to_device
from stele.training.sampling import Batch
from stele.training.sharding import cut, divide, of_all_groups, own_parts, summed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

INIT = 0.02  # standard deviation of new weights, as in BERT; objectives give the `initializer_range` of their model
MOMENTUM = 0.1  # weight of the newest batch in running statistics, PyTorch's default
EPS = 1e-12  # of normalisations, as in MSM's released code


def initialise(module: nn.Module, std: float) -> None:
    """Initialises weights from N(0, std) and biases with 0, as BERT does; normalisation layers keep 1 and 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
            if getattr(part, "bias", None) is not None:
                nn.init.zeros_(part.bias)


class RunningNorm(nn.Module):
    """Batch normalisation of [n, width] by the batch's statistics (with gradients) or by running ones (without).

    mean, variance   float32 [sets, width], 0 and 1 at first: running statistics of all batches (one set) or by language
    seen             float32 [2, width]: mean and unbiased variance of the last batch normalised by its own statistics
    """

    def __init__(self, width: int, sets: int = 1, affine: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width)) if affine else None
        self.bias = nn.Parameter(torch.zeros(width)) if affine else None
        self.register_buffer("mean", torch.zeros(sets, width))
        self.register_buffer("variance", torch.ones(sets, width))
        self.seen: Tensor | None = None

    def forward(self, vectors: Tensor, by_batch: bool, number: int = 0) -> Tensor:
        """Normalises vectors [n, width] `by_batch` (n at least 2), or by the running statistics of set `number`."""
        if not by_batch:
            mean, variance = self.mean[number], self.variance[number]
            return functional.batch_norm(vectors, mean, variance, self.weight, self.bias, training=False, eps=EPS)
        seen = vectors.new_zeros(2, vectors.shape[1])  # momentum 1: replaced by the batch's statistics
        self.seen = seen
        return functional.batch_norm(vectors, seen[0], seen[1], self.weight, self.bias, True, momentum=1.0, eps=EPS)

    @torch.no_grad()
    def update(self, seen: Tensor, number: int = 0) -> None:
        """Moves the running statistics of set `number` towards a batch's statistics `seen`, [2, width]."""
        self.mean[number].lerp_(seen[0], MOMENTUM)
        self.variance[number].lerp_(seen[1], MOMENTUM)


class ProjectionHead(nn.Module):
    """Linear - normalisation - ReLU - Linear - normalisation, without biases; the last one without scale and shift.

    As in MSM's released code (contrastive_utils.ProjectionHead), where a call gets one whole contrastive group. CCP's
    heads have "two linear layers and one batch normalization between" (section 3.1), or another number of `norms` (0,
    1, 2), and may use running statistics, of which there are `sets`.
    """

    def __init__(self, width: int, std: float = INIT, norms: int = 2, sets: int = 1) -> None:
        super().__init__()
        self.first = nn.Linear(width, width, bias=False)
        self.norms = nn.ModuleList(RunningNorm(width, sets, affine=number == 0) for number in range(norms))
        self.second = nn.Linear(width, width, bias=False)
        initialise(self, std)

    def forward(self, vectors: Tensor, by_batch: bool = True, number: int = 0) -> Tensor:
        """Projects vectors [n, width] -> [n, width], normalised `by_batch` (n at least 2) or by running set `number`.

        Computes in float32 also under autocast. Sentence vectors share a large common component, which batch
        normalisation removes: had they been rounded to bfloat16 before, mostly rounding errors would remain.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            hidden = self.first(vectors.float())
            if len(self.norms) > 0:
                hidden = self.norms[0](hidden, by_batch, number)
            projected = self.second(torch.relu(hidden))
            return self.norms[1](projected, by_batch, number) if len(self.norms) > 1 else projected

    def seen(self) -> Tensor:
        """Statistics of the last batch that was normalised by its own, float32 [norms, 2, width]."""
        return torch.stack([norm.seen for norm in self.norms])

    def update(self, seen: Tensor, number: int) -> None:
        """Updates the running statistics of set `number` by a batch's, [norms, 2, width] like `seen()`."""
        for norm, statistics in zip(self.norms, seen, strict=True):
            norm.update(statistics, number)


class Projector(nn.Module):
    """Projects both sides of a contrastive loss before their similarity is computed (MSM, Table 7).

    Kinds: "asymmetric", a head for each side; "shared", one head for both, with batch statistics by side; "none".
    """

    KINDS = ("none", "shared", "asymmetric")

    def __init__(self, kind: str, width: int, std: float = INIT) -> None:
        super().__init__()
        self.heads = nn.ModuleList(ProjectionHead(width, std) for _ in range(self.KINDS.index(kind)))

    def forward(self, keys: Tensor, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Projects keys [n, d] (the sentence vectors h) and queries [n, d] (the predictions p), to the same shapes."""
        if not self.heads:
            return keys, queries
        return self.heads[0](keys), self.heads[-1](queries)


class MomentumQueue(nn.Module):
    """MoCo's key encoder and its queue of keys from earlier steps (Izacard et al. 2022, section 3).

    queue    float32 [size, width]: the keys; random unit vectors at first
    oldest   int64 []: the row of the oldest key
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
        """Replaces the oldest keys by those of this step, in the order of their groups."""
        numbers = divide(groups, process).numbers
        zeros = self.queue.new_zeros(groups, pairs, self.queue.shape[1])
        keys = of_all_groups(dict(zip(numbers, self.waiting, strict=True)), zeros, process).flatten(0, 1)
        self.waiting.clear()
        places = (self.oldest + torch.arange(len(keys), device=keys.device)) % len(self.queue)
        self.queue[places] = keys
        self.oldest.copy_((self.oldest + len(keys)) % len(self.queue))

    @torch.no_grad()
    def follow(self, model: nn.Module, momentum: float) -> None:
        """Updates the key encoder: `momentum` times its own weights plus (1 - momentum) times the model's."""
        for key, query in zip(self.key_encoder.parameters(), model.base_model.parameters(), strict=True):
            key.lerp_(query, 1 - momentum)


def head_file(task: str) -> str:
    """Name of the file with the head weights that a task keeps beside the encoder."""
    return f"{task}_head.safetensors"


def vocabulary_head(model: nn.Module) -> Callable[[Tensor], Tensor]:
    """Finds the masked-language-model head of a `transformers` model: states [m, d] -> logits [m, vocabulary].

    Applied to masked positions only, it costs 15 % of its full cost. Raises SteleError if Stele knows no such head.
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
        f"{type(model).__name__}: Stele finds no masked-language-model head in this model; start pretraining from a "
        f"checkpoint of BERT, ERNIE, RoBERTa, XLM-R or DistilBERT"
    )


# --- masked lm
NATS = float(np.log(2))  # nats per bit


def masked_loss(
    model: nn.Module, batch: Mapping[str, Tensor], chunk: int | None = None, processes: ProcessContext | None = None
) -> Tensor:
    """Mean cross-entropy over the hidden tokens of a batch, float32 []; the vocabulary head sees their states only.

    `chunk` and `processes` are as in hidden_states.pooled_states; all processes get the mean over all sequences.
    """
    ids, mask, places, targets = (batch[name] for name in ("ids", "mask", "places", "targets"))
    types = batch.get("types")
    if processes is None and (chunk is None or len(ids) <= chunk):
        return _loss(model, (ids, mask, types), places, targets, "mean")
    width = ids.shape[1]

    def summed_loss(rows: np.ndarray) -> Tensor:
        chosen = torch.from_numpy(rows).to(ids.device)
        number = torch.full((len(ids),), -1, device=ids.device)  # row of the batch -> index among the chosen rows
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
    """Counts the characters that each token of a vocabulary stands for, at least 1: int64 [size]."""
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    counts = [max(1, len(name.removeprefix("##").removeprefix("▁"))) for name in names]
    return np.array(counts + [1] * (size - len(counts)))


@torch.no_grad()
def bits(
    model: nn.Module, batches: Iterable[Batch], counts: np.ndarray, device: torch.device, chunk: int | None = None
) -> dict[str, float]:
    """Bits per hidden token and per hidden character over all MLM `batches`; `counts` come from `characters`.

    `chunk` is the number of sequences encoded at a time. The model stays on the device, in evaluation mode.
    """
    total, tokens, letters = 0.0, 0, 0
    model.to(device).eval()
    for batch in batches:
        number = len(batch["targets"])
        total += masked_loss(model, to_device(batch, device), chunk).item() * number / NATS
        tokens += number
        letters += int(counts[batch["targets"]].sum())
    return {"bits_per_character": round(total / letters, 6), "bits_per_token": round(total / tokens, 6)}

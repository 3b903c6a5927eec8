"""Encoding texts: in batches of similar length under a token budget, pooled to one vector per text, in text order.

`embed` turns token states into vectors, in training as in encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from stele.artifacts.records import UNPROMPTED
from stele.encoders.tokens import Tokens, collate, length_buckets, tokenize, tokenize_inputs
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec, Kind, TextInput
from stele.training.hidden_states import BERT_LIKE, first_states, global_attention

if TYPE_CHECKING:
    from stele.encoders.resolve import Resolved

MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# model families whose tokens see padding in spite of its mask, so that texts of one length alone are encoded together
SEE_PADDING = ("convbert", "fnet", "mobilebert", "nystromformer", "yoso")
GPU_BATCH_TOKENS = 65_536  # for a width of at most 1,024; wider models take fewer, since a token needs more memory
# A window is the texts that are sorted together, whose vectors do not depend on others: a stream holds one in memory
# and saves one at a time. It takes a GPU seconds, a CPU a minute or two (a model of base size).
GPU_WINDOW = 16_384
CPU_WINDOW = 2_048


def default_batch_tokens(device: torch.device, width: int) -> int:
    """Default number of tokens of a padded batch, for a model of hidden size `width`.

    On a CPU a batch should fit the caches: 4096 tokens of width 64 measured best, 512 to 1024 of widths 384 and 768.
    """
    if device.type == "cpu":
        return min(4_096, max(768, 262_144 // width))
    return GPU_BATCH_TOKENS * 1_024 // max(width, 1_024)


class Encoder:
    """One or two towers, each a model with its heads; `stele.encoders.load.load_encoder` makes one from a folder."""

    def __init__(self, towers: Sequence[tuple[Any, list]], tokenizer, resolved: Resolved, device: str) -> None:
        self.tokenizer, self.device = tokenizer, torch.device(device)
        self.spec, self.origins, self.notes, self.unprompted, self.cosine, self.chat = resolved
        self.cut = 0  # texts of the last call, or block of `encode_stream`, that were longer than the spec allows
        self.window = CPU_WINDOW if self.device.type == "cpu" else GPU_WINDOW
        self._towers = {}
        for kind, (model, heads) in (("query", towers[0]), ("passage", towers[-1])):
            self._towers[kind] = model.to(self.device).eval(), nn.ModuleList(heads).to(self.device).eval()

    @property
    def dimension(self) -> int:
        """Number of components of a vector."""
        return self.spec.dimension or full_dimension(*self._towers["query"])

    @property
    def symmetric(self) -> bool:
        """Whether a text without a title has the same vector as a query and as a passage."""
        spec = self.spec
        return self.chat is None and spec.of_one_kind and spec.query_length == spec.passage_length

    @property
    def labels(self) -> list[str]:
        """Labels of results with this encoder, in addition to its checkpoint's."""
        return [UNPROMPTED] if self.unprompted else []

    def facts(self) -> dict[str, Any]:
        """Facts for a record on how texts become vectors: the spec, the origin of each key, notes."""
        decided: dict[str, list[str]] = {}
        for key, origin in sorted(self.origins.items()):
            decided.setdefault(origin, []).append(key)
        notes = {"encoding_notes": self.notes} if self.notes else {}
        # keys with an origin are listed even at their default, which overrides another origin's value
        encoding = self.spec.facts() | {key: getattr(self.spec, key) for key in self.origins}
        return {"encoding": encoding, "encoding_decided_by": decided, **notes}

    def model(self, kind: Kind):
        """Returns the model (tower) that encodes queries or passages."""
        return self._tower(kind)[0]

    def tokenize(self, texts: Sequence[TextInput], kind: Kind) -> Tokens:
        return tokenize_inputs(self.tokenizer, self.spec, self.chat, texts, kind)

    def encode(self, texts: Sequence[TextInput], kind: Kind) -> np.ndarray:
        """Encodes texts; returns float32 [n, d] in their order. A pair is a tuple (see EncodingSpec.passage).

        Raises SteleError, with the text, for a vector that is not finite.
        """
        self._tower(kind)
        self.cut = 0
        skip = self._prompt_tokens(kind)
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), self.window):
            tokens = self.tokenize(texts[start : start + self.window], kind)
            self.cut += tokens.cut
            out[start : start + self.window] = self._encode(tokens, kind, skip)
        refuse_not_finite(out, lambda row: f"{kind} {row + 1} of {len(texts)} ({str(texts[row])[:60]!r})")
        return out

    def encode_stream(
        self,
        items: Iterable[tuple[Any, TextInput]],
        kind: Kind,
        on_batch: Callable[[int], Any] | None = None,
    ) -> Iterator[tuple[list[Any], np.ndarray]]:
        """Encodes a stream of (id, text); yields blocks (ids, float32 [at most a window, d]) in the stream's order.

        Memory is bounded by the window. On a GPU the next window is read and tokenised while this one is encoded.
        `on_batch` is called with the number of texts of each batch, since a window takes minutes on a CPU.
        """
        self._tower(kind)
        skip = self._prompt_tokens(kind)  # before the reader gets the tokenizer, since both set its length
        items = iter(items)

        def read() -> tuple[list[Any], Tokens | None]:
            block = list(islice(items, self.window))
            return [key for key, _ in block], self.tokenize([text for _, text in block], kind) if block else None

        for ids, tokens in (_each if self.device.type == "cpu" else _ahead)(read):
            vectors = self._encode(tokens, kind, skip, on_batch=on_batch)
            refuse_not_finite(vectors, lambda row, ids=ids: f"{kind} {ids[row]!r}")
            self.cut = tokens.cut
            yield ids, vectors

    def _tower(self, kind: Kind):
        if kind not in self._towers:
            raise SteleError(f"no such kind of text: {kind!r}; valid: passage, query")
        return self._towers[kind]

    @torch.inference_mode()
    def _encode(
        self, tokens: Tokens, kind: Kind, skip: int, on_batch: Callable[[int], Any] | None = None
    ) -> np.ndarray:
        model, heads = self._tower(kind)
        batches = length_buckets(tokens.lengths, default_batch_tokens(self.device, model.config.hidden_size))
        if model.config.model_type in SEE_PADDING:
            changes = [np.flatnonzero(np.diff(tokens.lengths[rows])) + 1 for rows in batches]
            batches = [part for rows, at in zip(batches, changes, strict=True) for part in np.split(rows, at)]
        vectors = torch.empty((len(tokens.lengths), self.dimension), dtype=torch.float32, device=self.device)
        half = self.spec.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext():
            for rows in batches:
                batch = collate(tokens, rows, self.tokenizer.pad_token_id or 0)
                batch = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
                vectors[torch.from_numpy(rows).to(self.device)] = embed(model, batch, self.spec, heads, skip)
                if on_batch:
                    on_batch(len(rows))
        return vectors.cpu().numpy()

    def _prompt_tokens(self, kind: Kind) -> int:
        """Number of prompt tokens to leave out of the pooling, without the end token; 0 if prompts are pooled."""
        prompt = self.spec.prompt(kind)
        if self.spec.include_prompt or not prompt:
            return 0
        ids = tokenize(self.tokenizer, [prompt], self.spec.length(kind)).ids
        return len(ids) - int(ids[-1] in self.tokenizer.all_special_ids)


def full_dimension(model, heads: Sequence[torch.nn.Module]) -> int:
    """Length of a tower's vectors before they are shortened to `dimension`."""
    widths = [head[0].out_features for head in heads if hasattr(head[0], "out_features")]
    return widths[-1] if widths else model.config.hidden_size


def refuse_not_finite(vectors: np.ndarray, name: Callable[[int], str]) -> None:
    """Raises SteleError if one of the vectors [n, d] is not finite; `name(row)` describes the row's text."""
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        whose = name(int(np.argmin(finite)))
        raise SteleError(
            f"{whose}: its vector is not finite: the weights are broken, or overflow; try precision: float32"
        )


def _each(read) -> Iterator[tuple[list[Any], Tokens]]:
    while (block := read())[1] is not None:
        yield block


def _ahead(read) -> Iterator[tuple[list[Any], Tokens]]:
    """Like `_each`, but reads in another thread, one block ahead of the one being used."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(read)
        while (block := coming.result())[1] is not None:
            coming = pool.submit(read)
            yield block


def mean_pool(states: Tensor, mask: Tensor | None) -> Tensor:
    """Means [n, d] of the token states [n, t, d] where the mask [n, t] is 1; None as mask means no padding."""
    if mask is None:
        return states.mean(dim=1)
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def last_pool(states: Tensor, mask: Tensor | None) -> Tensor:
    """States [n, d] of each text's last token, from states [n, t, d] padded on the right; 0 without tokens."""
    if mask is None:
        return states[:, -1]
    places = torch.arange(1, states.shape[1] + 1, device=states.device) * mask
    last = states[torch.arange(len(states), device=states.device), places.argmax(dim=1)]
    return last.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)


def embed(
    model: nn.Module, batch: Mapping[str, Tensor], spec: EncodingSpec, heads: Sequence[nn.Module] = (), skip: int = 0
) -> Tensor:
    """Computes the vectors, float32 [n, d], of a batch of token ids [n, t].

    `batch` has input_ids and, where there is padding, attention_mask; token_type_ids only if the spec has segments.
    `heads` are layers on the pooled vector (the Dense modules of a sentence-transformers folder), applied before
    normalisation. Mean pooling leaves out the first `skip` tokens; cls takes the token after them.
    """
    deeper = spec.layer is not None and spec.layer != model.config.num_hidden_layers
    own_pooler = spec.pooling == "pooler" and model.config.model_type not in BERT_LIKE  # ALBERT's is two modules
    if spec.pooling in ("mean", "last") or deeper or "token_type_ids" in batch or skip or own_pooler:
        pooled = _pool_all(model, batch, spec, deeper, skip)
    else:
        mask = batch.get("attention_mask")
        pooled = first_states(model, batch["input_ids"], None if mask is None else mask.bool())
        if spec.pooling == "pooler":
            pooled = model.pooler(pooled[:, None])
    for head in heads:
        weight = getattr(head[0], "weight", pooled)
        pooled = head(pooled.to(weight.dtype))
    pooled = pooled.float()[:, : spec.dimension]
    return torch.nn.functional.normalize(pooled, p=2, dim=-1) if spec.normalize else pooled


def _pool_all(model: nn.Module, batch: Mapping[str, Tensor], spec: EncodingSpec, deeper: bool, skip: int) -> Tensor:
    """Runs the model on all tokens and pools their states to vectors [n, d]."""
    # the model's inputs, and which tokens are global where it has sliding windows
    ids, mask, types = (batch.get(name) for name in MODEL_INPUTS)
    inputs = {name: batch[name] for name in MODEL_INPUTS if name in batch}
    inputs |= global_attention(model.config, ids, mask, types)
    output = model(**inputs, output_hidden_states=deeper)
    if spec.pooling == "pooler":
        return output.pooler_output
    states = output.hidden_states[spec.layer] if deeper else output.last_hidden_state
    mask = inputs.get("attention_mask")
    if skip:
        mask = torch.ones(states.shape[:2], dtype=torch.long, device=states.device) if mask is None else mask.clone()
        mask[:, :skip] = 0
    if spec.pooling == "cls" and skip:  # a text that is only its prompt: the first token, as in sentence-transformers
        return states[torch.arange(len(states), device=states.device), mask.argmax(dim=1)]
    if spec.pooling == "cls":
        return states[:, 0]
    return last_pool(states, mask) if spec.pooling == "last" else mean_pool(states.float(), mask)

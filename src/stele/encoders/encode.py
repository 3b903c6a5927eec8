"""Encoding texts: batches of similar length under a token budget, results in the order of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any

import numpy as np
import torch

from stele.artifacts.records import UNPROMPTED
from stele.encoders.chat import Chat, tokenize_inputs
from stele.encoders.pooling import embed
from stele.encoders.tokens import Tokens, collate, length_buckets, tokenize
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec, Kind, TextInput

GPU_BATCH_TOKENS = 65_536  # of a model at most 1,024 wide; fewer of a wider one, as a token takes more memory there
# Texts that are sorted together, whose vectors depend on no others: what a stream holds in memory, and what is saved at
# a time. A GPU is through with its window in seconds, a CPU with its own in a minute or two (a model of base size).
GPU_WINDOW = 16_384
CPU_WINDOW = 2_048


def default_batch_tokens(device: torch.device, width: int) -> int:
    """Tokens of a padded batch. On a CPU a batch should stay in the caches: measured best were 4096 tokens of width 64,
    512 to 1024 of widths 384 and 768."""
    if device.type == "cpu":
        return min(4_096, max(768, 262_144 // width))
    return GPU_BATCH_TOKENS * 1_024 // max(width, 1_024)


class Encoder:
    """One or two towers with their tokenizer and spec; `stele.encoders.load.load_encoder` makes one from a folder."""

    def __init__(
        self,
        query_model,
        passage_model,
        tokenizer,
        spec: EncodingSpec,
        query_heads: Sequence[torch.nn.Module] = (),
        passage_heads: Sequence[torch.nn.Module] = (),
        device: str = "cpu",
        origins: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
        unprompted: bool = False,
        cosine: bool = False,
        chat: Chat | None = None,
    ) -> None:
        self.spec, self.tokenizer, self.device = spec, tokenizer, torch.device(device)
        self.origins, self.notes, self.unprompted = dict(origins or {}), list(notes), unprompted
        self.chat = chat
        self.cosine = cosine  # whether a search has to scale the vectors to length 1
        self.cut = 0  # texts of the last call, or block of `encode_stream`, that were longer than the spec allows
        self.window = CPU_WINDOW if self.device.type == "cpu" else GPU_WINDOW
        self._towers = {
            "query": (query_model, torch.nn.ModuleList(query_heads)),
            "passage": (passage_model, torch.nn.ModuleList(passage_heads)),
        }
        for model, heads in self._towers.values():
            model.to(self.device).eval()
            heads.to(self.device).eval()

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.spec.dimension or full_dimension(*self._towers["query"])

    @property
    def labels(self) -> list[str]:
        """The labels of what is made with it, beside those of its checkpoint."""
        return [UNPROMPTED] if self.unprompted else []

    def facts(self) -> dict[str, Any]:
        """What a record says of how texts became vectors: the spec, who decided which of its keys, what to heed."""
        decided: dict[str, list[str]] = {}
        for key, origin in sorted(self.origins.items()):
            decided.setdefault(origin, []).append(key)
        notes = {"encoding_notes": self.notes} if self.notes else {}
        return {"encoding": self.spec.facts(), "encoding_decided_by": decided, **notes}

    def model(self, kind: Kind):
        """The tower for that kind of text."""
        return self._tower(kind)[0]

    def tokenize(self, texts: Sequence[TextInput], kind: Kind) -> Tokens:
        return tokenize_inputs(self.tokenizer, self.spec, self.chat, texts, kind)

    def encode(self, texts: Sequence[TextInput], kind: Kind, batch_tokens: int | None = None) -> np.ndarray:
        """Vectors [n, d], float32, in the order of the texts; a pair is a tuple (see EncodingSpec.passage).

        A vector that is not finite is an error that says which text's it is.
        """
        self._tower(kind)
        self.cut = 0
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), self.window):
            tokens = self.tokenize(texts[start : start + self.window], kind)
            self.cut += tokens.cut
            out[start : start + self.window] = self._encode(tokens, kind, batch_tokens)
        refuse_not_finite(out, lambda row: f"{kind} {row + 1} of {len(texts)} ({str(texts[row])[:60]!r})")
        return out

    def encode_stream(
        self,
        items: Iterable[tuple[Any, TextInput]],
        kind: Kind,
        batch_tokens: int | None = None,
        on_batch: Callable[[int], Any] | None = None,
    ) -> Iterator[tuple[list[Any], np.ndarray]]:
        """Vectors of a stream of (id, text), in blocks (ids, vectors [at most a window, d]) in the stream's order.

        Memory is bounded by the window. On a GPU the next window is read and tokenised while this one is encoded.
        `on_batch` hears how many texts each batch had: a window takes minutes on a CPU.
        """
        self._tower(kind)
        items = iter(items)

        def read() -> tuple[list[Any], Tokens | None]:
            block = list(islice(items, self.window))
            return [key for key, _ in block], self.tokenize([text for _, text in block], kind) if block else None

        for ids, tokens in (_each if self.device.type == "cpu" else _ahead)(read):
            vectors = self._encode(tokens, kind, batch_tokens, on_batch=on_batch)
            refuse_not_finite(vectors, lambda row, ids=ids: f"{kind} {ids[row]!r}")
            self.cut = tokens.cut
            yield ids, vectors

    def _tower(self, kind: Kind):
        if kind not in self._towers:
            raise SteleError(f"no such kind of text: {kind!r}; valid: passage, query")
        return self._towers[kind]

    @torch.inference_mode()
    def _encode(
        self,
        tokens: Tokens,
        kind: Kind,
        batch_tokens: int | None,
        on_batch: Callable[[int], Any] | None = None,
    ) -> np.ndarray:
        model, heads = self._tower(kind)
        budget = batch_tokens or default_batch_tokens(self.device, model.config.hidden_size)
        batches = length_buckets(tokens.lengths, budget)
        vectors = torch.empty((len(tokens.lengths), self.dimension), dtype=torch.float32, device=self.device)
        skip = self._prompt_tokens(kind)
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
        """How many tokens at a text's beginning are its prompt's and not pooled: its own, without an end token."""
        prompt = self.spec.prompt(kind)
        if self.spec.include_prompt or not prompt:
            return 0
        ids = tokenize(self.tokenizer, [prompt], self.spec.length(kind)).ids
        return len(ids) - int(ids[-1] in self.tokenizer.all_special_ids)


def full_dimension(model, heads: Sequence[torch.nn.Module]) -> int:
    """The length of a tower's vectors before any of their numbers are left out."""
    widths = [head[0].out_features for head in heads if hasattr(head[0], "out_features")]
    return widths[-1] if widths else model.config.hidden_size


def refuse_not_finite(vectors: np.ndarray, name: Callable[[int], str]) -> None:
    """Refuses vectors [n, d] of which one is not finite: it is nearest to nothing. `name` says whose a row is."""
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        whose = name(int(np.argmin(finite)))
        raise SteleError(
            f"{whose}: its vector is not finite; its tower's weights are broken, or overflow: try precision: float32"
        )


def _each(read) -> Iterator[tuple[list[Any], Tokens]]:
    """Calls `read` until a block is empty."""
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

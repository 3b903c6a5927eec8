"""Tokenised texts as flat arrays, padded batches made from them, and texts as messages of a chat template.

Texts become messages, as in sentence-transformers, if a folder's `modality_config` has `message`.
"""

from collections.abc import Sequence
from itertools import chain, takewhile
from typing import Any, NamedTuple

import numpy as np

from stele.recipes.encoding import EncodingSpec, Kind, TextInput

WHOLE = 10**9  # a length in tokens that cuts no text
TASKS: dict[Kind, str] = {"query": "query", "passage": "document"}  # variables of a template
FILLERS = ("0", "1 2 3 4")  # texts that share no token


class Tokens(NamedTuple):
    """Token ids of n texts, special tokens included, one after the other.

    ids      int32 [total]; text i is ids[offsets[i]:offsets[i + 1]]
    offsets  int64 [n + 1]
    types    uint8 [total], the token types of pairs; None if the encoder has no segments
    cut      number of texts that were cut because they were too long
    """

    ids: np.ndarray
    offsets: np.ndarray
    types: np.ndarray | None
    cut: int = 0

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def lengths_of(self, rows: np.ndarray) -> np.ndarray:
        return self.offsets[rows + 1] - self.offsets[rows]


def tokenize(
    tokenizer, texts: Sequence[TextInput], max_length: int, segments: bool = False, special: bool = True
) -> Tokens:
    """Tokenises texts and pairs with the tokenizer's own batch code, cut to `max_length` tokens.

    Texts are cut on the tokenizer's truncation side. Of a pair the longer text is cut first ("longest_first"), as DPR,
    XTREME-R and sentence-transformers do. Without `special` no special tokens are added.
    """
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(max_length, strategy="longest_first", direction=tokenizer.truncation_side)
    backend.no_padding()
    encoded = backend.encode_batch_fast(list(texts), add_special_tokens=special)
    lengths = np.fromiter((len(item) for item in encoded), dtype=np.int64, count=len(encoded))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total = int(offsets[-1])
    ids = np.fromiter(chain.from_iterable(item.ids for item in encoded), dtype=np.int32, count=total)
    types = None
    if segments:
        types = np.fromiter(chain.from_iterable(item.type_ids for item in encoded), dtype=np.uint8, count=total)
    cut = sum(len(item) >= max_length and bool(item.overflowing) for item in encoded)
    return Tokens(ids, offsets, types, cut)


def encode_uncut(tokenizer, texts: Sequence[str]) -> list:
    """Encodes texts with a tokenizer's backend, uncut and without special tokens; `tokenize` sets its length again."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend.encode_batch(list(texts), add_special_tokens=False)


def collate(tokens: Tokens, rows: np.ndarray, pad_id: int) -> dict:
    """Pads the texts `rows` to int64 tensors [len(rows), longest]; without padding there is no attention_mask."""
    import torch

    starts, lengths = tokens.offsets[rows], tokens.lengths_of(rows)
    width = max(1, int(lengths.max()))  # a text without tokens is one of padding
    columns = np.arange(width)
    mask = columns < lengths[:, None]
    source = (starts[:, None] + columns)[mask]
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    ids[mask] = tokens.ids[source]
    batch = {"input_ids": torch.from_numpy(ids)}
    if not mask.all():
        batch["attention_mask"] = torch.from_numpy(mask.astype(np.int64))
    if tokens.types is not None:
        types = np.zeros(mask.shape, dtype=np.int64)
        types[mask] = tokens.types[source]
        batch["token_type_ids"] = torch.from_numpy(types)
    return batch


def length_buckets(lengths: np.ndarray, batch_tokens: int) -> list[np.ndarray]:
    """Groups rows into batches of similar length, longest first, of at most `batch_tokens` tokens with padding.

    Equal lengths keep their order, so the batches depend only on the lengths. A text longer than the budget is a batch
    of its own.

    >>> [list(map(int, b)) for b in length_buckets(np.array([2, 9, 3, 3]), 9)]
    [[1], [2, 3, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        count = max(1, int(batch_tokens // max(1, lengths[order[start]])))
        batches.append(order[start : start + count])
        start += count
    return batches


class Chat(NamedTuple):
    """Settings for a tokenizer's chat template.

    structured      whether a message's content is a list of parts, not the text itself
    variables       values of the template's variables
    restore_suffix  whether a text that was cut still ends with the template's suffix
    """

    structured: bool
    variables: dict[str, Any]
    restore_suffix: bool


def tokenize_inputs(tokenizer, spec: EncodingSpec, chat: Chat | None, texts: Sequence[TextInput], kind: Kind) -> Tokens:
    """Tokenises queries or passages as the model reads them: prompt and text, or a system's and a user's message."""
    if chat is None:
        return tokenize(tokenizer, spec.inputs(texts, kind), spec.length(kind), spec.segments)
    length, prompt = spec.length(kind), spec.prompt(kind)
    tokens = tokenize(tokenizer, _render(tokenizer, chat, texts, prompt, kind), length, special=False)
    if chat.restore_suffix and (tokens.lengths >= length).any():
        suffix = _suffix(tokenizer, chat, prompt, kind)[-length:]
        for end in tokens.offsets[1:][tokens.lengths >= length]:
            tokens.ids[end - len(suffix) : end] = suffix
    return tokens


def _render(tokenizer, chat: Chat, texts: Sequence[TextInput], prompt: str, kind: Kind) -> list[str]:
    def message(role: str, text: TextInput) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}] if chat.structured else text}

    system = [message("system", prompt)] if prompt else []
    conversations = [[*system, message("user", text)] for text in texts]
    return tokenizer.apply_chat_template(conversations, tokenize=False, **{"task": TASKS[kind], **chat.variables})


def _suffix(tokenizer, chat: Chat, prompt: str, kind: Kind) -> np.ndarray:
    """Token ids, int32 [s], that the template puts after every text: the common end of two rendered texts."""
    rendered = _render(tokenizer, chat, FILLERS, prompt, kind)
    first, second = (tokenize(tokenizer, [text], WHOLE, special=False).ids for text in rendered)
    pairs = zip(first[::-1], second[::-1], strict=False)
    count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return first[len(first) - count :] if count < min(len(first), len(second)) else first[:0]

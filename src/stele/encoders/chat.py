"""Texts as messages of a chat, which sentence-transformers makes where a folder's `modality_config` has `message`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from stele.encoders.tokens import WHOLE, Tokens, tokenize
from stele.recipes.encoding import EncodingSpec, Kind, TextInput

TASKS: dict[Kind, str] = {"query": "query", "passage": "document"}  # what a template may ask for
FILLERS = ("0", "1 2 3 4")  # texts that share no token


class Chat(NamedTuple):
    """How a tokenizer's chat template is used.

    structured      a message's content is a list of parts, not the text itself
    variables       of the template
    restore_suffix  what the template puts behind a text stands behind one that was cut, too
    """

    structured: bool
    variables: dict[str, Any]
    restore_suffix: bool


def tokenize_inputs(tokenizer, spec: EncodingSpec, chat: Chat | None, texts: Sequence[TextInput], kind: Kind) -> Tokens:
    """Queries or passages as a model reads them: prompt and text, or a system's and a user's message."""
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
    """The ids that the template puts behind every text: the end that the renderings of two texts have in common."""
    rendered = _render(tokenizer, chat, FILLERS, prompt, kind)
    first, second = (tokenize(tokenizer, [text], WHOLE, special=False).ids for text in rendered)
    pairs = zip(first[::-1], second[::-1], strict=False)
    count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return first[len(first) - count :] if count < min(len(first), len(second)) else first[:0]

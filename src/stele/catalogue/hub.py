"""Addresses on the Hugging Face hub, and names of the files that a model there can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stele.errors import SteleError
from stele.files.paths import relative

ADDRESS = "https://huggingface.co/{repo}/resolve/{revision}/{file}"

CONFIG = "config.json"
MODULES = "modules.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
VOCABULARY = ("tokenizer.json", "vocab.txt", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model", "vocab.json")
TOKENIZER = (
    *(*VOCABULARY, "merges.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    "chat_template.jinja",
)
# beginnings of files and folders of a checkpoint that are not read, such as saved steps of a training that goes on
UNREAD = (".", "checkpoint-", "onnx", "openvino")
ADAPTER = "adapter_config.json"
STATIC = "StaticEmbedding"  # the module of a sentence-transformers folder that has vectors of tokens alone
SENTENCE_TRANSFORMERS = "config_sentence_transformers.json"
SENTENCE_BERT = tuple(  # the first that says anything is read
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)


def address(repo: str, revision: str, file: str) -> str:
    """URL of a file of a hub repository. Raises SteleError for a name that would lead elsewhere.

    >>> address("FacebookAI/xlm-roberta-base", "main", "config.json")
    'https://huggingface.co/FacebookAI/xlm-roberta-base/resolve/main/config.json'
    """
    where = f"{repo} ({revision})"
    names = {"repo": repo, "revision": revision, "file": file}
    return ADDRESS.format(**{key: relative(name, where) for key, name in names.items()})


def repository(source: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns (hub id, revision) of a checkpoint's source, or None. Raises SteleError for an invalid id."""
    repo = source.get("repo") or source.get("checkpoint")
    if repo and not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", str(repo)):
        raise SteleError(f"{repo!r} is neither an id of the Hugging Face hub (OWNER/NAME) nor a folder")
    return (str(repo), str(source.get("revision") or "main")) if repo else None

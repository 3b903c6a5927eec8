"""Addresses on the Hugging Face hub, and names of the files that a model there can have."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
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
# prefixes of unread files and folders of a checkpoint, such as saved steps of its training
UNREAD = (".", "checkpoint-", "onnx", "openvino")
READ = (".json", ".jinja", ".txt", ".model", ".safetensors")
OF_TRAINING = ("training_args.json", "trainer_state.json")  # not settings of the model
ADAPTER = "adapter_config.json"
STATIC = "StaticEmbedding"  # sentence-transformers' module of token vectors without a transformer
SENTENCE_TRANSFORMERS = "config_sentence_transformers.json"
SENTENCE_BERT = tuple(  # the first non-empty file counts
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


def read_files(names: Iterable[str]) -> list[str]:
    """Selects the files of a checkpoint's folder that are read: settings, tokenizer, one kind of weights.

    >>> read_files(["README.md", "config.json", "model.safetensors", "optimizer.pt", "pytorch_model.bin"])
    ['config.json', 'model.safetensors']
    """
    paths = [PurePosixPath(name) for name in names]
    converted = {path.parent for path in paths if path.name in WEIGHTS[:2]}

    def is_read(path: PurePosixPath) -> bool:
        if path.name in OF_TRAINING or any(part.startswith(UNREAD) for part in path.parts):
            return False
        is_pytorch = path.name.startswith("pytorch_model") and path.name.endswith((".bin", ".bin.index.json"))
        return path.parent not in converted if is_pytorch else path.suffix in READ

    return [path.as_posix() for path in paths if is_read(path)]

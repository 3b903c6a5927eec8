"""The tokenizer of a transformers folder, and what reading such a folder needs besides.

Apart from the backbone, so that what only tokenises (mining) does not depend on how models are built.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stele.errors import SteleError
from stele.files.reading import JsonObject, read_object, reading

# they keep the first positions, up to the padding id, for themselves
ROBERTA_LIKE = ("camembert", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl")
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "sentencepiece.bpe.model",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)


def load_tokenizer(folder: Path):
    """The fast tokenizer of a folder.

    The DPR tokenizer classes are never used: they lower-case whatever the tokenizer's files say.
    """
    from transformers import AutoTokenizer, BertTokenizer

    folder = Path(folder)
    stated = str(read_json(folder / "tokenizer_config.json").get("tokenizer_class", ""))
    dpr = stated.startswith("DPR") or read_json(folder / "config.json").get("model_type") == "dpr"
    with reading(folder, "tokenizer", "want tokenizer.json"), quiet():
        tokenizer = (BertTokenizer if dpr else AutoTokenizer).from_pretrained(folder, local_files_only=True)
    name = type(tokenizer).__name__
    if name.startswith("DPR") or not getattr(tokenizer, "is_fast", False):
        raise SteleError(
            f"{folder}: found tokenizer class {name}, want a fast one (tokenizer.json); "
            "save it once with AutoTokenizer and give that folder"
        )
    if tokenizer.pad_token_id is None:
        raise SteleError(f"{folder}: want a tokenizer with a padding token, as encoders have")
    _check_end_token(folder, tokenizer)
    tokenizer.padding_side = "right"  # on one side for all: what reads from left to right gives the same vectors
    return tokenizer


def _check_end_token(folder: Path, tokenizer) -> None:
    """A tokenizer that is to add an end token has to: transformers 5 heeds what tokenizer.json says alone."""
    if not read_json(folder / "tokenizer_config.json").get("add_eos_token"):
        return
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    if backend.encode("a").ids[-1] != tokenizer.eos_token_id:
        raise SteleError(
            f"{folder}: tokenizer_config.json says add_eos_token, and the post-processor of tokenizer.json adds none; "
            "add it there (a TemplateProcessing), since the vector of a text is that of its end token"
        )


@contextmanager
def quiet() -> Iterator[None]:
    """No load reports and progress bars of transformers: what matters in them is checked here and raised."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def read_json(path: Path) -> JsonObject:
    """A JSON object from a file; {} where there is no such file."""
    return read_object(path, advice="get the folder again") if path.exists() else {}

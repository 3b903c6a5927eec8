"""Looking at a checkpoint before it is used: nothing in it may ask for code, and it must load and give vectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.catalogue.hub import CONFIG, MODULES, VOCABULARY, WEIGHTS
from stele.errors import SteleError

TEXTS = ("What is a stele?", "Стела — камень с текстом.", "نص على حجر", "石碑上的文字")  # several scripts


def read_json(path: Path) -> Any:
    """A JSON file of a checkpoint; a damaged one is an error that names it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SteleError(f"{path}: not readable as JSON ({error}); fetch it again") from None


def refuse_code(folder: Path) -> None:
    """Refuses checkpoints that bring code of their own (auto_map, modules from elsewhere)."""
    for name in (CONFIG, "tokenizer_config.json"):
        for path in sorted(folder.rglob(name)):
            settings = read_json(path)
            if isinstance(settings, Mapping) and settings.get("auto_map"):
                raise SteleError(
                    f"{path}: asks for code of its own (auto_map), and Stele never runs a checkpoint's code; "
                    "use a model that transformers itself knows"
                )
    if (folder / MODULES).is_file():
        for module in read_json(folder / MODULES):
            kind = str(module.get("type", ""))
            if not kind.startswith("sentence_transformers."):
                raise SteleError(f"{folder / MODULES}: module {kind!r} is code of its own; Stele never runs it")


def model_folders(folder: Path) -> list[Path]:
    """The folders of a checkpoint that hold a transformer: itself, a module of sentence-transformers, or two towers."""
    found = []
    for path in sorted(folder.rglob(CONFIG)):
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("model_type"):
            found.append(path.parent)
    return found


def prove(folder: Path) -> dict[str, Any]:
    """Loads tokenizer and model of a folder once and embeds a few texts; returns what they are.

    Only a pooler may lack weights (masked language models have none): `new` names what starts at random then.

    Raises:
        SteleError: no tokenizer, weights missing for parts of the model, ids beyond the vocabulary, NaN.
    """
    present = {path.name for path in folder.iterdir()}
    if not present & set(VOCABULARY):
        raise SteleError(f"{folder}: no tokenizer (none of {', '.join(VOCABULARY)})")
    if not present & set(WEIGHTS[:2]):
        raise SteleError(f"{folder}: no weights (none of {', '.join(WEIGHTS)})")
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # heads that are not loaded are not worth a warning here
    transformers_logging.disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **local)
        model, report = AutoModel.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, dtype=torch.float32, **local
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, TypeError) as error:
        raise SteleError(f"{folder}: does not load ({str(error).strip().splitlines()[0][:300]})") from None
    new = sorted(name for name in report["missing_keys"] if "position_ids" not in name)
    missing = [name for name in new if "pooler" not in name]
    if missing or report.get("mismatched_keys"):
        named = ", ".join(sorted(map(str, missing or report["mismatched_keys"]))[:4])
        raise SteleError(f"{folder}: the weights do not fit config.json; missing or of another shape: {named}")
    rows = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise SteleError(
            f"{folder}: the tokenizer has {len(tokenizer):,} tokens, the model {rows:,}; they do not belong together"
        )
    batch = tokenizer(list(TEXTS), padding=True, truncation=True, max_length=32, return_tensors="pt")
    with torch.no_grad():
        vectors = model.eval()(**batch).last_hidden_state
    if not torch.isfinite(vectors).all():
        raise SteleError(f"{folder}: gives values that are no numbers (NaN or infinite); the weights are damaged")
    return {
        "model_type": model.config.model_type,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "dimension": vectors.shape[-1],
        "vocabulary": len(tokenizer),
        "new": new,
    }

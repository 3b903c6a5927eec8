"""Saving an encoder: `transformers` and sentence-transformers load each tower and give the same vectors as Stele."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from stele.encoders.probe import write_probe
from stele.encoders.sentence_transformers_folder import write_modules
from stele.encoders.tokenizer import quiet
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec, write_spec


def save_encoder(
    folder: Path,
    query_model,
    passage_model,
    tokenizer,
    spec: EncodingSpec,
    heads: Sequence = (),
) -> None:
    """Writes an encoder into `folder` (the caller makes the folder atomic).

    `passage_model` is None when the towers are shared; then the transformers files lie in the folder itself, else in
    query/ and passage/. Beside them: encoding.json and the tokenizer probe. sentence-transformers has one maximum
    length a model, so it cuts at the longer of the two lengths.
    """
    folder = Path(folder)
    number = 1 if passage_model is None else 2
    if (number == 1) != (spec.towers == "shared"):
        raise SteleError(f"{folder}: the spec says towers: {spec.towers}, models to save: {number}")
    folder.mkdir(parents=True, exist_ok=True)
    if passage_model is None:
        _save_tower(folder, query_model, tokenizer, spec, heads)
    else:
        _save_tower(folder / "query", query_model, tokenizer, spec, heads)
        _save_tower(folder / "passage", passage_model, tokenizer, spec, heads)
    write_spec(folder, spec)
    write_probe(folder, tokenizer)


def _save_tower(folder: Path, model, tokenizer, spec: EncodingSpec, heads: Sequence) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(folder)
    tokenizer = copy.deepcopy(tokenizer)
    # without token types in the list the tokenizer makes none, and the model takes zeros, as in training
    names = [name for name in tokenizer.model_input_names if name != "token_type_ids"]
    tokenizer.model_input_names = [*names, "token_type_ids"] if spec.segments else names
    tokenizer.init_kwargs["model_input_names"] = tokenizer.model_input_names
    for circumstance in ("is_local", "local_files_only", "name_or_path"):
        tokenizer.init_kwargs.pop(circumstance, None)
    tokenizer.model_max_length = max(spec.query_length, spec.passage_length)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
    write_modules(folder, model, spec, heads)

"""The encoding of a training's base, which the trained encoder keeps unless its recipe says another.

A base that is an encoder already states how its texts become vectors, in a sentence-transformers folder or in Stele's
own. What is trained from it is written as such a folder. A plain checkpoint states nothing: what is trained from it is
written with the pooling of its training as a suggestion, which sentence-transformers follows, and Stele where neither
the model nor the benchmark says a pooling.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stele.artifacts.records import COMPARED
from stele.catalogue.hub import MODULES, SENTENCE_BERT, SENTENCE_TRANSFORMERS
from stele.encoders.backbone import positions
from stele.encoders.resolve import resolve
from stele.encoders.save import write_modules, write_pooling
from stele.encoders.sentence_transformers_folder import PASSAGE, QUERY, is_suggestion, module_folders
from stele.encoders.tokenizer import load_tokenizer, read_json, write_probe
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, SOME_INSTRUCTION, SPEC_FILE, EncodingSpec, write_spec

MOST = 512  # tokens, of a model that takes any number
TRAINED_BY = {"cls": "cls", "pooler": "cls", "mean": "mean"}  # the pooling of an encoder -> that of its training
UNSTATED = "mean"  # what sentence-transformers does with a folder that says nothing, as one that MLM alone trained


def stated_encoding(folder: Path, overrides: Mapping[str, Values] = MappingProxyType({})) -> EncodingSpec | None:
    """The encoding that a folder states, with `overrides` (the keys' values by origin).

    None for a plain checkpoint, and for what was trained from one, without a pooling among them. Raises SteleError
    for two towers.
    """
    states = (folder / SPEC_FILE).exists() or ((folder / MODULES).exists() and not is_suggestion(folder))
    if not states and not any("pooling" in values for values in overrides.values()):
        return None
    spec = resolve(folder, {**overrides, BENCHMARK: SOME_INSTRUCTION}).spec
    if spec.towers == "separate":
        raise SteleError(f"{folder}: was fine-tuned with separate towers; pretraining goes on from one encoder")
    return spec


def training_pooling(stated: EncodingSpec, wanted: str | None, base: Path) -> str:
    """The pooling by which an encoder is trained: the recipe's, else as the base states.

    Raises SteleError for a base whose vectors are of the last token.
    """
    pooling = wanted or TRAINED_BY.get(stated.pooling)
    if pooling is None:
        raise SteleError(
            f"{base}: its pooling is {stated.pooling!r}, by which nothing is pretrained; say `pooling: cls` or "
            "`pooling: mean` in the recipe"
        )
    return pooling


def trained_encoding(
    stated: EncodingSpec | None, wanted: str | None, objective: str | None, config: Any
) -> EncodingSpec:
    """The encoding of what is trained: the base's with the recipe's pooling, or, of a plain base, the objective's.

    `wanted` and `objective` are their poolings; `config` is the model's.
    """
    if stated is not None:
        return stated.model_copy(update={"pooling": wanted or stated.pooling})
    length = min(positions(config), MOST)
    return EncodingSpec(pooling=wanted or objective or UNSTATED, query_length=length, passage_length=length)


def encoding_changes(stated: EncodingSpec | None, spec: EncodingSpec) -> list[str]:
    """What a trained encoder does not do as its base states it, one text a key."""
    if stated is None:
        return []
    before, after = stated.model_dump(), spec.model_dump()
    return [f"{key}: {before[key]!r} became {after[key]!r}" for key in COMPARED if before[key] != after[key]]


def write_encoding(folder: Path, base: Path, model: Any, stated: EncodingSpec | None, spec: EncodingSpec) -> None:
    """Adds to a trained encoder's folder the files that state its encoding, of a plain base as a suggestion."""
    if stated is None or not any((base / name).exists() for name in (SPEC_FILE, MODULES)):
        write_modules(folder, model, spec, suggestion=True)
    elif (base / SPEC_FILE).exists():
        write_spec(folder, spec)
        write_probe(folder, load_tokenizer(base))
        write_modules(folder, model, spec)
    else:
        _copy_modules(base, folder)
        _write_said(folder, resolve(base).spec, spec)
        if spec.pooling != stated.pooling:
            pooling = next(path for name, path in module_folders(folder) if name == "Pooling")
            write_pooling(pooling, model.config.hidden_size, spec)


def _write_said(folder: Path, base_spec: EncodingSpec, spec: EncodingSpec) -> None:
    """Writes the prompts and lengths that were said of a base over its folder's; prompts with a field have no place."""
    prompts = {
        QUERY: (base_spec.query_prompt, spec.query_prompt),
        PASSAGE: (base_spec.passage_prompt, spec.passage_prompt),
    }
    chosen = {name: after for name, (before, after) in prompts.items() if after != before and "{" not in after}
    if chosen:
        path = folder / SENTENCE_TRANSFORMERS
        settings = read_json(path) if path.exists() else {}
        atomic_write_json(path, {**settings, "prompts": {**settings.get("prompts", {}), **chosen}})
    lengths = [(each.query_length, each.passage_length) for each in (base_spec, spec)]
    if lengths[0] != lengths[1]:
        path = next((folder / name for name in SENTENCE_BERT if (folder / name).exists()), folder / SENTENCE_BERT[0])
        settings = read_json(path) if path.exists() else {}
        settings.get("processing_kwargs", {}).get("text", {}).pop("max_length", None)  # it counts before the others
        sides = dict(zip(("query_length", "document_length"), lengths[1], strict=True))
        atomic_write_json(path, {**settings, **sides, "max_seq_length": max(lengths[1])})


def _copy_modules(base: Path, folder: Path) -> None:
    """Puts the files of a sentence-transformers folder beside its Transformer's into another folder."""
    for name in (MODULES, SENTENCE_TRANSFORMERS, *SENTENCE_BERT):
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)
    for _, path in module_folders(base):
        if path != base and path.is_dir():
            shutil.copytree(path, folder / path.relative_to(base))

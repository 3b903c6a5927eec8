"""Encoding of the model that a training starts from (its base); the trained encoder keeps it unless the recipe differs.

A base that is already an encoder states how its texts become vectors, in a sentence-transformers folder or in Stele's
own; the encoder trained from it is written as such a folder. A plain checkpoint states nothing: the encoder trained
from it is written with the pooling of its training as a suggestion. sentence-transformers follows the suggestion; Stele
follows it if neither the model nor the benchmark sets a pooling.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stele.artifacts.records import COMPARED
from stele.catalogue.hub import MODULES, SENTENCE_BERT, SENTENCE_TRANSFORMERS
from stele.encoders.backbone import positions
from stele.encoders.resolve import resolve
from stele.encoders.save import filled_prompts, write_modules, write_pooling
from stele.encoders.sentence_transformers_folder import PASSAGE, QUERY, is_suggestion, module_folders
from stele.encoders.tokenizer import load_tokenizer, read_json, write_probe
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, SOME_INSTRUCTION, SPEC_FILE, EncodingSpec, write_spec

MOST = 512  # tokens, of a model that takes any number
TRAINED_BY = {"cls": "cls", "pooler": "cls", "mean": "mean"}  # pooling of an encoder -> pooling in its training
UNSTATED = "mean"  # sentence-transformers' default for a folder without modules, e.g. after MLM only


def stated_encoding(folder: Path, overrides: Mapping[str, Values] = MappingProxyType({})) -> EncodingSpec | None:
    """Reads the encoding that a folder states, changed by `overrides` (origin -> key -> value).

    Returns None for a plain checkpoint, or an encoder trained from one, if no override sets a pooling. Raises
    SteleError for two towers.
    """
    if not _states(folder) and not any("pooling" in values for values in overrides.values()):
        return None
    spec = resolve(folder, {**overrides, BENCHMARK: SOME_INSTRUCTION}).spec
    if spec.towers == "separate":
        raise SteleError(f"{folder}: it was fine-tuned with separate towers; give a base with one encoder")
    return spec


def _states(folder: Path) -> bool:
    """Whether a folder states its encoding, rather than only suggesting one."""
    return (folder / SPEC_FILE).exists() or ((folder / MODULES).exists() and not is_suggestion(folder))


def training_pooling(stated: EncodingSpec, wanted: str | None, base: Path) -> str:
    """Pooling by which an encoder is trained: the recipe's (`wanted`), else the one that the base states.

    Raises SteleError if the recipe sets none and Stele cannot train by the base's, such as that of the last token.
    """
    pooling = wanted or TRAINED_BY.get(stated.pooling)
    if pooling is None:
        raise SteleError(
            f"{base}: its pooling is {stated.pooling!r}, with which Stele does not pretrain; set `pooling: cls` or "
            "`pooling: mean` in the recipe"
        )
    return pooling


def trained_encoding(
    stated: EncodingSpec | None, wanted: str | None, objective: str | None, config: Any
) -> EncodingSpec:
    """Encoding of a trained encoder: the base's with the recipe's pooling; for a plain base, the objective's pooling.

    `wanted` is the recipe's pooling, `objective` that of the objective; `config` is the model's configuration.
    """
    if stated is not None:
        return stated.model_copy(update={"pooling": wanted or stated.pooling})
    length = min(positions(config), MOST)
    return EncodingSpec(pooling=wanted or objective or UNSTATED, query_length=length, passage_length=length)


def encoding_changes(stated: EncodingSpec | None, spec: EncodingSpec) -> list[str]:
    """Lists the keys in which a trained encoder's encoding differs from its base's, one text per key."""
    if stated is None:
        return []
    before, after = stated.model_dump(), spec.model_dump()
    return [f"{key}: {before[key]!r} became {after[key]!r}" for key in COMPARED if before[key] != after[key]]


def write_encoding(folder: Path, base: Path, model: Any, stated: EncodingSpec | None, spec: EncodingSpec) -> None:
    """Adds the files that state its encoding to a trained encoder's folder; for a plain base, as a suggestion."""
    if stated is None or not _states(base):
        write_modules(folder, model, spec, suggestion=True)
    elif (base / SPEC_FILE).exists():
        write_spec(folder, spec)
        write_probe(folder, load_tokenizer(base))
        write_modules(folder, model, spec)
    else:
        _copy_modules(base, folder)
        _write_said(folder, resolve(base, {BENCHMARK: SOME_INSTRUCTION}).spec, spec)
        if spec.pooling != stated.pooling:
            pooling = next(path for name, path in module_folders(folder) if name == "Pooling")
            write_pooling(pooling, model.config.hidden_size, spec)


def _write_said(folder: Path, base_spec: EncodingSpec, spec: EncodingSpec) -> None:
    """Replaces the folder's prompts and lengths by its base's configured ones."""
    stated = {QUERY: base_spec.query_prompt, PASSAGE: base_spec.passage_prompt}
    chosen = {name: text for name, text in filled_prompts(spec).items() if text != stated[name]}
    if chosen:
        path = folder / SENTENCE_TRANSFORMERS
        settings = read_json(path) if path.exists() else {}
        atomic_write_json(path, {**settings, "prompts": {**settings.get("prompts", {}), **chosen}})
    lengths = [(each.query_length, each.passage_length) for each in (base_spec, spec)]
    if lengths[0] != lengths[1]:
        path = next((folder / name for name in SENTENCE_BERT if (folder / name).exists()), folder / SENTENCE_BERT[0])
        settings = read_json(path) if path.exists() else {}
        settings.get("processing_kwargs", {}).get("text", {}).pop("max_length", None)  # it would override the others
        sides = dict(zip(("query_length", "document_length"), lengths[1], strict=True))
        atomic_write_json(path, {**settings, **sides, "max_seq_length": max(lengths[1])})


def _copy_modules(base: Path, folder: Path) -> None:
    """Copies the files of a sentence-transformers folder, except its Transformer's, into another folder."""
    for name in (MODULES, SENTENCE_TRANSFORMERS, *SENTENCE_BERT):
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)
    for _, path in module_folders(base):
        if path != base and path.is_dir():
            shutil.copytree(path, folder / path.relative_to(base))

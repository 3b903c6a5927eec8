"""How an encoder's folder is to be used: config.yaml decides, then models.yaml, then the folder, then the benchmark.

A folder that Stele saved states everything and is read as it was trained. A sentence-transformers folder states its
pooling, normalisation and length, which cannot be overruled (a length can be made shorter), and perhaps prompts; its
encoder reads a title, a blank and the text. A plain transformers folder states nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stele.encoders.sentence_transformers_folder import MODULES_FILE, Stated, read_modules
from stele.errors import SteleError, unknown
from stele.files.strict import Values
from stele.recipes.encoding import (
    BENCHMARK,
    FOLDER,
    MODEL_SAYS,
    ORIGINS,
    EncodingSpec,
    check_keys,
    make_spec,
    read_spec,
)

Wanted = Values | EncodingSpec | None
LENGTHS = ("query_length", "passage_length")
OF_ANY_FOLDER = ("precision", "weights", "dimension")  # what can be chosen of an encoder that Stele trained
OF_ITS_MODULES = ("pooling", "normalize", "include_prompt", "segments", "towers", "layer")
GIVEN = "given"  # the origin of values that a caller gives as they are


class Resolved(NamedTuple):
    """A spec, who decided which of its keys, and what a reader of its results should know."""

    spec: EncodingSpec
    origins: dict[str, str]
    notes: list[str]


def resolve(folder: Path, wanted: Wanted = None) -> Resolved:
    """The spec under which a folder is to be used.

    `wanted` are values (of an encoding), or such values by their origin: {"config": {...}, "benchmark": {...}}.
    """
    folder, values, origins = Path(folder), *_by_origin(wanted)
    trained = read_spec(folder)
    if trained is not None:
        chosen = {key: values[key] for key in OF_ANY_FOLDER if key in values}
        decided = {key: FOLDER for key in trained.facts()} | {key: origins[key] for key in chosen}
        return Resolved(make_spec({**trained.facts(), **chosen}, str(folder)), decided, [])
    if (folder / MODULES_FILE).exists():
        return _of_modules(folder, read_modules(folder), values, origins)
    if "pooling" not in values:
        raise SteleError(
            f"{folder}: a plain transformers folder does not say how texts become vectors; "
            "give the model an encoding, at least `encoding: {pooling: cls}` or `{pooling: mean}`"
        )
    return _made(folder, values, origins, [])


def _by_origin(wanted: Wanted) -> tuple[dict[str, Any], dict[str, str]]:
    """Key -> value, and key -> origin; the first origin that has a key decides it."""
    given = wanted.model_dump(exclude_unset=True) if isinstance(wanted, EncodingSpec) else dict(wanted or {})
    if not (given and all(key in ORIGINS and isinstance(value, Mapping) for key, value in given.items())):
        given = {GIVEN: given}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin in (GIVEN, *ORIGINS):
        check_keys(given.get(origin, {}), "encoding")
        for key, value in given.get(origin, {}).items():
            if key not in values:
                values[key], origins[key] = value, origin
    return values, origins


def _of_modules(folder: Path, stated: Stated, values: dict[str, Any], origins: dict[str, str]) -> Resolved:
    """A sentence-transformers folder's spec with what may be chosen beside it."""
    own = {key: value for key, value in values.items() if origins[key] in (GIVEN, *MODEL_SAYS)}
    for key in OF_ITS_MODULES:
        if key in own and own[key] != stated.values.get(key, EncodingSpec.model_fields[key].default):
            raise SteleError(
                f"{folder}: its sentence-transformers modules state {key}: {stated.values.get(key)!r}, requested was "
                f"{own[key]!r}; leave {key} out of the model's encoding, or give the bare transformers folder"
            )
    chosen = {key: value for key, value in values.items() if key not in (*OF_ITS_MODULES, *LENGTHS)}
    # a protocol says whether a title is read; how it is joined to the text is the encoder's, unless the model says
    if (chosen.get("passage_format"), origins.get("passage_format")) == ("title_text_pair", BENCHMARK):
        del chosen["passage_format"]
    decided = {key: FOLDER for key in stated.values} | {key: origins[key] for key in chosen}
    longest = dict.fromkeys(LENGTHS, stated.length)
    for key in LENGTHS:
        if own.get(key, stated.length) < stated.length:
            longest[key], decided[key] = own[key], origins[key]
        else:
            decided[key] = FOLDER
    prompts, notes = _prompts(folder, stated, chosen)
    if "prompt_name" in origins:  # who chose it decided the prompt
        decided.setdefault("query_prompt", origins["prompt_name"])
    decided = {**{key: FOLDER for key in prompts}, **decided}
    return _made(folder, {**stated.values, **longest, **prompts, **chosen}, decided, notes)


def _prompts(folder: Path, stated: Stated, chosen: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The folder's prompts, chosen by name or as encode_query and encode_document choose; a note where none is used."""
    prompts = {"query_prompt": stated.query_prompt, "passage_prompt": stated.passage_prompt}
    if name := chosen.pop("prompt_name", None):
        if name not in stated.prompts:
            raise unknown("prompt", name, stated.prompts, f"{folder}: prompt_name")
        prompts["query_prompt"] = stated.prompts[name]
    named = [name for name, text in stated.prompts.items() if text]
    used = name or any({**prompts, **chosen}.get(key) for key in prompts)
    unused = f"its folder names the prompts {', '.join(named)}, and none is used; choose one with `prompt_name`"
    return prompts, [unused] if named and not used else []


def _made(folder: Path, values: dict[str, Any], origins: dict[str, str], notes: list[str]) -> Resolved:
    """The spec of all values: its lengths at most `max_length`, an instruction only where a prompt has room for it."""
    values = dict(values)
    if name := values.pop("prompt_name", None):
        raise SteleError(f"{folder}: it names no prompts, so that there is no {name!r}; write it out as `query_prompt`")
    most = values.pop("max_length", None)
    for key in LENGTHS:
        if most is not None and most < values.get(key, EncodingSpec.model_fields[key].default):
            values[key], origins = most, {**origins, key: origins["max_length"]}
    spec = make_spec(values, str(folder))
    if spec.wants_instruction:
        raise SteleError(
            f"{folder}: its prompt has a place for an {{instruction}}, and neither the benchmark nor the model gives "
            "one; add `instruction: ...` to the model's encoding"
        )
    if "{instruction}" not in spec.query_prompt + spec.passage_prompt:
        spec = spec.model_copy(update={"instruction": ""})
    return Resolved(spec, {key: origin for key, origin in origins.items() if key in spec.facts()}, notes)

"""Resolving an encoder's encoding for a benchmark: the values by which texts become vectors, and their origins.

The origins in order of precedence; the first that has a key decides it:

1. the benchmark's own `pooling`, and its encoding of `large` models: they hold for models that are no complete encoders
2. config.yaml, then models.yaml: of the model, then of the model that it was trained from
3. the encoder's folder (see below)
4. the scale
5. the benchmark's protocol
6. the defaults of EncodingSpec

What the folder decides depends on its kind:

- A folder that Stele trained states everything; only precision, weights and dimension can be chosen.
- A sentence-transformers folder states pooling, normalisation, similarity and lengths, which cannot be overruled (2 may
  make a length shorter; a contradiction is an error). It may name prompts, which any other origin replaces. Its encoder
  reads a title, a blank and the text.
- A plain transformers folder states nothing. A folder that Stele pretrained from one suggests the values of its
  sentence-transformers files: all of them apply if no other origin sets a pooling, else none.

`encodings` of plan/retrieval.py has 1, 2, 4 and 5 while a run is planned, when the folder is not there yet; a job gets
its result as --encoding. `resolve` adds the folder when the encoder is loaded. `stele encoders show` prints the result
of both.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stele.catalogue.hub import MODULES
from stele.encoders.sentence_transformers_folder import PASSAGE, QUERY, Stated, is_suggestion, read_modules
from stele.encoders.tokens import Chat
from stele.errors import SteleError, unknown
from stele.files.strict import Values, validate
from stele.recipes.encoding import BENCHMARK, FOLDER, MODEL_SAYS, ORIGINS, EncodingSpec, check_keys, read_spec

Wanted = Values | EncodingSpec | None
LENGTHS = ("query_length", "passage_length")
OTHER_PASSAGES = ("passage", "corpus")  # names of prompts that are meant for passages, too
OF_ANY_FOLDER = ("precision", "weights", "dimension")  # keys that can be chosen for an encoder that Stele trained
OF_ITS_MODULES = ("pooling", "normalize", "include_prompt", "segments", "towers", "layer")
AS_QUERIES = "passages_as_queries"
GIVEN = "given"  # the origin of values that a caller of `resolve` passes without one
WISHES = (GIVEN, "config")  # the origins of a user's wishes
PROMPTS = ("prompt_name", "query_prompt")  # two ways to name a query's prompt


class Resolved(NamedTuple):
    """An encoder's spec, and the origins of its values.

    origins      key -> origin that decided it
    notes        remarks for a reader of its results
    unprompted   whether the folder names prompts that are not used (one of the notes)
    cosine       whether a search has to scale its vectors to length 1
    chat         settings of the chat template of its texts, None without one
    """

    spec: EncodingSpec
    origins: dict[str, str]
    notes: list[str]
    unprompted: bool = False
    cosine: bool = False
    chat: Chat | None = None


def resolve(folder: Path, wanted: Wanted = None) -> Resolved:
    """Resolves the spec under which an encoder's folder is used.

    `wanted` has values of an encoding, or such values by their origin: {"config": {...}, "benchmark": {...}}. Raises
    SteleError for a contradiction with the folder, and for a plain transformers folder without a pooling.
    """
    values, origins = _first_of_origins(wanted)
    trained = read_spec(folder)
    if trained is not None:
        chosen = {key: values[key] for key in OF_ANY_FOLDER if key in values}
        decided = origins | dict.fromkeys(trained.facts(), FOLDER) | {key: origins[key] for key in chosen}
        merged, decided = _with_one_prompt({**trained.facts(), **chosen}, values, decided)
        return _resolved(validate(EncodingSpec, merged, folder), decided, [])
    if (folder / MODULES).exists() and not ("pooling" in values and is_suggestion(folder)):
        return _of_modules(folder, read_modules(folder), values, origins)
    if "pooling" not in values:
        raise SteleError(
            f"{folder}: a plain transformers folder does not say how texts become vectors; "
            "give the model an encoding, at least `encoding: {pooling: cls}` or `{pooling: mean}`"
        )
    return _make_spec(folder, values, origins)


def _first_of_origins(wanted: Wanted) -> tuple[dict[str, Any], dict[str, str]]:
    """Maps key -> value and key -> origin, by the first origin that has the key, or its synonym among PROMPTS."""
    by_origin = wanted.model_dump(exclude_unset=True) if isinstance(wanted, EncodingSpec) else dict(wanted or {})
    if not (by_origin and all(key in ORIGINS and isinstance(value, Mapping) for key, value in by_origin.items())):
        by_origin = {GIVEN: by_origin}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin in (GIVEN, *ORIGINS):
        of_origin = by_origin.get(origin, {})
        check_keys(of_origin, "encoding")
        if all(of_origin.get(key) is not None for key in PROMPTS):
            raise SteleError(f"encoding: {' and '.join(PROMPTS)} both set the prompt of a query; give one of them")
        decided = {*values, *(PROMPTS if origins.keys() & PROMPTS else ())}
        for key in of_origin:
            if key not in decided:
                values[key], origins[key] = of_origin[key], origin
    return values, origins


def _of_modules(folder: Path, stated: Stated, values: dict[str, Any], origins: dict[str, str]) -> Resolved:
    # what its modules state cannot be contradicted by what is said of the model
    of_model = {key: value for key, value in values.items() if origins[key] in (GIVEN, *MODEL_SAYS)}
    for key in OF_ITS_MODULES:
        if key in of_model and of_model[key] != stated.values.get(key, EncodingSpec.model_fields[key].default):
            raise SteleError(
                f"{folder}: its sentence-transformers modules state {key}: {stated.values.get(key)!r}, but "
                f"{of_model[key]!r} is requested; leave {key} out of the encoding, or give the bare transformers folder"
            )
    decided = dict.fromkeys(stated.values, FOLDER)

    # a model's lengths can only be shortened
    shorter = {key: of_model[key] for key in LENGTHS if of_model.get(key, stated.lengths[key]) < stated.lengths[key]}
    lengths = stated.lengths | shorter
    decided |= dict.fromkeys(LENGTHS, FOLDER) | {key: origins[key] for key in shorter}
    notes = []
    for key in LENGTHS:
        if origins.get(key) in WISHES and of_model[key] > stated.lengths[key]:
            notes.append(f"{key}: {of_model[key]} was asked for; its folder says {stated.lengths[key]}, which is used")

    # everything else can be chosen; a protocol says whether a title is read, the encoder how it is joined to the text
    chosen = {key: value for key, value in values.items() if key not in (*OF_ITS_MODULES, *LENGTHS)}
    if origins.get("passage_format") == BENCHMARK and chosen["passage_format"] != "text":
        del chosen["passage_format"]
    decided |= {key: origins[key] for key in chosen}

    # prompts: its own where none is chosen
    prompts, unused = _prompts(folder, stated, chosen)
    if "prompt_name" in origins:
        decided.setdefault("query_prompt", origins["prompt_name"])
    decided = {**dict.fromkeys(prompts, FOLDER), **origins, **decided}
    resolved = _make_spec(folder, {**stated.values, **lengths, **prompts, **chosen}, decided)
    if stated.chat and (resolved.spec.fills_titles or resolved.spec.passage_format == "title_text_pair"):
        raise SteleError(
            f"{folder}: its texts go through a chat template, which has no place for titles; leave {{title}} out of "
            "passage_prompt, and give `passage_format: title_text`"
        )
    notes = [*unused, *notes, *resolved.notes]
    return resolved._replace(notes=notes, unprompted=bool(unused), cosine=stated.cosine, chat=stated.chat)


def _prompts(folder: Path, stated: Stated, chosen: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Chooses the folder's prompts, by name or as encode_query and encode_document do; returns notes on unused ones.

    Removes `prompt_name` from `chosen`.
    """
    named = {name: text for name, text in stated.prompts.items() if text}
    prompts = {"query_prompt": stated.prompts.get(QUERY, ""), "passage_prompt": stated.prompts.get(PASSAGE, "")}
    if name := chosen.pop("prompt_name", None):
        if name not in stated.prompts:
            raise unknown("prompt", name, stated.prompts, f"{folder}: prompt_name")
        prompts["query_prompt"] = stated.prompts[name]
    of_passages = [other for other in OTHER_PASSAGES if other in named]
    others = [other for other in named if other not in (PASSAGE, *of_passages)]
    notes = []
    if others and not (name or "query_prompt" in chosen or prompts["query_prompt"]):
        notes.append(
            f"its folder names the prompts {', '.join(others)}, and none is used for queries; "
            "choose one with `prompt_name`"
        )
    if of_passages and not ("passage_prompt" in chosen or prompts["passage_prompt"]):
        notes.append(
            f"its folder names a prompt {of_passages[0]!r}, which sentence-transformers puts before no passage, as it "
            f"looks for {PASSAGE!r} first; write it out as `passage_prompt` if it should stand there"
        )
    return prompts, notes


def _with_one_prompt(
    values: dict[str, Any], wanted: dict[str, Any], origins: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Gives passages the prompt of queries if `passages_as_queries` is wanted; returns the new values and origins."""
    query, passage = (values.get(key, "") for key in ("query_prompt", "passage_prompt"))
    if not wanted.get(AS_QUERIES) or values.get("towers") == "separate" or query == passage:
        return values, origins
    return {**values, "passage_prompt": query}, {**origins, "passage_prompt": origins[AS_QUERIES]}


def _make_spec(folder: Path, values: dict[str, Any], origins: dict[str, str]) -> Resolved:
    """Makes the spec of all values, with lengths cut to `max_length`, and an instruction only if a prompt has one."""
    values, origins = _with_one_prompt(dict(values), values, origins)
    values.pop(AS_QUERIES, None)
    notes = []
    if name := values.pop("prompt_name", None):
        raise SteleError(f"{folder}: it names no prompts, so there is no {name!r}; write it out as `query_prompt`")
    max_length = values.pop("max_length", None)
    for key in LENGTHS:
        length = values.get(key, EncodingSpec.model_fields[key].default)
        if max_length is None or _precedes(origins.get(key), origins["max_length"]):
            continue
        if max_length < length:
            values[key], origins = max_length, {**origins, key: origins["max_length"]}
        elif max_length > length and origins["max_length"] in WISHES:
            notes.append(f"max_length: {max_length} makes no text longer: {key} is {length}")
    spec = validate(EncodingSpec, values, folder)
    if not spec.instruction and "{instruction}" in spec.query_prompt + spec.passage_prompt:
        raise SteleError(
            f"{folder}: its prompt has a place for an {{instruction}}, but neither the benchmark nor the model gives "
            "one; add `instruction: ...` to the model's encoding"
        )
    if "{instruction}" not in spec.query_prompt + spec.passage_prompt:
        spec = spec.model_copy(update={"instruction": ""})
    return _resolved(spec, origins, notes)


def _resolved(spec: EncodingSpec, origins: Mapping[str, str], notes: list[str]) -> Resolved:
    stated = {*spec.facts(), *OF_ANY_FOLDER}  # also an explicit float32
    return Resolved(spec, {key: origin for key, origin in origins.items() if key in stated}, notes)


def _precedes(origin: str | None, other: str) -> bool:
    """Whether `origin` takes precedence over `other`; a folder comes after the user's and the model's values."""
    order = (GIVEN, *MODEL_SAYS)
    return origin in order and (other not in order or order.index(origin) < order.index(other))

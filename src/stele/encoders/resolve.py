"""How an encoder's folder is to be used: config.yaml decides, then models.yaml, then the folder, then the benchmark.

A folder that Stele saved states everything and is read as it was trained. A sentence-transformers folder states its
pooling, normalisation, similarity and length, which cannot be overruled (a length can be made shorter), and perhaps
prompts; its encoder reads a title, a blank and the text. A plain transformers folder states nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stele.catalogue.hub import MODULES
from stele.encoders.sentence_transformers_folder import PASSAGE, QUERY, Stated, read_modules
from stele.encoders.tokens import Chat
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
OTHER_PASSAGES = ("passage", "corpus")  # names of prompts that are meant for passages, too
OF_ANY_FOLDER = ("precision", "weights", "dimension")  # what can be chosen of an encoder that Stele trained
OF_ITS_MODULES = ("pooling", "normalize", "include_prompt", "segments", "towers", "layer")
AS_QUERIES = "passages_as_queries"
GIVEN = "given"  # the origin of values that a caller gives as they are
WISHES = (GIVEN, "config")  # the origins of what a user asks for
PROMPTS = ("prompt_name", "query_prompt")  # two ways to say one thing


class Resolved(NamedTuple):
    """A spec, who decided which of its keys, and what a reader of its results should know.

    unprompted: of that, that the folder names prompts which are not used; cosine: a search has to scale its vectors;
    chat: how its texts go through a chat template, None where they do not.
    """

    spec: EncodingSpec
    origins: dict[str, str]
    notes: list[str]
    unprompted: bool = False
    cosine: bool = False
    chat: Chat | None = None


def resolve(folder: Path, wanted: Wanted = None) -> Resolved:
    """The spec under which a folder is to be used.

    `wanted` are values (of an encoding), or such values by their origin: {"config": {...}, "benchmark": {...}}.
    """
    folder, values, origins = Path(folder), *_by_origin(wanted)
    trained = read_spec(folder)
    if trained is not None:
        chosen = {key: values[key] for key in OF_ANY_FOLDER if key in values}
        decided = {key: FOLDER for key in trained.facts()} | {key: origins[key] for key in chosen}
        own, decided = _of_one_kind({**trained.facts(), **chosen}, values, {**origins, **decided})
        spec = make_spec(own, str(folder))
        return Resolved(spec, {key: origin for key, origin in decided.items() if key in spec.facts()}, [])
    if (folder / MODULES).exists():
        return _of_modules(folder, read_modules(folder), values, origins)
    if "pooling" not in values:
        raise SteleError(
            f"{folder}: a plain transformers folder does not say how texts become vectors; "
            "give the model an encoding, at least `encoding: {pooling: cls}` or `{pooling: mean}`"
        )
    return _made(folder, values, origins)


def _by_origin(wanted: Wanted) -> tuple[dict[str, Any], dict[str, str]]:
    """Key -> value, and key -> origin; the first origin that has a key, or says the same in another way, decides it."""
    given = wanted.model_dump(exclude_unset=True) if isinstance(wanted, EncodingSpec) else dict(wanted or {})
    if not (given and all(key in ORIGINS and isinstance(value, Mapping) for key, value in given.items())):
        given = {GIVEN: given}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin in (GIVEN, *ORIGINS):
        said = given.get(origin, {})
        check_keys(said, "encoding")
        if all(said.get(key) is not None for key in PROMPTS):
            raise SteleError(f"encoding: {' and '.join(PROMPTS)} both say what stands before a query; give one of them")
        decided = {*values, *(PROMPTS if origins.keys() & PROMPTS else ())}
        for key in said:
            if key not in decided:
                values[key], origins[key] = said[key], origin
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
    if origins.get("passage_format") == BENCHMARK and chosen["passage_format"] != "text":
        del chosen["passage_format"]
    decided = {key: FOLDER for key in stated.values} | {key: origins[key] for key in chosen}
    shorter = {key: own[key] for key in LENGTHS if own.get(key, stated.lengths[key]) < stated.lengths[key]}
    longest = stated.lengths | shorter
    decided |= dict.fromkeys(LENGTHS, FOLDER) | {key: origins[key] for key in shorter}
    notes = [
        f"{key}: {own[key]} was asked for; its folder says {stated.lengths[key]}, which is what is read"
        for key in LENGTHS
        if origins.get(key) in WISHES and own[key] > stated.lengths[key]
    ]
    prompts, unused = _prompts(folder, stated, chosen)
    if "prompt_name" in origins:  # who chose it decided the prompt
        decided.setdefault("query_prompt", origins["prompt_name"])
    decided = {**{key: FOLDER for key in prompts}, **origins, **decided}
    made = _made(folder, {**stated.values, **longest, **prompts, **chosen}, decided)
    notes = [*unused, *notes, *made.notes]
    if stated.chat and (made.spec.fills_titles or made.spec.passage_format == "title_text_pair"):
        raise SteleError(
            f"{folder}: its texts go through a chat template, which has no place for titles; leave {{title}} out of "
            "passage_prompt, and give `passage_format: title_text`"
        )
    return made._replace(notes=notes, unprompted=bool(unused), cosine=stated.cosine, chat=stated.chat)


def _prompts(folder: Path, stated: Stated, chosen: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The folder's prompts, chosen by name or as encode_query and encode_document choose; notes on those unused."""
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


def _of_one_kind(own: dict[str, Any], wanted: dict[str, Any], origins: dict[str, str]) -> tuple[dict, dict]:
    """Values and origins of an encoding whose passages, where that is wanted, are read as queries are."""
    query, passage = (own.get(key, "") for key in ("query_prompt", "passage_prompt"))
    if not wanted.get(AS_QUERIES) or own.get("towers") == "separate" or query == passage:
        return own, origins
    return {**own, "passage_prompt": query}, {**origins, "passage_prompt": origins[AS_QUERIES]}


def _made(folder: Path, values: dict[str, Any], origins: dict[str, str]) -> Resolved:
    """The spec of all values: its lengths at most `max_length`, an instruction only where a prompt has room for it."""
    values, origins = _of_one_kind(dict(values), values, origins)
    values.pop(AS_QUERIES, None)
    notes = []
    if name := values.pop("prompt_name", None):
        raise SteleError(f"{folder}: it names no prompts, so that there is no {name!r}; write it out as `query_prompt`")
    most = values.pop("max_length", None)
    for key in LENGTHS:
        length = values.get(key, EncodingSpec.model_fields[key].default)
        if most is None or _before(origins.get(key), origins["max_length"]):
            continue
        if most < length:
            values[key], origins = most, {**origins, key: origins["max_length"]}
        elif most > length and origins["max_length"] in WISHES:
            notes.append(f"max_length: {most} makes no text longer: {key} is {length}")
    spec = make_spec(values, str(folder))
    if spec.wants_instruction:
        raise SteleError(
            f"{folder}: its prompt has a place for an {{instruction}}, and neither the benchmark nor the model gives "
            "one; add `instruction: ...` to the model's encoding"
        )
    if "{instruction}" not in spec.query_prompt + spec.passage_prompt:
        spec = spec.model_copy(update={"instruction": ""})
    return Resolved(spec, {key: origin for key, origin in origins.items() if key in spec.facts()}, notes)


def _before(origin: str | None, other: str) -> bool:
    """Whether one origin comes before another in deciding; a folder comes after what is said of a model."""
    order = (GIVEN, *MODEL_SAYS)
    return origin in order and (other not in order or order.index(origin) < order.index(other))

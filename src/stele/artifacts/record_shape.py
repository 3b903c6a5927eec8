"""What a record must look like for its readers: of texts, lists and objects, wherever it came from.

A folder of results may have been handed over, so its records are as little ours as any file from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stele.errors import SteleError


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _object_of_text(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _object_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_texts, value.values()))


def _object_of_objects(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_object, value.values()))


Kind = tuple[str, Callable[[Any], bool]]
TEXT: Kind = "a text", _text
TEXTS: Kind = "a list of texts", _texts
OBJECT: Kind = "an object", _object
OF_TEXT: Kind = "an object of texts", _object_of_text
OF_TEXTS: Kind = "an object of lists of texts", _object_of_texts
OF_OBJECTS: Kind = "an object of objects", _object_of_objects
ALWAYS: dict[str, Kind] = {"job": TEXT, "labels": TEXTS, "inputs": OF_TEXT, "ancestry": OF_OBJECTS, "versions": OF_TEXT}
# keys that a record leaves out or has as null where there is nothing to say; those of an ancestor are never null
FACTS: dict[str, Kind] = {
    "model": TEXT,
    "repository": TEXT,
    "revision": TEXT,
    "licence": TEXT,
    "encoding": OBJECT,
    "recipe": OBJECT,
    "encoding_decided_by": OF_TEXTS,
    "encoding_notes": TEXTS,
}


def check(record: Mapping[str, Any], path: Path) -> None:
    """SteleError where a record, or what it says of one that it comes from, is of other types."""
    _check(record, ALWAYS, f"{path}: ")
    _check({key: value for key, value in record.items() if value is not None}, FACTS, f"{path}: ")
    for name, facts in record.get("ancestry", {}).items():
        _check(facts, ALWAYS | FACTS, f"{path}: ancestry.{name}.")


def _check(facts: Mapping[str, Any], wanted: Mapping[str, Kind], where: str) -> None:
    for key in wanted.keys() & facts.keys():
        what, fits = wanted[key]
        if not fits(facts[key]):
            raise SteleError(f"{where}{key}: not a readable record (want {what}, found {str(facts[key])[:80]!r})")

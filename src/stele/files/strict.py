"""Validates values from outside strictly: a value must have the type that its key wants; nothing is converted."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from stele.errors import SteleError, nearest
from stele.files.reading import LARGEST_SEED

# an integer is a float too; a bool or a text is no number, a number has a value, an unknown key is an error
STRICT = ConfigDict(
    extra="forbid", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=(), defer_build=True
)
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Momentum = Annotated[float, Field(ge=0, lt=1)]
Betas = Annotated[tuple[Momentum, Momentum], Field(strict=False)]  # YAML and JSON have lists
LINES = 8  # most problems in one error
Key = str | int
Values = Mapping[str, Any]  # a model's values before validation, from YAML or JSON
T = TypeVar("T")


def unique(values: list[T]) -> list[T]:
    """Returns the values unchanged. Raises ValueError if one occurs twice."""
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"{', '.join(map(str, twice))} is given twice")
    return values


class Strict(BaseModel):
    """Base model for values from outside; unknown keys are errors."""

    model_config = STRICT

    def given(self, **changes: Any) -> dict[str, Any]:
        """Returns the keys that were set, as JSON values; `changes` are pydantic's `include` and `exclude`."""
        return self.model_dump(mode="json", exclude_unset=True, **changes)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON schema of the model, with which editors check files of such values."""
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema()}


def validate(kind: Any, values: Any, where: Any, at: Sequence[Key] = (), beside: Iterable[str] = ()) -> Any:
    """Validates `values` as `kind` (a model, or a type such as dict[str, Model]). Raises SteleError for wrong values.

    `where` names the file, or is a function that names it for a key; `at` is the path of keys above the values;
    `beside` are further valid keys there, which the model does not have.

    >>> validate(dict[str, Betas], {"a": [0.9, 1]}, "recipes.yaml", ["adam"])
    Traceback (most recent call last):
    stele.errors.SteleError: recipes.yaml: adam.a.1: Input should be less than 1 (found 1)
    """
    try:
        return _adapter(kind).validate_python(values)
    except ValidationError as error:
        raise explain(error, kind, where, at, beside) from None


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def explain(
    error: ValidationError, kind: Any, where: Any, at: Sequence[Key] = (), beside: Iterable[str] = ()
) -> SteleError:
    """Turns pydantic's findings into a SteleError with a line for each: file, key, value and nearest valid key.

    The arguments are those of `validate`. Unknown keys come first; a key that is missing because it was misspelt is not
    reported again.
    """
    lines, suggested = {}, set()
    for loc, valid, findings in sorted(_findings(error, kind), key=lambda each: not any(map(_unknown, each[2]))):
        path = (*at, *loc)
        key, file = ".".join(map(str, path)), where(*path) if callable(where) else where
        if any(map(_unknown, findings)):
            valid = _literals(findings[0]) or ([*valid, *beside] if len(loc) == 1 else valid)
            close = nearest(str(loc[-1]), valid)
            suggested.add((*loc[:-1], close))
            hint = f"; did you mean {close!r}?" if close else "."
            lines[loc] = f"{file}: unknown key {key!r}{hint} Valid: {', '.join(sorted({*valid}))}"
        elif findings[0]["type"] != "missing" or loc not in suggested:
            what = " or ".join(map(said, findings))
            lines[loc] = f"{file}: {key + ': ' if key else ''}{what}{_example(kind, loc, findings[0]['type'])}"
    rest = [f"and {len(lines) - LINES} more"] if len(lines) > LINES else []
    return SteleError("\n".join([*list(lines.values())[:LINES], *rest]))


def said(finding: Mapping[str, Any]) -> str:
    """Describes one of pydantic's findings: the problem, the value, and how YAML arrived at the value.

    >>> said({"type": "string_type", "msg": "Input should be a valid string", "input": False})
    'Input should be a valid string (found False); YAML reads an unquoted no or off so: put it in quotes'
    """
    value, text = finding["input"], finding["msg"].removeprefix("Value error, ")
    if finding["type"] == "missing" or (finding["type"] == "value_error" and isinstance(value, Mapping | BaseModel)):
        return text
    shown = repr(value) if len(repr(value)) <= 200 else f"{repr(value)[:200]}..."
    return f"{text} (found {shown}){_nearest_value(finding)}{_as_yaml(finding['type'], value)}"


def _nearest_value(finding: Mapping[str, Any]) -> str:
    close = nearest(finding["input"], _literals(finding)) if isinstance(finding["input"], str) else None
    return f"; did you mean {close!r}?" if close else ""


def _example(kind: Any, loc: tuple[Key, ...], error_type: str) -> str:
    """Example of a correct value for a key that is a list or a block; "" if its field has no example."""
    field = getattr(kind, "model_fields", {}).get(loc[0]) if len(loc) == 1 else None
    if field is None or not field.examples or error_type not in ("list_type", "model_type", "dict_type"):
        return ""
    return f"; for example {loc[0]}={json.dumps(field.examples[0])}".replace('"', "")


def _literals(finding: Mapping[str, Any]) -> list[str]:
    """Valid values for a finding about a value outside a fixed set; [] for other findings."""
    if finding["type"] != "literal_error":
        return []
    return [item.strip(" '") for item in finding["ctx"]["expected"].replace(" or ", ", ").split(",")]


def _unknown(finding: Mapping[str, Any]) -> bool:
    """Whether a finding is about a key that the model does not have or the mapping does not allow."""
    return finding["type"] == "extra_forbidden" or (
        finding["type"] == "literal_error" and finding["loc"][-1] == "[key]"
    )


def _as_yaml(kind: str, value: Any) -> str:
    if kind == "string_type" and isinstance(value, bool):
        return f"; YAML reads an unquoted {'yes or on' if value else 'no or off'} so: put it in quotes"
    if kind == "string_type" and isinstance(value, int | float | date):
        return "; YAML reads unquoted digits so: put them in quotes"
    if kind in ("float_type", "int_type") and isinstance(value, str) and value[:1].isdigit():
        return "; a number in YAML has no quotes or _, a point before its e (1.0e-5); in blocks of --config all is text"
    return ""


def _findings(
    error: ValidationError, kind: Any
) -> Iterator[tuple[tuple[Key, ...], list[str], list[Mapping[str, Any]]]]:
    """Yields (key, valid keys beside it, findings) for each key with an error.

    For a value that may have several types, pydantic reports findings for each; only those of the nearest type remain.
    """
    by_value: dict[tuple[Key, ...], list] = {}
    for finding in error.errors(include_url=False):
        loc, valid, value = _without_types(kind, finding["loc"])
        by_value.setdefault(value or loc, []).append((loc, valid, finding))
    for group in by_value.values():
        deepest = max(len(loc) for loc, _, _ in group)
        by_key: dict[tuple[Key, ...], tuple[list[str], list]] = {}
        for loc, valid, finding in group:
            if len(loc) == deepest:
                by_key.setdefault(loc, (valid, []))[1].append(finding)
        yield from ((loc, valid, findings) for loc, (valid, findings) in by_key.items())


def _without_types(kind: Any, location: Sequence[Key]) -> tuple[tuple[Key, ...], list[str], tuple[Key, ...] | None]:
    """Converts pydantic's location to (key, valid keys beside it, key of the first value with several types).

    The location also names the type tried if several are possible, and "[key]" if a key itself is wrong.
    """
    kinds, path, valid, value = _choice(kind), [], [], None
    for part in location:
        if len(kinds) > 1:
            value = tuple(path) if value is None else value
            kinds = [each for each in kinds if str(part).startswith(_name(each))][:1] or [Any]
        elif part != "[key]":
            path.append(part)
            valid = list(getattr(kinds[0], "model_fields", ()))
            kinds = _choice(_inside(kinds[0], part))
    return tuple(path), valid, value


def _choice(kind: Any) -> list[Any]:
    """Types that a value may have, except None."""
    if get_origin(kind) is Annotated:
        return _choice(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [choice for each in get_args(kind) if each is not NoneType for choice in _choice(each)]
    return [kind]


def _name(kind: Any) -> str:
    """Name of a type in pydantic's locations, or the beginning of it (`dict` for `dict[str,int]`)."""
    return (get_origin(kind) or kind).__name__


def _inside(kind: Any, part: Key) -> Any:
    """Type of the value under a key of `kind`, or at an index of its list."""
    fields = getattr(kind, "model_fields", None)
    if fields is not None:
        return fields[part].annotation if part in fields else Any
    arguments = get_args(kind)
    if get_origin(kind) is tuple and isinstance(part, int) and part < len(arguments) and ... not in arguments:
        return arguments[part]
    return next((each for each in reversed(arguments) if each is not ...), Any)

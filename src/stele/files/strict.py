"""How values from outside are typed: what YAML makes of a word must be what the key wants, nothing is converted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from stele.files.limits import LARGEST_SEED

# an integer is a float too; a yes is no 1, a text no number, a number has a value, an unknown key is an error
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=())
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Momentum = Annotated[float, Field(ge=0, lt=1)]
Betas = Annotated[tuple[Momentum, Momentum], Field(strict=False)]  # YAML and JSON have lists


class Strict(BaseModel):
    """Values from outside; keys that it does not know are errors."""

    model_config = STRICT


def said(found: Mapping[str, Any]) -> str:
    """One of pydantic's findings in words: what is wrong with a value, the value, and how YAML came by it.

    >>> said({"type": "string_type", "msg": "Input should be a valid string", "input": False})
    "Input should be a valid string (found False); YAML reads an unquoted no or off so: put it in quotes"
    """
    value, text = found["input"], found["msg"].removeprefix("Value error, ")
    return f"{text} (found {value!r}){_as_yaml(found['type'], value)}"


def _as_yaml(kind: str, value: Any) -> str:
    if kind == "string_type" and isinstance(value, bool):
        return f"; YAML reads an unquoted {'yes or on' if value else 'no or off'} so: put it in quotes"
    if kind == "string_type" and isinstance(value, int | float | date):
        return "; YAML reads unquoted digits so: put them in quotes"
    if kind in ("float_type", "int_type") and isinstance(value, str) and value[:1].isdigit():
        return "; a number in YAML has no quotes and no underscores, and a point before its e (1.0e-5)"
    return ""

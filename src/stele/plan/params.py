"""Values as texts: params that are equal when the values are, and arguments of a command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any


def as_json(value: Any) -> str:
    """A value as compact JSON with sorted keys: equal values are equal params."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def assignments(values: Mapping[str, str | Iterable[str]]) -> list[str]:
    """`name=path`, or `name=path,path`, for the command line.

    >>> assignments({"en": "a", "sw": ["b", "c"]})
    ['en=a', 'sw=b,c']
    """
    return [f"{name}={value if isinstance(value, str) else ','.join(value)}" for name, value in values.items()]


def option(flag: str, value: Any = None) -> str:
    """A flag and its value for the command line; nothing where there is no value.

    >>> option("--first", 5), option("--first", None)
    ('--first 5', '')
    """
    return "" if value is None else f"{flag} {value}"


def flags(values: Mapping[str, Any]) -> str:
    """Named values as flags of a command line, quoted for a shell; what is empty or not so has none.

    >>> flags({"user_data": "my folder", "mirrors": [], "offline": True})
    "--user-data 'my folder' --offline"
    """
    words = []
    for name, value in values.items():
        texts = [] if value is True else value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *texts] if value else []
    return shlex.join(words)

"""Models of the files of facts, by topic. An unknown key or a wrong value is refused in one sentence.

`catalogue.entries` gives what a file says, typed by its model. All files are checked when the workflow is read
(snakemake_support/validate_catalogue), before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stele.errors import SteleError, nearest, unknown

Facts = Mapping[str, Any]  # a file, or an entry of it, as YAML has it


def choice(entry: Facts, key: str, valid: Iterable[str], where: str, at: Sequence[str], required: bool = False) -> Any:
    """The value of a key, which must be one of `valid`; a key that is missing is an error where it is `required`."""
    value = entry.get(key)
    if key not in entry and required:
        close = next((name for name in entry if nearest(name, [key])), None)
        slip = f"unknown key '{'.'.join((*at, close))}'; did you mean {key!r}?" if close else None
        raise SteleError(f"{where}: {slip or '.'.join((*at, key)) + ': Field required'}")
    if value is not None and not isinstance(value, str):
        raise SteleError(f"{where}: {'.'.join((*at, key))}: Input should be a valid string (found {value!r})")
    if value is not None and value not in (names := list(valid)):
        raise unknown("value", value, names, f"{where}: {'.'.join((*at, key))}")
    return value

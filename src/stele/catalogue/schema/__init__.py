"""Pydantic models of the files of facts, by topic. Unknown keys and wrong values raise SteleError.

`catalogue.entries` returns the entries of a file, typed by its model. All files are checked when the workflow is read
(snakemake_support/validate_catalogue), before anything is built.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stele.errors import SteleError, nearest, unknown

Facts = Mapping[str, Any]  # a file, or an entry of it, as YAML has it


def choice(entry: Facts, key: str, valid: Iterable[str], where: str, at: Sequence[str], required: bool = False) -> Any:
    """Returns the value of a key. Raises SteleError if it is not one of `valid`, or is `required` and missing."""
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

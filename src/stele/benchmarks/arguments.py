"""The arguments that name datasets: DATASET:PART=PATH, any number of them.

PATH is the record of a dataset (rules give that), or, for what a user has at hand, the folder with the dataset's files
or the one file itself. `DATASET=PATH` is the dataset whole, as part "all".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stele.artifacts import records
from stele.benchmarks.types import Data
from stele.errors import SteleError

RECORD = "record.json"


def data_paths(given: Sequence[str], name: str = "--data") -> dict[str, Path]:
    """The paths by `dataset:part`. Raises SteleError for a key given twice and for a missing path."""
    paths: dict[str, Path] = {}
    for item in given:
        key, equals, path = item.partition("=")
        dataset, colon, part = key.partition(":")
        if not (equals and dataset and path) or (colon and not part):
            raise SteleError(f"{name} {item!r}: want DATASET:PART=PATH, for example mrtydi:sw=.../record.json")
        key = f"{dataset}:{part or 'all'}"
        if key in paths:
            raise SteleError(f"{name}: {key} is given twice")
        if not Path(path).exists():
            raise SteleError(f"{name} {key}: no such record, folder or file: {path}")
        paths[key] = Path(path)
    return paths


def data_records(given: Sequence[str], name: str = "--data") -> dict[str, Path]:
    """The paths by `dataset:part`. Raises SteleError, also for a path that is not a record."""
    paths = data_paths(given, name)
    for key, path in paths.items():
        if not path.is_file():
            raise SteleError(f"{name} {key}: want the record of a dataset ({RECORD}), found the folder {path}")
    return paths


def record_count(paths: Mapping[str, Path], *names: str, part: str = "all") -> int | None:
    """How many items some records count, each under the first of `names` that it has; None where none is counted.

    Of a record that counts by language it is the number of `part`, else of all.

    >>> record_count({}, "passages") is None
    True
    """
    total = 0
    for path in paths.values():
        counts = records.read_record(path).get("counts", {}) if path.name == RECORD else {}
        value = next((counts[name] for name in names if name in counts), None)
        number = value.get(part, value.get("all")) if isinstance(value, dict) else value
        total += number if isinstance(number, int) else 0
    return total or None


def data_folders(paths: Mapping[str, Path]) -> Data:
    """dataset -> part -> the folder that holds the files (a record's own), or the one file."""
    data: dict[str, dict[str, Path]] = {}
    for key, path in paths.items():
        dataset, _, part = key.partition(":")
        data.setdefault(dataset, {})[part] = path.parent if path.name == RECORD else path
    return data

"""Parse the arguments that name datasets: DATASET:PART=PATH, any number of them.

PATH is the record of a dataset (in the workflow's rules) or, for a user's own data, the folder with the dataset's files
or its only file. `DATASET=PATH` gives the dataset as a whole, as part "all".
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stele.artifacts import records
from stele.benchmarks.types import Data
from stele.errors import SteleError
from stele.files.atomic import RECORD
from stele.files.reading import refuse_pipe


def data_paths(arguments: Sequence[str], name: str = "--data") -> dict[str, Path]:
    """Parses the arguments to paths by `dataset:part`. Raises SteleError for a repeated key, a missing path, a pipe."""
    paths: dict[str, Path] = {}
    for item in arguments:
        key, equals, path = item.partition("=")
        dataset, colon, part = key.partition(":")
        if not (equals and dataset and path) or (colon and not part):
            raise SteleError(f"{name} {item!r}: want DATASET:PART=PATH, for example mrtydi:sw=.../record.json")
        key = f"{dataset}:{part or 'all'}"
        if key in paths:
            raise SteleError(f"{name}: {key} is given twice; give it once")
        if not Path(path).exists():
            raise SteleError(f"{name} {key}: no such record, folder or file: {path}")
        refuse_pipe(Path(path))
        paths[key] = Path(path)
    return paths


def data_records(arguments: Sequence[str], name: str = "--data") -> dict[str, Path]:
    """Parses the arguments as `data_paths` does. Raises SteleError also for a path that is not a record."""
    paths = data_paths(arguments, name)
    for key, path in paths.items():
        if not path.is_file():
            raise SteleError(f"{name} {key}: want the record of a dataset ({RECORD}), found the folder {path}")
    return paths


def record_count(paths: Mapping[str, Path], *names: str, part: str = "all") -> int | None:
    """Sums the counts of some records, each under the first of `names` that it has; None if no record counts them.

    Of a record with counts by language, the count of `part` is taken or, without one, that of "all".

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
    """Maps dataset -> part -> the folder with the files (for a record, its folder) or the only file."""
    data: dict[str, dict[str, Path]] = {}
    for key, path in paths.items():
        dataset, _, part = key.partition(":")
        data.setdefault(dataset, {})[part] = path.parent if path.name == RECORD else path
    return data

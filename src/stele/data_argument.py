"""The arguments that name datasets: DATASET:PART=record.json, any number of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from stele.benchmarks.types import Data
from stele.errors import SteleError


def add_data_argument(parser: argparse.ArgumentParser, name: str = "--data", required: bool = True) -> None:
    parser.add_argument(name, nargs="+", required=required, default=[], metavar="DATASET:PART=record.json")


def data_records(given: Sequence[str], name: str = "--data") -> dict[str, Path]:
    """The records by `dataset:part`."""
    found: dict[str, Path] = {}
    for item in given:
        key, equals, path = item.partition("=")
        dataset, colon, part = key.partition(":")
        if not (equals and colon and dataset and part and path):
            raise SteleError(f"{name} {item!r}: want DATASET:PART=record.json, for example mrtydi:sw=.../record.json")
        if key in found:
            raise SteleError(f"{name}: {key} is given twice")
        if not Path(path).is_file():
            raise SteleError(f"{name} {key}: no such record: {path}")
        found[key] = Path(path)
    return found


def data_folders(found: Mapping[str, Path]) -> Data:
    """dataset -> part -> the folder that holds the files, which is the record's own."""
    data: dict[str, dict[str, Path]] = {}
    for key, path in found.items():
        dataset, _, part = key.partition(":")
        data.setdefault(dataset, {})[part] = path.parent
    return data

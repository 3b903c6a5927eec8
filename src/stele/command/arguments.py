"""How a command's arguments are read: numbers as they are written in files, outputs that can be written."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import RECORD, check_record, check_replaceable, is_made
from stele.files.reading import LARGEST_SEED


def whole(text: str) -> int:
    """A whole number in the digits 0 to 9.

    >>> whole("-12")
    -12
    """
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at most 18 digits 0 to 9")
    return int(text)


def seed(text: str) -> int:
    """A seed, as all generators of random numbers take it."""
    if (value := whole(text)) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text} is no seed: the largest is {LARGEST_SEED}")
    return value


def number(text: str) -> float:
    """A finite number in the digits 0 to 9."""
    if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text) or not math.isfinite(float(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return float(text)


def output(*endings: str) -> Callable[[str], Path]:
    """A file to write, whose ending says its format: refused before the work, and not after it."""

    def path(text: str) -> Path:
        file = Path(text)
        if file.suffix not in endings:
            raise SteleError(f"{text}: want a file that ends in {' or '.join(endings)}, which says its format")
        if file.is_dir():
            raise SteleError(f"{text}: a folder, want a file that ends in {' or '.join(endings)}")
        return file

    return path


def add_record(parser: argparse.ArgumentParser, job: str) -> None:
    """`--output`, the record.json of a folder that `job` makes whole: refused before the work if it may not."""

    def path(text: str) -> Path:
        if (record := Path(text)).name != RECORD:
            raise SteleError(f"{text}: the record of a folder is called {RECORD}; write {record / RECORD}")
        check_replaceable(record.parent, job)
        return record

    what = f"{RECORD} to write, in a folder of its own"
    parser.add_argument("--output", required=True, type=path, metavar="RECORD", help=what)


def add_record_beside(parser: argparse.ArgumentParser, job: str, folders: Sequence[str], *files: str) -> None:
    """`--output`, a record that `job` writes with folders and files beside it: refused where those are another's."""

    def path(text: str) -> Path:
        record = Path(text)
        check_record(record, job)
        places = [record.parent / folder for folder in folders]
        for place in places:
            check_replaceable(place, job)
        for file in (record.parent / name for name in files if not any(is_made(place, job) for place in places)):
            if file.exists():
                raise SteleError(f"{file}: is there, and is not of `{job}`; give another folder")
        return record

    what = f"FILE.json to write; {', '.join([*(f'{folder}/' for folder in folders), *files])} stand beside it"
    parser.add_argument("--output", required=True, type=path, metavar="RECORD", help=what)

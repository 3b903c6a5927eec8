"""Detects damage: the inputs of a job are checked against the records that were written with them.

A record lists its files with size and sha256 (`outputs`); `content` is a digest of its own values. The check compares
the size of every file and the digest of files up to 64 MB. Of a larger file it reads 8 of 256 parts: both ends, and six
that differ from job to job, so 2.4 % of the jobs that read the file notice a changed byte between the ends. A file that
was written after its record is read whole, and so is every file with `verify_inputs: true`.
"""

import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.record_shape import MANIFEST, SEAL, is_users_words, rebuild, seal_problem
from stele.artifacts.records import Record
from stele.errors import Damaged, SteleError
from stele.files.atomic import RECORD
from stele.files.digests import BLOCKS, WHOLE, FileFacts, block_digest, digest, facts_digest, sha256
from stele.files.reading import read_note

VERIFY_WHOLE = "STELE_VERIFY_INPUTS"  # 1: check files whole
LARGEST_RECORD = 256 << 20  # bytes; a larger JSON is a user's, and is not read twice
DRAWN = 6  # parts of a large file that are checked, in addition to both ends
# arguments that are no inputs: outputs, and mirrors, whose files are checked when they are taken
NOT_READ = ("output", "output_dir", "state", "results_dir", "manifest", "mirrors")
# outputs of jobs, which no user describes by hand
MADE = (
    "base", "calibration", "dense", "encoder", "encoders", "generator", "negatives", "page_entities", "term",
    "tokenizer", "verdict",
)  # fmt: skip


class Damage(NamedTuple):
    """A damaged file, the problem, the record that the file belongs to, and the job that wrote it."""

    path: Path
    problem: str
    record: Path
    job: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem} (made by `{self.job}`, see {self.record})"


def check_inputs(arguments: Mapping[str, Any]) -> None:
    """Raises Damaged if a record among a command's arguments, or a file that belongs to one, is damaged.

    Raises SteleError if an argument wants the record of a job and gets one that a user wrote about a dataset.
    """
    for name in arguments.keys() & MADE:
        for path in filter(lambda path: is_users_words(_read(path)), records_among(arguments[name])):
            option = f"--{name.replace('_', '-')}"
            raise SteleError(f"{option} {path}: has no digest, so it describes a dataset; want a job's record")
    whole = os.environ.get(VERIFY_WHOLE) == "1"
    paths = {path: None for name, value in arguments.items() if name not in NOT_READ for path in records_among(value)}
    damaged = [damage for path in paths for damage in damages(path, whole, key=str(arguments.get("output")))]
    if damaged:
        again = rebuild(damage.record for damage in damaged)
        raise Damaged("\n".join(["damaged input:", *map(str, damaged), again]))


def records_among(value: Any) -> Iterator[Path]:
    """Yields the records that an argument names: as FILE, NAME=FILE, or by a folder with a record in or beside it."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from records_among(item)
    elif isinstance(value, str | Path):
        for text in dict.fromkeys((str(value), str(value).partition("=")[2])):
            try:
                path = Path(text)
                if path.suffix == ".json" and path.is_file():
                    yield path
                elif text and path.is_dir():
                    places = (path / RECORD, path / MANIFEST, path.parent / RECORD)
                    yield from [place for place in places if place.is_file()][:1]
            except (OSError, ValueError):  # not a path
                continue


def damages(path: Path, whole: bool = True, key: str = "") -> list[Damage]:
    """Each damage of a record and its files, [] if `path` is no record; `key` seeds the sampled parts."""
    record = _read(path)
    damaged = list(_damages_of(record, path, whole, key))
    if record and not damaged and (problem := seal_problem(record, path)):
        return [Damage(path, problem, path, str(record.get("job")))]
    return damaged


def _damages_of(record: Record, path: Path, whole: bool, key: str) -> Iterator[Damage]:
    """Yields each difference between the digests in a record and the values and files that they describe."""
    if not {"content", "inputs"} <= record.keys():
        return
    job = str(record.get("job"))
    if isinstance(record.get("metrics"), dict) and record["content"] != digest(record["metrics"]):
        yield Damage(path, "its values are not those that were scored", path, job)
    files = outputs(record)
    if job.startswith("sources ") and record["content"] != facts_digest(files, record.get("collection")):
        yield Damage(path, "its list of files is not the one that was written", path, job)
    for name, facts in files.items():
        if problem := file_problem(path.parent / name, facts, path.stat().st_mtime_ns, whole, f"{key} {name}"):
            yield Damage(Path(os.path.normpath(path.parent / name)), problem, path, job)


def outputs(record: Record) -> dict[str, FileFacts]:
    """Files that a record describes, by path from the record's folder; {} for an older record without such a list.

    Records of datasets and checkpoints list them under `files`.
    """
    facts = record.get("outputs") or (record.get("files") if str(record.get("job")).startswith("sources ") else None)
    return facts if isinstance(facts, dict) else {}


def _read(path: Path) -> Record:
    """Reads the record in a file; returns {} for any other file, such as a user's JSON of any size."""
    try:
        if path.stat().st_size > LARGEST_RECORD:
            return {}
    except OSError:
        return {}
    record = read_note(path)  # the job that reads it reports errors
    return record if isinstance(record.get("job"), str) and {SEAL, "inputs", "labels"} & record.keys() else {}


def file_problem(path: Path, facts: FileFacts, record_time: int, whole: bool, key: str) -> str | None:
    """The problem of a file, as text; None for an intact one. `record_time`: when its record was written, in ns."""
    try:
        status = path.stat()
        if status.st_size != facts["bytes"]:
            return f"has {status.st_size:,} bytes, but {facts['bytes']:,} were written"
        if whole or status.st_size <= WHOLE or status.st_mtime_ns > record_time:
            changed = sha256(path) != facts["sha256"]
        else:
            changed = any(
                block_digest(path, status.st_size, number) != facts["blocks"][number]
                for number in (sampled(key) if "blocks" in facts else ())
            )
    except FileNotFoundError:
        return "a link that leads nowhere" if path.is_symlink() else "the file is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "its bytes differ from those written" if changed else None


def sampled(key: str) -> list[int]:
    """Numbers of the parts of a large file that a job checks; the same key always gives the same parts.

    >>> sampled("a")[0], sampled("a")[-1], len(sampled("a"))
    (0, 255, 8)
    """
    return sorted({0, BLOCKS - 1, *random.Random(key).sample(range(1, BLOCKS - 1), DRAWN)})

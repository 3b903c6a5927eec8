"""Checks that a record has values of the right types, is complete, and is unchanged since it was written.

A folder of results may come from somebody else, so its records are checked like any file from outside. A record holds a
digest of all its other keys. Records of an earlier version have none; one is accepted if the manifest of its folder of
results (written by `stele tables manifest`) lists its bytes. A record that a user writes by hand about their own data
needs no digest either, and gets a label that says so.
"""

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import formatannotation
from pathlib import Path
from typing import Any, get_args, get_origin

from stele.errors import Damaged, SteleError
from stele.files.atomic import RECORD
from stele.files.digests import digest, sha256
from stele.files.reading import read_note

SEAL = "digest"  # of all other keys of a record
NO_DIGEST = "record without digest"  # label of results from data that only the user describes
MANIFEST = "manifest.json"
ABOVE = 5  # most folders between a result and its manifest
WHOLE = frozenset({"job", "labels"})  # every record has them
OF_DATASET = "sources dataset"
# keys of a dataset's record that a user may write by hand
USERS_KEYS = WHOLE | {"dataset", "part", "version", "languages", "title", "licence", "origin", "counts"}
# keys and their types, in every record and ancestor
ALWAYS = {
    "job": str,
    "labels": list[str],
    "inputs": dict[str, str],
    "ancestry": dict[str, dict],
    "versions": dict[str, str],
}
# keys that a record may omit or set to null; an ancestor's are never null
FACTS = {
    **dict.fromkeys(("model", "repository", "revision", "licence"), str),
    **dict.fromkeys(("encoding", "recipe"), dict),
    "encoding_decided_by": dict[str, list[str]],
    "encoding_notes": list[str],
}


def check(record: Mapping[str, Any], path: Path) -> None:
    """Raises SteleError if a key of a record, or of an ancestor in it, has a value of the wrong type."""
    _check(record, ALWAYS, f"{path}: ")
    _check({key: value for key, value in record.items() if value is not None}, FACTS, f"{path}: ")
    for name, facts in record.get("ancestry", {}).items():
        _check(facts, ALWAYS | FACTS, f"{path}: ancestry.{name}.")


def _check(facts: Mapping[str, Any], wanted: Mapping[str, Any], where: str) -> None:
    for key in wanted.keys() & facts.keys():
        if not _fits(facts[key], wanted[key]):
            want, found = formatannotation(wanted[key]), str(facts[key])[:80]
            raise SteleError(f"{where}{key}: not a readable record (want {want}, found {found!r})")


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of a JSON text has a type such as str or dict[str, list[str]]."""
    if not isinstance(value, get_origin(kind) or kind):
        return False
    items = value.values() if isinstance(value, dict) else value
    return all(_fits(item, argument) for argument in get_args(kind)[-1:] for item in items)


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the record with its digest, its values as JSON reads them back."""
    plain = json.loads(json.dumps({key: value for key, value in record.items() if key != SEAL}, allow_nan=False))
    return {**plain, SEAL: digest(plain)}


def check_seal(record: Mapping[str, Any], path: Path) -> None:
    """Raises Damaged if a record is incomplete, or was changed after it was written."""
    if problem := seal_problem(record, path):
        raise Damaged(f"{path}: {problem}; {rebuild([path])}")


def seal_problem(record: Mapping[str, Any], path: Path) -> str | None:
    """The problem of a record as a whole, as text: incomplete, changed or without a digest. None for a valid record."""
    if lacking := WHOLE - record.keys():
        return f"the record is incomplete: it has no {' and no '.join(sorted(lacking))}"
    if SEAL in record:
        written = digest({key: value for key, value in record.items() if key != SEAL})
        return None if record[SEAL] == written else "not as it was written (its digest does not match)"
    if is_users_words(record) or _is_listed(path):
        return None
    problem = "the record has no digest of itself: it was changed, or an earlier version of Stele wrote it"
    if record["job"] != OF_DATASET:
        return problem
    return f"{problem}; a record of your own data may have only the keys {', '.join(sorted(USERS_KEYS))}"


def is_users_words(record: Mapping[str, Any]) -> bool:
    """Whether a user wrote this record of a dataset by hand: it lacks the files and digests of Stele's records."""
    return record.get("job") == OF_DATASET and WHOLE <= record.keys() <= USERS_KEYS


def _is_listed(path: Path) -> bool:
    """Whether the manifest of a folder of results lists a file with the digest of its present bytes."""
    path = path.absolute()
    for folder in path.parents[:ABOVE]:
        if (manifest := folder / MANIFEST).is_file() and manifest != path:
            files = _files_in(manifest, manifest.stat().st_mtime_ns)
            return files.get(path.relative_to(folder).as_posix()) == sha256(path)
    return False


@cache
def _files_in(manifest: Path, changed: int) -> Mapping[str, str]:
    """Name -> sha256 of the files in a manifest; {} for a manifest that was changed after it was written."""
    written = read_note(manifest)
    if SEAL not in written or seal_problem(written, manifest) or not isinstance(written.get("files"), dict):
        return {}
    return {name: str(facts.get("sha256")) for name, facts in written["files"].items() if isinstance(facts, dict)}


def rebuild(records: Iterable[Path]) -> str:
    """Advice for damaged records or files: one command that rebuilds them."""
    targets = dict.fromkeys(map(target, records))
    return f"rebuild with `snakemake --force {' '.join(targets)}` (and the options of your run), then run again"


def target(record: Path) -> str:
    """Snakemake target that makes a record: its own path, or for a snapshot the record of the encoder it belongs to."""
    if record.parent.parent.name == "snapshots":
        record = record.parents[2] / RECORD
    path = os.path.relpath(record)
    return str(record) if path.startswith("..") else path

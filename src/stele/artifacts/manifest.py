"""The manifest of a folder of results: every file with its digest, and what each result was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.artifacts.record_shape import SEAL, check_seal, seal
from stele.artifacts.results import result_files
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json, sha256

NAME = "manifest.json"
OF_THE_RUN = (NAME, "usage.csv", "usage.md", "usage.svg")  # itself, and times: they differ from run to run


def write(folder: Path, output: Path | None = None) -> None:
    """Writes the manifest of a folder, into the folder unless another place is given."""
    atomic_write_json(output or folder / NAME, seal({"job": "tables manifest", "labels": [], **manifest(folder)}))


def manifest(folder: Path) -> dict[str, Any]:
    """{"files": path -> sha256 and bytes, "results": path -> its record but for values and ancestry, "ancestry"}.

    Ancestors are shared by many results and stand once, by their digest. A damaged result has its error for a record.
    One of an earlier version, without a digest, is from now on read as the manifest has it.
    """
    results: dict[str, dict[str, Any]] = {}
    ancestry = {}
    for path in result_files(folder):
        try:
            record = records.read_unsealed(path)
            if SEAL in record:
                check_seal(record, path)
        except SteleError as error:
            record = {"unreadable": str(error)}
        ancestry |= record.pop(records.ANCESTRY, {})
        facts = {key: value for key, value in record.items() if key not in ("metrics", "intervals", "counts")}
        results[path.relative_to(folder).as_posix()] = facts
    return {"files": files(folder), "results": results, "ancestry": ancestry}


def files(folder: Path) -> dict[str, dict[str, Any]]:
    """Path below the folder -> sha256 and bytes, of every file but those OF_THE_RUN and hidden ones."""
    facts = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in OF_THE_RUN and not any(part.startswith(".") for part in Path(name).parts):
            facts[name] = {"sha256": sha256(path), "bytes": path.stat().st_size}
    return facts

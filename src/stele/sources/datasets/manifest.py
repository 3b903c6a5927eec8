"""Manifests of generated data: the digests and counts that stand in for the catalogue's.

A manifest is the record of the job that generated the files: `files` maps an address to sha256 and bytes, `counts` a
dataset to what is in it, `licensed` a dataset to the files that upstream does not give out freely.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.artifacts.records import read_record
from stele.errors import SteleError
from stele.files.digests import FileFacts
from stele.sources.download.verify import Expected


class Manifest:
    """What a generated mirror or checkpoint says about its own files."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        record = read_record(self.path)
        if not isinstance(record.get("files"), dict):
            raise SteleError(f"{self.path}: not a manifest (no 'files' in it); delete it and run its job again")
        self.files: Mapping[str, FileFacts] = record["files"]
        self._counts: Mapping[str, Mapping[str, Any]] = record.get("counts", {})
        self._licensed: Mapping[str, Mapping[str, FileFacts]] = record.get("licensed", {})

    def expected(self, url: str) -> Expected | None:
        """{"sha256", "bytes"} of an address, None where nothing was generated for it."""
        entry = self.files.get(url)
        return None if entry is None else {"sha256": entry["sha256"], "bytes": entry["bytes"]}

    def licensed(self, dataset: str, name: str) -> Expected | None:
        """{"sha256", "bytes"} of a generated file that lies in a user_data folder, by its path there or its name."""
        entries = self._licensed.get(dataset, {})
        by_name = {path.rpartition("/")[2]: entry for path, entry in entries.items()}
        entry = entries.get(name) or by_name.get(name.rpartition("/")[2])
        return None if entry is None else {"sha256": entry["sha256"], "bytes": entry["bytes"]}

    def count(self, dataset: str, what: str, of: str | None) -> Any:
        """The number of something in a generated dataset (of one language: `of`), None where none was noted."""
        number = self._counts.get(dataset, {}).get(what)
        return number.get(of) if isinstance(number, Mapping) and of is not None else number

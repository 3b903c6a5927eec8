"""The files of a checkpoint on the hub: which a repository has and which are needed, fetched through mirrors."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue.hub import (
    ADAPTER,
    CONFIG,
    MODULES,
    SENTENCE_BERT,
    SENTENCE_TRANSFORMERS,
    STATIC,
    TOKENIZER,
    VOCABULARY,
    WEIGHTS,
    address,
)
from stele.catalogue.schema.datasets import PartFile
from stele.catalogue.schema.models import Model
from stele.errors import SteleError, nearest
from stele.files.digests import FileFacts
from stele.files.paths import relative
from stele.sources.download.places import FetchedFile, Places
from stele.sources.download.unpack import place_file
from stele.sources.weights.checkpoint_files import (
    INSTEAD,
    read_json,
    read_module_list,
    read_weight_map,
    refuse_code_of,
)

log = logging.getLogger(__name__)

WEIGHT_FILES = (".safetensors", ".bin", ".index.json")


class Download:
    """The files of a repository that make a checkpoint, settings first and weights last; `files` are those fetched."""

    def __init__(self, model: str, source: Mapping[str, Any], repo: str, revision: str, places: Places) -> None:
        self.model, self.source, self.repo, self.revision, self.places = model, source, repo, revision, places
        self.where = f"{repo} ({revision})"
        self.files: dict[str, FetchedFile] = {}  # by path in the repository
        self._folders: dict[str, bool] = {}  # those that may hold weights, and whether they must

    def take_settings(self) -> None:
        """Fetches all files but weights; raises SteleError for a missing one, and for code."""
        if self.source.get("files"):
            for path in self.source["files"]:
                if not path.endswith(WEIGHT_FILES):
                    self._take(path, optional=False)
            return
        try:
            self._find_settings()
        except SteleError as error:
            known = {model.checkpoint for model in catalogue.entries(Model).values() if model.checkpoint}
            meant = nearest(self.repo, known) if self.repo not in known else None
            raise SteleError(f"{error}\n  did you mean {meant!r}?" if meant else str(error)) from None

    def take_weights(self) -> None:
        """Fetches the weights: the first kind that a folder has, with all shards of an index."""
        for path in self.source.get("files") or ():
            self._take(path, optional=False)
        for below, needed in self._folders.items():
            kind = next((name for name in WEIGHTS if self._take(f"{below}{name}")), None)
            if kind is None and needed:
                raise SteleError(f"{self.where}: no weights in {below or 'it'} (none of {', '.join(WEIGHTS)})")
            if kind is not None and kind.endswith(".index.json"):
                for shard in sorted(set(read_weight_map(self.files[f"{below}{kind}"].path).values())):
                    self._take(f"{below}{shard}", optional=False)

    def _take(self, path: str, optional: bool = True) -> bool:
        """Fetches one file, unless it is there already; whether there is one."""
        path = relative(path, self.where)
        if path in self.files:
            return True
        sha256 = self.source.get("sha256", {}).get(path)
        file = PartFile(path=path, url=address(self.repo, self.revision, path), sha256=sha256)
        got = self.places.get(file, f"{self.model} {path}", optional=optional)
        if got is None:
            return False
        log.info("%s: %s, %.1f MB, %s, checked by %s", self.model, path, got.bytes / 1e6, got.origin, got.verified)
        self.files[path] = got
        instead = self.source.get("instead") or INSTEAD
        refuse_code_of(got.path, Path(path).name, f"{self.where}: {path}", instead)
        return True

    def _find_settings(self) -> None:
        """Fetches the settings of a transformers folder, or of all modules of a sentence-transformers folder."""
        if not self._take(MODULES):
            self._take_transformer("")
            return
        self._take(SENTENCE_TRANSFORMERS)
        for module in read_module_list(self.files[MODULES].path):
            below = f"{module['path']}/" if module.get("path") not in (None, "", ".") else ""
            kind = str(module.get("type", "")).rsplit(".", 1)[-1]
            if kind == "Transformer":
                self._take_transformer(below)
                for path in (f"{below}{name}" for name in SENTENCE_BERT):
                    if self._take(path) and read_json(self.files[path].path):  # an empty one counts for nothing
                        break
            elif kind == STATIC:
                self._take(f"{below}{VOCABULARY[0]}", optional=False)
                self._folders[below] = True
            elif below:
                self._take(f"{below}{CONFIG}")
                self._folders[below] = False

    def _take_transformer(self, below: str) -> None:
        self._take(f"{below}{CONFIG}", optional=False)
        for path in (ADAPTER, *TOKENIZER):
            self._take(f"{below}{path}")
        if not any(f"{below}{path}" in self.files for path in VOCABULARY):
            raise SteleError(f"{self.where}: no tokenizer in {below or 'it'} (none of {', '.join(VOCABULARY)})")
        self._folders[below] = True


def place_fetched(files: Mapping[str, FetchedFile], folder: Path) -> dict[str, FileFacts]:
    """Puts fetched files into a folder, each under its path in the repository; returns their facts."""
    facts = {}
    for path, file in files.items():
        place_file(file.path, folder, path, file.url)
        facts[path] = {"sha256": file.sha256, "bytes": file.bytes, "verified": file.verified, "url": file.url}
    return facts

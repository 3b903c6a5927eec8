"""The files of a checkpoint: fetched from the hub, read as JSON, searched for code, converted to safetensors.

Which files a repository has and which are needed is found out through mirrors; code in them is never run.
"""

from __future__ import annotations

import logging
import pickle
import zipfile
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
from stele.files import reading
from stele.files.atomic import atomic_write_json
from stele.files.digests import FileFacts
from stele.files.paths import inside, relative
from stele.files.reading import JsonObject
from stele.sources.download.places import FetchedFile, Places
from stele.sources.download.unpack import place_file

log = logging.getLogger(__name__)

INSTEAD = "use a model that transformers itself knows"
SHARDS = (".safetensors", ".bin")
SETTINGS = (CONFIG, "tokenizer_config.json")  # they may name code in `auto_map`
TIED = 8  # times as many bytes as a file may its tensors have together: some share memory, and get their own


def read_json(path: Path) -> Any:
    """A JSON file of a checkpoint; a damaged one is an error that names it."""
    return reading.read_json(path, advice="fetch it again")


def read_weight_map(index: Path) -> dict[str, str]:
    """Tensor -> the file of weights that holds it, below the folder of an index; every name is checked."""
    listed = read_json(index)
    names = listed.get("weight_map") if isinstance(listed, Mapping) else None
    if not isinstance(names, Mapping) or not names:
        raise SteleError(f"{index}: no weight_map in it (want tensor -> file); fetch it again")
    shards = {tensor: relative(name, str(index)) for tensor, name in names.items()}
    if other := next((name for name in shards.values() if Path(name).suffix not in SHARDS), None):
        raise SteleError(
            f"{index}: names {other!r}, which holds no weights (want {' or '.join(SHARDS)}); fetch it again"
        )
    return shards


def read_module_list(path: Path) -> list[JsonObject]:
    """The modules of a sentence-transformers folder, as its modules.json lists them."""
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(module, Mapping) for module in listed):
        raise SteleError(f"{path}: want a list of modules, each with type and path; fetch it again")
    return listed


def refuse_code(folder: Path, instead: str = INSTEAD) -> None:
    """Refuses a checkpoint that brings its own code; `instead` is what to do."""
    for path in sorted(path for name in SETTINGS for path in folder.rglob(name)):
        refuse_code_of(path, path.name, str(path), instead)
    if (folder / MODULES).is_file():
        refuse_code_of(folder / MODULES, MODULES, str(folder / MODULES), instead)


def refuse_code_of(path: Path, name: str, where: str, instead: str = INSTEAD) -> None:
    """Refuses a file of a checkpoint that asks for code: settings with auto_map, modules from elsewhere.

    `name` is the file's name in the checkpoint, `where` its name in errors; any other file is let through.
    """
    if name == MODULES:
        for module in read_module_list(path):
            kind = str(module.get("type", ""))
            if not kind.startswith("sentence_transformers."):
                raise SteleError(f"{where}: module {kind!r} is its own code, which Stele never runs")
    elif name in SETTINGS:
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("auto_map"):
            raise SteleError(
                f"{where}: brings its own code (auto_map), and Stele never runs a checkpoint's code; {instead}"
            )


def model_folders(folder: Path) -> list[Path]:
    """The folders of a checkpoint that hold a transformer: itself, a module of sentence-transformers, or two towers."""
    folders, static = [], static_folders(folder)
    for path in sorted(folder.rglob(CONFIG)):
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("model_type") and path.parent not in static:
            folders.append(path.parent)
    return folders


def static_folders(folder: Path) -> list[Path]:
    """The folders of a checkpoint's modules that have vectors of tokens alone."""
    listed = read_module_list(folder / MODULES) if (folder / MODULES).is_file() else []
    paths = [module.get("path") for module in listed if str(module.get("type", "")).endswith(f".{STATIC}")]
    return [folder if path in (None, "", ".") else inside(folder, path, str(folder / MODULES)) for path in paths]


def convert(source: Path, target: Path) -> int:
    """Writes the tensors of a PyTorch file (`pytorch_model.bin`) as safetensors; returns how many.

    Tensors that share memory (tied weights) become independent copies, as safetensors wants; names stay. A file that
    needs code to be read, or that is no plain mapping of names to tensors, is refused.
    """
    from safetensors.torch import save_file

    with reading.reading(source, "PyTorch file", "fetch it again, or ask for the weights as safetensors"):
        tensors = _load(source)
        seen: set[int] = set()
        separate = {}
        for name, tensor in tensors.items():
            memory = tensor.untyped_storage().data_ptr()
            separate[name] = tensor.clone().contiguous() if memory in seen else tensor.contiguous()
            seen.add(memory)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        try:
            save_file(separate, part, metadata={"format": "pt"})
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    log.info("%s: %d tensors to %s", source.name, len(separate), target.name)
    return len(separate)


def convert_shards(index: Path, folder: Path) -> None:
    """Converts the shards that a `pytorch_model.bin.index.json` names, and writes the index of the new ones."""
    listed, shards = read_json(index), read_weight_map(index)
    names = {
        old: old.replace("pytorch_model", "model").removesuffix(".bin") + ".safetensors"
        for old in sorted(set(shards.values()))
    }
    for old, new in names.items():
        convert(index.parent / old, inside(folder, new, str(index)))
    listed["weight_map"] = {tensor: names[old] for tensor, old in shards.items()}
    with reading.reading(index, "index of weights", "fetch it again"):  # JSON has no NaN to write
        atomic_write_json(folder / "model.safetensors.index.json", listed)


def _load(source: Path) -> Mapping[str, Any]:
    import torch

    mapped = zipfile.is_zipfile(source)  # files of before PyTorch 1.6 cannot be mapped
    try:
        content = torch.load(source, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        raise SteleError(
            f"{source}: needs code to be run when it is read, which Stele never does, or is damaged "
            f"({' '.join(str(error).split())[:200]}). Ask for the weights as safetensors"
        ) from None
    if not isinstance(content, Mapping) or not content:
        raise SteleError(f"{source}: want names and tensors, found {type(content).__name__}")
    foreign = [name for name, value in content.items() if not isinstance(name, str) or not torch.is_tensor(value)]
    if foreign:
        raise SteleError(
            f"{source}: want only tensors, found others under {', '.join(map(repr, foreign[:4]))} "
            "(a training state? the weights alone are needed)"
        )
    size = source.stat().st_size
    needed = sum(tensor.numel() * tensor.element_size() for tensor in content.values())
    if needed > TIED * size:
        raise SteleError(f"{source}: its tensors are {needed:,} bytes, the file has {size:,}; get it again")
    return content


# --- from the hub ---
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

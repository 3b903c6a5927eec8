"""Fetch a checkpoint's files from the hub, read their settings, refuse code, and convert weights to safetensors.

Requests to mirrors or the hub show which files a repository has. Code in them is never run.
"""

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
from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.digests import FileFacts
from stele.files.paths import inside, relative
from stele.files.reading import JsonObject
from stele.sources.download.places import FetchedFile, Places
from stele.sources.download.unpack import place_file

log = logging.getLogger(__name__)

INSTEAD = "use a model that transformers itself knows"
SHARDS = (".safetensors", ".bin")
SETTINGS = (CONFIG, "tokenizer_config.json")  # they may name code in `auto_map`
TIED = 8  # largest ratio of tensor bytes to file bytes: tensors that share memory in the file become copies


def read_json(path: Path) -> Any:
    """Reads a JSON file of a checkpoint. Raises SteleError, naming the file, if it is damaged."""
    return reading.read_json(path, advice="fetch it again")


def read_weight_map(index: Path) -> dict[str, str]:
    """Maps each tensor to its file of weights, relative to the index. Raises SteleError if a name is no such file."""
    listed = read_json(index)
    names = listed.get("weight_map") if isinstance(listed, Mapping) else None
    if not isinstance(names, Mapping) or not names:
        raise SteleError(f"{index}: it has no weight_map (want tensor -> file); fetch it again")
    shards = {tensor: relative(name, str(index)) for tensor, name in names.items()}
    if other := next((name for name in shards.values() if Path(name).suffix not in SHARDS), None):
        raise SteleError(
            f"{index}: names {other!r}, which holds no weights (want a {' or '.join(SHARDS)} file); fetch it again"
        )
    return shards


def read_module_list(path: Path) -> list[JsonObject]:
    """Modules that a sentence-transformers modules.json lists. Raises SteleError if it is not a list of mappings."""
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(module, Mapping) for module in listed):
        raise SteleError(f"{path}: want a list of modules, each with type and path; fetch it again")
    return listed


def refuse_code(folder: Path, instead: str = INSTEAD) -> None:
    """Raises SteleError if a checkpoint brings its own code; `instead` is the error's advice."""
    for path in [*sorted(path for name in SETTINGS for path in folder.rglob(name)), folder / MODULES]:
        if path.is_file():
            refuse_code_of(path, path.name, str(path), instead)


def refuse_code_of(path: Path, name: str, where: str, instead: str) -> None:
    """Raises SteleError if a file refers to a checkpoint's own code: settings with auto_map, or foreign modules.

    `name` is the file's name in the checkpoint, `where` its name in errors. Other files pass unread.
    """
    if name == MODULES:
        for module in read_module_list(path):
            kind = str(module.get("type", ""))
            if not kind.startswith("sentence_transformers."):
                raise SteleError(f"{where}: module {kind!r} is the checkpoint's own code, which Stele never runs")
    elif name in SETTINGS:
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("auto_map"):
            raise SteleError(
                f"{where}: brings its own code (auto_map), and Stele never runs a checkpoint's code; {instead}"
            )


def model_folders(folder: Path) -> list[Path]:
    """Folders of a checkpoint that hold a transformer: itself, a sentence-transformers module, or two towers."""
    folders, static = [], static_folders(folder)
    for path in sorted(folder.rglob(CONFIG)):
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("model_type") and path.parent not in static:
            folders.append(path.parent)
    return folders


def static_folders(folder: Path) -> list[Path]:
    """Folders of a checkpoint's modules that hold static token vectors (StaticEmbedding)."""
    listed = read_module_list(folder / MODULES) if (folder / MODULES).is_file() else []
    paths = [module.get("path") for module in listed if str(module.get("type", "")).endswith(f".{STATIC}")]
    return [folder if path in (None, "", ".") else inside(folder, path, str(folder / MODULES)) for path in paths]


def convert(source: Path, target: Path) -> int:
    """Writes the tensors of a PyTorch file (`pytorch_model.bin`) as safetensors; returns the number of tensors.

    Tensors that share memory (tied weights) become independent copies, as safetensors requires; names stay. Raises
    SteleError if reading the file needs code, or if it is not a plain mapping of names to tensors.
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
        with atomic_file(target, "wb") as part:
            save_file(separate, part.name, metadata={"format": "pt"})
    log.info("%s: %d tensors to %s", source.name, len(separate), target.name)
    return len(separate)


def convert_shards(index: Path) -> None:
    """Converts the shards that a `pytorch_model.bin.index.json` names, and writes the new index beside it."""
    listed, shards = read_json(index), read_weight_map(index)
    names = {
        old: old.replace("pytorch_model", "model").removesuffix(".bin") + ".safetensors"
        for old in sorted(set(shards.values()))
    }
    for old, new in names.items():
        convert(index.parent / old, inside(index.parent, new, str(index)))
    listed["weight_map"] = {tensor: names[old] for tensor, old in shards.items()}
    with reading.reading(index, "index of weights", "fetch it again"):  # JSON has no NaN to write
        atomic_write_json(index.with_name("model.safetensors.index.json"), listed)


def _load(source: Path) -> Mapping[str, Any]:
    import torch

    mapped = zipfile.is_zipfile(source)  # files of before PyTorch 1.6 cannot be mapped
    try:
        content = torch.load(source, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        raise SteleError(
            f"{source}: reading it needs code from the file, which Stele never runs, or the file is damaged "
            f"({' '.join(str(error).split())[:200]}). Ask the authors for the weights as safetensors"
        ) from None
    if not isinstance(content, Mapping) or not content:
        raise SteleError(f"{source}: want a mapping of names to tensors, found {type(content).__name__}")
    foreign = [name for name, value in content.items() if not isinstance(name, str) or not torch.is_tensor(value)]
    if foreign:
        raise SteleError(
            f"{source}: want only tensors, found other values under {', '.join(map(repr, foreign[:4]))} "
            "(if it is a training state, save the weights alone)"
        )
    size = source.stat().st_size
    needed = sum(tensor.numel() * tensor.element_size() for tensor in content.values())
    if needed > TIED * size:
        raise SteleError(f"{source}: its tensors are {needed:,} bytes, the file has {size:,}; get it again")
    return content


# --- from the hub ---
class Download:
    """Fetches a checkpoint's files from a repository, settings before weights; `files` maps paths to fetched files."""

    def __init__(self, model: str, source: Mapping[str, Any], repo: str, revision: str, places: Places) -> None:
        self.model, self.source, self.repo, self.revision, self.places = model, source, repo, revision, places
        self.where = f"{repo} ({revision})"
        self.files: dict[str, FetchedFile] = {}  # by path in the repository
        self._folders: dict[str, bool] = {}  # folder -> whether it must hold weights

    def take_settings(self) -> None:
        """Fetches all files but the weights. Raises SteleError if a needed file is missing or brings its own code."""
        try:
            self._find_settings()
        except SteleError as error:
            known = {model.checkpoint for model in catalogue.entries(Model).values() if model.checkpoint}
            suggestion = nearest(self.repo, known) if self.repo not in known else None
            raise SteleError(f"{error}\n  did you mean {suggestion!r}?" if suggestion else str(error)) from None

    def take_weights(self) -> None:
        """Fetches each folder's first available kind of weights with all shards; raises SteleError if none is found."""
        for below, needed in self._folders.items():
            kind = next((name for name in WEIGHTS if self._take(f"{below}{name}")), None)
            if kind is None and needed:
                raise SteleError(f"{self.where}: no weights in {below or 'it'}; want one of {', '.join(WEIGHTS)}")
            if kind is not None and kind.endswith(".index.json"):
                for shard in sorted(set(read_weight_map(self.files[f"{below}{kind}"].path).values())):
                    self._take(f"{below}{shard}", optional=False)

    def _take(self, path: str, optional: bool = True) -> bool:
        """Fetches one file unless it was fetched before; returns whether the repository has it."""
        path = relative(path, self.where)
        if path in self.files:
            return True
        file = PartFile(path=path, url=address(self.repo, self.revision, path))
        got = self.places.get(file, f"{self.model} {path}", optional=optional)
        if got is None:
            return False
        log.info("%s: %s, %.1f MB, %s, checked by %s", self.model, path, got.bytes / 1e6, got.origin, got.verified)
        self.files[path] = got
        instead = self.source.get("instead") or INSTEAD
        refuse_code_of(got.path, Path(path).name, f"{self.where}: {path}", instead)
        return True

    def _find_settings(self) -> None:
        """Fetches the settings of a transformers folder, or those of every module of a sentence-transformers folder."""
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
                    if self._take(path) and read_json(self.files[path].path):  # an empty object is ignored
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
            raise SteleError(f"{self.where}: no tokenizer in {below or 'it'} (want one of {', '.join(VOCABULARY)})")
        self._folders[below] = True


def place_fetched(files: Mapping[str, FetchedFile], folder: Path) -> dict[str, FileFacts]:
    """Places fetched files in a folder under their repository paths; returns sha256, size and origin of each."""
    facts = {}
    for path, file in files.items():
        place_file(file.path, folder, path, file.url)
        facts[path] = {"sha256": file.sha256, "bytes": file.bytes, "verified": file.verified, "url": file.url}
    return facts

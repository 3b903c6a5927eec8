"""Foreign weights to safetensors, without ever running the code in a pickle."""

from __future__ import annotations

import logging
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.paths import inside
from stele.files.reading import reading
from stele.sources.weights.load_check import read_json, read_weight_map

log = logging.getLogger(__name__)

TIED = 8  # times as many bytes as a file may its tensors have together: some share memory, and get their own


def convert(source: Path, target: Path) -> int:
    """Writes the tensors of a PyTorch file (`pytorch_model.bin`) as safetensors; returns how many.

    Tensors that share memory (tied weights) become independent copies, as safetensors wants; names stay. A file that
    needs code to be read, or that is no plain mapping of names to tensors, is refused.
    """
    from safetensors.torch import save_file

    with reading(source, "PyTorch file", "fetch it again, or ask for the weights as safetensors"):
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
    with reading(index, "index of weights", "fetch it again"):  # JSON has no NaN to write
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

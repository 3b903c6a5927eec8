"""Publishing: a finished model as the folder of a repository on the generated hub, with the manifest of its files."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stele.artifacts.record_shape import seal
from stele.artifacts.records import GENERATED, STAND_IN
from stele.catalogue.hub import address
from stele.encoders.tokenizer import quiet
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.digests import files_digest, sha256
from stele.files.reading import read_object
from stele.world.content.manifest import HUB, NAME
from stele.world.standins._recipe import Made

JOB = "world standin"
REVISION = "main"
BELOW = Path("resolve", REVISION)


def hub_folder(mirror: Path, repo: str) -> Path:
    """Where the files of a repository lie in a mirror.

    >>> hub_folder(Path("m"), "FacebookAI/roberta-base").as_posix()
    'm/huggingface.co/FacebookAI/roberta-base/resolve/main'
    """
    return Path(mirror, HUB, repo) / BELOW


@contextmanager
def published(whole: Path, repo: str | None) -> Iterator[Path]:
    """A new folder for a model's files; it appears in `whole`, with its manifest.

    On the hub, where it has a `repo`, the manifest lies above the files and names addresses; of what was released
    elsewhere it lies beside them and names them.
    """
    with atomic_directory(whole, JOB) as new:
        folder = new / BELOW if repo else new
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        entries = {}
        for path in files:
            name = path.relative_to(folder).as_posix()
            digest = sha256(path)
            entry = {"sha256": digest, "bytes": path.stat().st_size, "raw_sha256": digest}
            entries[address(repo, REVISION, name) if repo else name] = entry
        content = files_digest(folder)
        facts = {"job": JOB, "files": entries, "labels": [GENERATED, STAND_IN], "content": content}
        atomic_write_json(new / NAME, seal(facts))


def write(folder: Path, made: Made, form: str) -> None:
    """Writes config, weights (`safetensors` or `pytorch_model.bin`), tokenizer and, with a spec, the modules."""
    import torch

    if made.folder and made.folder.weights == "bfloat16":
        made.model.to(torch.bfloat16)
    with quiet():
        if form == "safetensors":
            size = sum(weight.numel() * weight.element_size() for weight in made.model.parameters())
            sharded = made.folder is not None and made.folder.sharded
            made.model.save_pretrained(folder, **({"max_shard_size": math.ceil(0.6 * size)} if sharded else {}))
        else:
            made.model.config.architectures = [type(made.model).__name__]
            made.model.config.save_pretrained(folder)
            weights = {name: value.detach().cpu().contiguous() for name, value in made.model.state_dict().items()}
            torch.save(weights, folder / "pytorch_model.bin")
    save_tokenizer(folder, made.tokenizer)
    if made.spec is not None:
        from stele.encoders.save import write_modules
        from stele.recipes.encoding import make_spec

        write_modules(folder, made.model, make_spec(made.spec), made.heads)
        if made.folder is not None:
            _state_prompts(folder / "config_sentence_transformers.json", made.folder.prompts)


def _state_prompts(path: Path, prompts: Mapping[str, str] | None) -> None:
    """Leaves the prompts in a folder's settings that its original names; one that names none has no such file."""
    if prompts is None:
        path.unlink()
    else:
        atomic_write_json(path, read_object(path, "settings") | {"prompts": dict(prompts)})


def save_tokenizer(folder: Path, tokenizer: Any) -> None:
    """The tokenizer's files, without where it was loaded from."""
    tokenizer = copy.deepcopy(tokenizer)
    for circumstance in ("is_local", "local_files_only", "name_or_path"):
        tokenizer.init_kwargs.pop(circumstance, None)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)

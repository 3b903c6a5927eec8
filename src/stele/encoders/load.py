"""Loading encoders: a plain `transformers` folder, a sentence-transformers folder, or a folder that Stele saved."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.artifacts.integrity import RECORD
from stele.encoders.backbone import load_backbone, refuse_longer
from stele.encoders.resolve import Wanted, resolve
from stele.encoders.sentence_transformers_folder import read_heads, static_folder
from stele.encoders.tokenizer import check_probe
from stele.errors import SteleError
from stele.files.reading import parse_object
from stele.files.strict import Values
from stele.recipes.encoding import FOLDER, EncodingSpec

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

log = logging.getLogger(__name__)


def tower_folders(folder: Path, spec: EncodingSpec) -> list[Path]:
    """Folders of the towers: one shared, or query/ and passage/. Raises SteleError for a folder without config.json."""
    towers = [folder] if spec.towers == "shared" else [folder / "query", folder / "passage"]
    for tower in towers:
        if not (tower / "config.json").exists():
            raise SteleError(f"{tower}: found no config.json; want a transformers model folder (towers: {spec.towers})")
    return towers


def parse_encoding(text: str) -> Values | None:
    """Parses the value of --encoding; None if it has no keys."""
    return parse_object(text, "--encoding") or None


def load_given_encoder(args: Any, folder: Path | None = None) -> Encoder:
    """Loads the encoder of an EncoderJob's arguments, or that in `folder` in the same way, on this machine's device."""
    import torch

    from stele.training.processes import default_device

    if args.threads:
        torch.set_num_threads(args.threads)
    return load_encoder(folder or args.encoder.parent, parse_encoding(args.encoding), str(default_device()))


def load_encoder(folder: Path | str, spec: Wanted = None, device: str = "cpu") -> Encoder:
    """Loads the encoder in `folder` or beside a record, as `named.load_encoder`. Raises SteleError if it is unfit."""
    from stele.encoders.encode import Encoder, full_dimension
    from stele.encoders.static_embedding import load_static, tokenizer_of

    folder = Path(folder)
    if folder.name == RECORD:
        folder = folder.parent
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder; want a model folder with config.json and model.safetensors")
    resolved = resolve(folder, spec)
    spec = resolved.spec
    for note in resolved.notes:
        log.warning("%s: %s", folder, note)
    if static := static_folder(folder):
        towers, backbones = [folder], [load_static(static, spec.weights)]
    else:
        towers = tower_folders(folder, spec)
        backbones = [load_backbone(tower, spec.pooling, spec.layer, weights=spec.weights)[0] for tower in towers]
    tokenizer = tokenizer_of(towers[0])
    check_probe(folder, tokenizer)
    if resolved.chat and not tokenizer.chat_template:
        raise SteleError(f"{folder}: its texts need a chat template, but its tokenizer has none")
    refuse_longer(folder, spec, backbones[0].config)
    heads: list[list] = [[] for _ in towers]
    # modules are followed with the folder's own pooling only; a pooler has no module
    if spec.pooling != "pooler" and resolved.origins["pooling"] == FOLDER:
        pairs = zip(towers, backbones, strict=True)
        heads = [read_heads(tower, backbone.config.hidden_size) for tower, backbone in pairs]
    if spec.weights != "float32":
        heads = [[head.to(backbones[0].dtype) for head in of_tower] for of_tower in heads]
    if spec.dimension and spec.dimension > (full := full_dimension(backbones[0], heads[0])):
        raise SteleError(f"{folder}: dimension is {spec.dimension}, its vectors have {full} numbers")
    return Encoder([*zip(backbones, heads, strict=True)], tokenizer, resolved, device)

"""Encoders from folders: a plain `transformers` folder, a sentence-transformers folder, or one that Stele saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stele.artifacts.integrity import RECORD
from stele.encoders.backbone import load_backbone, positions
from stele.encoders.probe import check_probe
from stele.encoders.sentence_transformers_folder import MODULES_FILE, read_heads, read_modules
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.files.strict import Values
from stele.recipes.encoding import EncodingSpec, check_keys, make_spec, read_spec

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Wanted = Values | EncodingSpec | None


def resolve_spec(folder: Path, wanted: Wanted) -> EncodingSpec:
    """The spec under which a folder is to be used: what the folder states, completed by `wanted` where it does not.

    An encoder that Stele trained states everything and is read as it was trained; only the precision can be chosen. A
    sentence-transformers folder states all but passage format and precision, and its lengths are its own, whatever a
    protocol says; another pooling or normalisation than it states is an error. A plain transformers
    folder states nothing.
    """
    folder = Path(folder)
    values = wanted.model_dump(exclude_unset=True) if isinstance(wanted, EncodingSpec) else dict(wanted or {})
    check_keys(values, "encoding")
    trained = read_spec(folder)
    if trained is not None:
        chosen = {"precision": values["precision"]} if "precision" in values else {}
        return make_spec({**trained.model_dump(), **chosen}, str(folder))
    if (folder / MODULES_FILE).exists():
        return _refine(read_modules(folder), values, folder)
    if "pooling" not in values:
        raise SteleError(
            f"{folder}: a plain transformers folder does not say how texts become vectors; "
            "give the model an encoding, at least `encoding: {pooling: cls}` or `{pooling: mean}`"
        )
    return make_spec(values, str(folder))


def _refine(stated: EncodingSpec, values: Values, folder: Path) -> EncodingSpec:
    """A sentence-transformers folder's spec with what may be chosen beside it."""
    values_of_folder = stated.model_dump()
    chosen = {key: values[key] for key in ("precision", "passage_format") if key in values}
    chosen |= {key: values_of_folder[key] for key in ("query_length", "passage_length")}
    for key in sorted(set(values) - set(chosen)):
        if values[key] != values_of_folder[key]:
            raise SteleError(
                f"{folder}: its sentence-transformers modules state {key}: {values_of_folder[key]!r}, requested was "
                f"{values[key]!r}; leave {key} out of the model's encoding, or give the bare transformers folder"
            )
    return make_spec({**values_of_folder, **chosen}, str(folder))


def tower_folders(folder: Path, spec: EncodingSpec) -> list[Path]:
    """The folders of the towers: one for both, or the query's and the passage's."""
    towers = [folder] if spec.towers == "shared" else [folder / "query", folder / "passage"]
    for tower in towers:
        if not (tower / "config.json").exists():
            raise SteleError(f"{tower}: no config.json; want a transformers model folder (towers: {spec.towers})")
    return towers


def load_encoder(folder: Path | str, spec: Wanted = None, device: str = "cpu") -> Encoder:
    """The encoder in `folder` (or beside a record, `.../record.json`), ready to encode on `device`.

    `spec` completes what the folder does not state (see `resolve_spec`); a plain transformers folder needs it. The
    tokenizer is compared with the probe saved at training. Folders without a model, unsupported modules and
    contradictions raise SteleError.

    A plain transformers folder of a model that is 32 wide:

    >>> encoder = load_encoder(folder, {"pooling": "mean", "query_length": 64, "passage_length": 64})
    >>> encoder.encode(["who wrote the novel", "the river Nile"], "query").shape
    (2, 32)
    """
    from stele.encoders.encode import Encoder

    folder = Path(folder)
    if folder.name == RECORD:
        folder = folder.parent
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder; want a model folder with config.json and model.safetensors")
    spec = resolve_spec(folder, spec)
    towers = tower_folders(folder, spec)
    tokenizer = load_tokenizer(towers[0])
    check_probe(folder, tokenizer)
    backbones = [load_backbone(tower, spec.pooling, spec.layer)[0] for tower in towers]
    for kind in ("query", "passage"):
        if spec.length(kind) > (most := positions(backbones[0].config)):
            raise SteleError(f"{folder}: {kind}_length is {spec.length(kind)}, the model has {most} positions")
    pairs = zip(towers, backbones, strict=True)
    heads = [
        [] if spec.pooling == "pooler" else read_heads(tower, backbone.config.hidden_size) for tower, backbone in pairs
    ]
    return Encoder(backbones[0], backbones[-1], tokenizer, spec, heads[0], heads[-1], device)

"""Which model a key, a folder or a repository on the hub means, and the encoding that a user gives it."""

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue.schema.costs import Checkpoint
from stele.catalogue.schema.models import Model, hub_names
from stele.errors import SteleError, nearest, unknown
from stele.files.reading import reading
from stele.recipes.flops import Shape

log = logging.getLogger(__name__)

OF_A_COPY = ("checkpoint", "revision", "encoding")  # keys of a known model under another name


def model_of(name_given: str, encoding: dict[str, Any], name: str | None = None) -> tuple[str, dict[str, Any]]:
    """The key of a model and its entry for `models` of config.yaml.

    For a model of models.yaml the entry has only the user's encoding. `name` is the key to give the model; a folder
    named like a model of models.yaml counts as a copy of it. Raises SteleError if `name_given` denotes no model.
    """
    known = catalogue.entries(Model)
    of_id = {model.checkpoint.lower(): key for key, model in known.items() if model.checkpoint}
    folder = Path(name_given).expanduser()
    if folder.is_dir():
        return _of_folder(folder.resolve(), of_id, encoding, name)
    key = name_given if name_given in known else of_id.get(name_given.lower())
    if key:
        return _of_known(key, encoding, name)
    for twin, model in known.items():
        if model.same_weights_as == name_given:
            raise SteleError(f"{name_given}: needs its own code, which Stele never runs; use {twin}, the same weights")
    if not re.fullmatch(r"(?!\.)[\w.-]+/[\w.-]+", name_given):
        if "/" in name_given:
            raise SteleError(f"{name_given}: neither a folder nor a hub id (OWNER/NAME)")
        raise unknown("model", name_given, known, "no folder, no hub id (OWNER/NAME)", hub_names(known))
    _refuse_mistyped_folder(*name_given.split("/"))
    return _named(name, name_given.partition("/")[2]), _with_encoding({"checkpoint": name_given}, encoding)


def _refuse_mistyped_folder(owner: str, name: str) -> None:
    """Raises SteleError if OWNER/NAME looks like a path: there is a folder OWNER, or NAME in a folder nearly so called.

    Otherwise the hub would be asked for it, which takes half a minute.
    """
    parent = owner if Path(owner).is_dir() else nearest(owner, [path.parent.name for path in Path().glob(f"*/{name}")])
    if parent:
        close = nearest(name, [path.name for path in Path(parent).iterdir() if path.is_dir()])
        hint = f"; did you mean {parent}/{close}?" if close else ""
        raise SteleError(f"{owner}/{name}: no such folder{hint} (if it is a hub id, rename the folder {parent}/)")


def _of_folder(
    folder: Path, of_id: Mapping[str, str], encoding: dict[str, Any], name: str | None
) -> tuple[str, dict[str, Any]]:
    """Key and entry of a folder's model, a copy of a known one if named like a repository in `of_id` (lower case)."""
    repository = repository_of(folder)
    known = of_id if "/" in repository else {full.rpartition("/")[2]: key for full, key in of_id.items()}
    key = known.get(repository.lower())
    if name is None and key:
        difference = size_difference(key, folder)
        if difference:
            log.warning("%s has the name of %s, but %s: it is evaluated as another model", folder, key, difference)
        else:
            log.warning("%s has the name of %s and counts as a copy of it; give another model a --name", folder, key)
            name = key
    return _named(name, repository.rpartition("/")[2]), _with_encoding({"checkpoint": str(folder)}, encoding)


def size_difference(key: str, folder: Path) -> str:
    """Says how many layers, of what width, a folder's model has in place of a known one's; "" if they are equal."""
    sizes, shape = catalogue.entries(Checkpoint).get(key), Shape.in_folder(folder)
    if shape is None:
        return "no config.json in it says its layers and width"
    if sizes is None or (shape.layers, shape.width) == (sizes.layers, sizes.width):
        return ""
    return f"has {shape.layers} layers of width {shape.width} in place of {sizes.layers} of {sizes.width}"


def _of_known(key: str, encoding: dict[str, Any], name: str | None) -> tuple[str, dict[str, Any]]:
    """Key and entry of a model of models.yaml, or of the same checkpoint under another name."""
    model = catalogue.entries(Model)[key]
    if not model.has_encoder:
        raise SteleError(f"{key}: has no encoder; give a model that encodes texts")
    if name in (None, key):
        return key, _with_encoding({}, encoding)
    copied = {part: value for part, value in model.given().items() if part in OF_A_COPY}
    return _named(name, key), {**copied, "encoding": {**copied.get("encoding", {}), **encoding}}


def _with_encoding(model: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {**model, "encoding": encoding} if encoding else model


def repository_of(folder: Path) -> str:
    """OWNER/NAME of a snapshot folder in the Hugging Face cache; for any other folder, the folder's name.

    >>> repository_of(Path("hub/models--intfloat--multilingual-e5-small/snapshots/fd1525a"))
    'intfloat/multilingual-e5-small'
    >>> repository_of(Path("models/multilingual-e5-small"))
    'multilingual-e5-small'
    """
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        return "/".join(folder.parent.parent.name.split("--")[1:])
    return folder.name


def _named(name: str | None, default: str) -> str:
    """The key that the user gives a model, else one made from the name of its folder or repository."""
    key = re.sub(r"[^A-Za-z0-9_.-]", "_", name or default).lstrip("_.-") or "model"
    if name is None:
        return f"{key}_own" if key in catalogue.entries(Model) else key
    if key != name:
        raise SteleError(f"--name {name!r}: want letters, digits, '_', '-' and '.', a letter or digit first")
    return name


def encoding_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Parses KEY=VALUE texts into keys of an encoding, with values read as YAML. Raises SteleError for other texts.

    Prompts and instructions are taken literally, including blanks, except that \\n becomes a line break.
    """
    import yaml

    encoding = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key:
            raise SteleError(f"--encoding: want KEY=VALUE, found {pair!r}")
        is_text = key.endswith("_prompt") or key == "instruction"
        with reading(f"--encoding {pair}", "value of YAML", "put quotes around it"):
            encoding[key] = text.replace("\\n", "\n") if is_text else yaml.safe_load(text)
    return encoding

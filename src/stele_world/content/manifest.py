"""The manifest of a generated mirror: what lies at which address, and the counts that stand in for the catalogue's.

`{mirror}/manifest.json` covers the datasets. Generated checkpoints come later and from other jobs, so each keeps a
manifest of its own beside its files: `{mirror}/huggingface.co/{owner}/{name}/manifest.json`, of the same shape.
"""

from __future__ import annotations

from pathlib import Path

from stele.artifacts.record_shape import check_seal
from stele.catalogue.datasets import mirror_path
from stele.errors import SteleError
from stele.files.reading import JsonObject, read_object

NAME = "manifest.json"
HUB = "huggingface.co"


def path_of(mirror: Path | str, url: str) -> Path:
    """Where the file of `url` lies in a mirror folder: {mirror}/{host}/{path}.

    >>> path_of("m", "https://dumps.wikimedia.org/swwiki/20220801/a.txt").as_posix()
    'm/dumps.wikimedia.org/swwiki/20220801/a.txt'
    """
    return Path(mirror, mirror_path(url))


def read_manifest(path: Path | str) -> JsonObject:
    """Reads a manifest; a missing or damaged one is an error that says how to make it again."""
    path = Path(path)
    again = "delete the folder and run the rule that writes it again"
    if not path.exists():
        raise SteleError(f"{path}: no manifest, so this generated mirror is not finished; {again}")
    manifest = read_object(path, "manifest", again)
    if not isinstance(manifest.get("files"), dict):
        raise SteleError(f"{path}: not a manifest (no 'files' in it); {again}")
    check_seal(manifest, path)
    return manifest

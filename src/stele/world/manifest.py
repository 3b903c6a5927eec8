"""The manifest of a generated mirror: what lies at which address, and the counts that stand in for the catalogue's.

`{mirror}/manifest.json` covers the datasets. Generated checkpoints come later and from other jobs, so each keeps a
manifest of its own beside its files: `{mirror}/huggingface.co/{owner}/{name}/manifest.json`, of the same shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stele.catalogue.datasets import mirror_path
from stele.errors import SteleError

NAME = "manifest.json"
HUB = "huggingface.co"


def path_of(mirror: Path | str, url: str) -> Path:
    """Where the file of `url` lies in a mirror folder: {mirror}/{host}/{path}.

    >>> path_of("m", "https://dumps.wikimedia.org/swwiki/20220801/a.txt").as_posix()
    'm/dumps.wikimedia.org/swwiki/20220801/a.txt'
    """
    return Path(mirror, mirror_path(url))


def read_manifest(path: Path | str) -> dict[str, Any]:
    """Reads a manifest; a missing or damaged one is an error that says how to make it again."""
    path = Path(path)
    again = "delete the folder and run the rule that writes it again"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SteleError(f"{path}: no manifest, so this generated mirror is not finished; {again}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SteleError(f"{path}: not a readable manifest ({error}); {again}") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise SteleError(f"{path}: not a manifest (no 'files' in it); {again}")
    return manifest


def lookup(mirror: Path | str, url: str) -> dict[str, Any] | None:
    """What the manifests of `mirror` say of `url`: {"sha256", "bytes"}, or None when neither names it."""
    for manifest in _manifests(Path(mirror), url):
        if (entry := read_manifest(manifest)["files"].get(url)) is not None:
            return {"sha256": entry["sha256"], "bytes": entry["bytes"]}
    return None


def _manifests(mirror: Path, url: str) -> Iterator[Path]:
    """The mirror's manifest, then the nearest one above the file on the generated hub."""
    if (mirror / NAME).is_file():
        yield mirror / NAME
    folder, hub = path_of(mirror, url).parent, mirror / HUB
    while hub in folder.parents:
        if (folder / NAME).is_file():
            yield folder / NAME
            return
        folder = folder.parent

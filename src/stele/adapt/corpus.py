"""The documents that an encoder is adapted to, as a configuration names them, and their languages."""

from __future__ import annotations

from pathlib import Path

from stele.catalogue import entries
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_data import listing
from stele.errors import SteleError

ENDINGS = (".txt", ".txt.xz")


def user_corpus(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The key of `user_data`, and the languages of the documents. Raises SteleError where there are none."""
    names = {path.name for path in map(Path, listing(folder)) if path.name.endswith(ENDINGS)}
    languages = sorted({name.partition(".")[0] for name in names} & entries(Language).keys())
    if not languages:
        raise SteleError(f"--documents {folder}: no text of a language in it; want files as de.txt, sw.txt.xz")
    return {"cc100": str(folder.expanduser().resolve())}, languages

"""The documents that an encoder is adapted to, as a configuration names them, and their languages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import DATASET, by_language


def user_corpus(place: Path, known: Mapping[str, Language]) -> tuple[dict[str, str], list[str]]:
    """The key of `user_data`, and the languages of the documents in a folder or file, of which some are `known`.

    Raises SteleError where there are none.
    """
    return {DATASET: str(place.expanduser().resolve())}, list(by_language(place, known))

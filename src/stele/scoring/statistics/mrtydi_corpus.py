"""Mr. TyDi: passages, one collection a language."""

from __future__ import annotations

from stele.benchmarks import mrtydi
from stele.benchmarks.types import Data
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """passages by language; the languages that have some."""
    collections = sorted(data[mrtydi.CORPUS])
    passages = {
        collection: number_of(mrtydi.passages(data, collection), f"passages of {collection}")
        for collection in collections
    }
    return {"passages": passages, "passage_languages": present(passages)}

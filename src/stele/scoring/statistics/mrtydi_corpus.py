"""Mr. TyDi: passages, in a pool a language."""

from __future__ import annotations

from stele.benchmarks import mrtydi
from stele.benchmarks.types import Data
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """passages by language; the languages that have some."""
    pools = sorted(data[mrtydi.CORPUS])
    found = {pool: number_of(mrtydi.passages(data, pool), f"passages of {pool}") for pool in pools}
    return {"passages": found, "passage_languages": present(found)}

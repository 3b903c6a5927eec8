"""Mr. TyDi: training queries that have a relevant passage."""

from __future__ import annotations

from stele.benchmarks import mrtydi
from stele.benchmarks.types import Data
from stele.scoring.statistics._counting import by_language


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """queries_train by language."""
    return {
        "queries_train": by_language(
            (example.language for example in mrtydi.training(data, "train")), "training queries"
        )
    }

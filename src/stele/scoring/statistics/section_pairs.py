"""Section pairs, by pair of languages: what the CLIR language model is pretrained on (Yu et al., table 2)."""

from __future__ import annotations

from stele.artifacts.knowledge_base import read_pairs
from stele.benchmarks.types import Data


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """pairs by part."""
    ((_, folders),) = data.items()
    return {"pairs": {part: len(read_pairs(folder)) for part, folder in folders.items()}}

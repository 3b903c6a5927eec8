"""The English passages of XOR-Retrieve."""

from __future__ import annotations

from stele.benchmarks import xor_retrieve
from stele.benchmarks.types import Data
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """passages, all of them English."""
    passages = {"en": number_of(xor_retrieve.passages(data, "en"), "passages")}
    return {"passages": passages, "passage_languages": present(passages)}

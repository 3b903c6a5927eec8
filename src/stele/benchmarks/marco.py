"""MS MARCO passage training set in Tevatron's layout (Tevatron/msmarco-passage): train.jsonl.gz.

A training set only: English queries, one or more positives, BM25 hard negatives.
"""

from __future__ import annotations

from collections.abc import Iterator

from stele.benchmarks._files import folder_of, located
from stele.benchmarks._tevatron import training_examples
from stele.benchmarks.types import Data, TrainingExample

DATASET = "msmarco_passage"


def training(data: Data, split: str) -> Iterator[TrainingExample]:
    """The examples of `train` (the only split with passages)."""
    yield from training_examples(located(folder_of(data, DATASET, "all"), f"{split}.jsonl.gz"), "en")

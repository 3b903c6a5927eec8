"""MS MARCO passages in Tevatron's layout: a training set (Tevatron/msmarco-passage) and its whole collection.

English queries with one or more positives and BM25 hard negatives: `train.jsonl.gz`. The 8,841,823 passages, under the
same ids: `corpus.jsonl.gz` of Tevatron/msmarco-passage-corpus.
"""

from __future__ import annotations

from collections.abc import Iterator

from stele.benchmarks._files import folder_of, located
from stele.benchmarks._tevatron import corpus_passages, training_examples
from stele.benchmarks.types import Data, Passage, TrainingExample

DATASET = "msmarco_passage"
CORPUS = "msmarco_passage_corpus"


def training(data: Data, split: str) -> Iterator[TrainingExample]:
    """The examples of `train` (the only split with passages)."""
    yield from training_examples(located(folder_of(data, DATASET, "all"), f"{split}.jsonl.gz"), "en")


def passages(data: Data, collection: str) -> Iterator[Passage]:
    """The whole collection, streamed; its one collection is "en"."""
    yield from corpus_passages(located(folder_of(data, CORPUS, collection), "corpus.jsonl.gz"))

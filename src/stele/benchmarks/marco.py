"""MS MARCO passages in Tevatron's layout: a training set (Tevatron/msmarco-passage) and its whole collection.

`train.jsonl.gz` has English queries with one or more positives and BM25 hard negatives. `corpus.jsonl.gz` of
Tevatron/msmarco-passage-corpus has the 8,841,823 passages under the same ids.
"""

from collections.abc import Iterator

from stele.benchmarks._files import folder_of, located
from stele.benchmarks._tables import table_passages
from stele.benchmarks._training_layouts import tevatron_examples
from stele.benchmarks.reader import CollectionReader, TrainingReader
from stele.benchmarks.types import Data, Passage, TrainingExample

DATASET = "msmarco_passage"
CORPUS = "msmarco_passage_corpus"


class Marco(TrainingReader, CollectionReader):
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Streams the examples of `train`, the only split with passages."""
        yield from tevatron_examples(located(folder_of(data, DATASET, "all"), f"{split}.jsonl.gz"), "en")

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams all passages; the only collection is "en"."""
        yield from table_passages(located(folder_of(data, CORPUS, collection), "corpus.jsonl.gz"), "docid")

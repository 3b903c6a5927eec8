"""Mr. TyDi v1.1: monolingual retrieval in eleven languages (castorini/mr-tydi, castorini/mr-tydi-corpus).

Each language has one query set and one collection. Judged split: test. Native files: `corpus.jsonl.gz` with {docid,
title, text}; `{train,dev,test}.jsonl.gz` with {query_id, query, positive_passages, negative_passages}, where a passage
is {docid, title, text}; `qrels.{dev,test}.txt` with `query 0 passage relevance`. The dev and test files name their
passages without the texts, so only `train` has training examples.
"""

from collections.abc import Iterator

from stele.benchmarks._files import field, folder_of, identifier, json_lines, language_folder, located, refuse_again
from stele.benchmarks._tables import table_passages
from stele.benchmarks._training_layouts import tevatron_examples
from stele.benchmarks._trec import read_qrels
from stele.benchmarks.reader import RetrievalReader, TrainingReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet, TrainingExample

TOPICS = "mrtydi"
TRAINING = "mrtydi_train"
CORPUS = "mrtydi_corpus"
JUDGED = "test"


class MrTydi(RetrievalReader, TrainingReader):
    JUDGED_SPLIT = JUDGED

    def queries(self, data: Data, query_set: QuerySet, split: str = JUDGED) -> Iterator[Query]:
        """Yields the queries of one language in a split: "test", or "dev" for tuning."""
        seen: set[str] = set()
        for where, item in json_lines(located(folder_of(data, TOPICS, query_set.language), f"{split}.jsonl.gz")):
            name = refuse_again(identifier(item.get("query_id"), where, "query_id"), seen, where, "query_id")
            seen.add(name)
            yield Query(name, field(item, "query", str, where))

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        yield from table_passages(located(folder_of(data, CORPUS, collection), "corpus.jsonl.gz"), "docid")

    def judgments(self, data: Data, query_set: QuerySet, split: str = JUDGED) -> Judgments:
        return read_qrels(located(language_folder(data, TOPICS, query_set.language), f"qrels.{split}.txt"))

    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields training examples with BM25 hard negatives, one language after the other."""
        for language in sorted(data.get(TRAINING, {})):
            path = located(folder_of(data, TRAINING, language), f"{split}.jsonl.gz")
            yield from tevatron_examples(path, language)

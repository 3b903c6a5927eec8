"""CIRAL v1.0: questions in English, passages of news in Hausa, Somali, Swahili and Yoruba (CIRAL/ciral, ciral-corpus).

Each language of the passages has one query set and one collection. Judged split: test-a with its shallow judgments, as
in the published runs of pyserini; test-a-pools and test-b give other numbers. Native files: `passages.jsonl` with
{docid, title, text, url} (hausa_passages.jsonl ... upstream), or Parquet files with these columns; `topics.tsv` with id
and English text; `qrels.tsv` in TREC's layout.
"""

from collections.abc import Iterator

from stele.benchmarks._files import folder_of, language_folder, located
from stele.benchmarks._tables import table_passages, tables
from stele.benchmarks._trec import read_qrels, tsv_topics, warn_missing_judged
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet

TOPICS, CORPUS = "ciral", "ciral_corpus"


class Ciral(RetrievalReader):
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the English topics for one language of passages."""
        yield from tsv_topics(located(folder_of(data, TOPICS, query_set.language), "topics.tsv"))

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the passages of one language; logs the number of judged passages that are missing."""
        judged = _judged(data, collection) if TOPICS in data else {}
        yield from warn_missing_judged(_passages(data, collection), judged, collection)

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        return _judged(data, query_set.language)


def _passages(data: Data, collection: str) -> Iterator[Passage]:
    """Streams the passages of one language, some of which have no title."""
    folder = folder_of(data, CORPUS, collection)
    for path in tables(folder) or [located(folder, "passages.jsonl")]:
        yield from table_passages(path, "docid", untitled=True)


def _judged(data: Data, language: str) -> Judgments:
    return read_qrels(located(language_folder(data, TOPICS, language), "qrels.tsv"))

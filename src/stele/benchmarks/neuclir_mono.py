"""NeuCLIRBench, monolingual: queries and documents in Persian, in Russian and in Chinese, each language separately.

Each language has one query set and one collection. NeuCLIRBench's fourth one, English queries over machine translations
of the documents, is left out: it measures the translations, too.

NeuCLIRBench (arXiv 2511.14758) has news of Common Crawl in these languages and topics of TREC's NeuCLIR 2022 to 2024
(news); neuclir_clir and neuclir_mlir are the other two benchmarks of the data set. Native files, with columns as in the
cards and the loader of neuclir/bench and neuclir/neuclir1: `{fas,rus,zho}-00000-of-00001.jsonl.gz` with {id, cc_file,
time, title, text, url}, or Parquet files with these columns; `news.{eng,fas,rus,zho}.tsv` with id and query (title and
description of a topic, joined), without a header line; `qrels.{mlir,fas,rus,zho}.gains.txt` with `query ignored
document gain`. Gains are 0, 1 and 3 and are not transformed (linear gain, as in trec_eval); they are not the relevance
of the track's own judgments. Only judged queries of a set count; the file of queries may have others.
"""

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import folder_of, located
from stele.benchmarks._tables import table_passages, tables
from stele.benchmarks._trec import read_qrels, tsv_topics, warn_missing_judged
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError

TOPICS, CORPUS = "neuclir", "neuclir_corpus"
# language, or the collection of all documents -> its name in the names of files
NAMES = {"en": "eng", "fa": "fas", "ru": "rus", "zh": "zho", "all": "mlir"}
SHOWN = 3  # ids in a message


class NeuclirMono(RetrievalReader):
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the queries that are judged on a collection. Raises SteleError for a missing query."""
        yield from queries_of(data, query_set.language, query_set.collection)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the documents of a collection, one language after the other.

        It warns of judged documents that are missing; they stay judged, as in trec_eval.
        """
        streamed = (passage for language in self.parts(collection) for passage in _documents(data, language))
        yield from warn_missing_judged(streamed, _judged(data, collection), collection)

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps query id -> {document id: gain 0, 1 or 3}."""
        return _judged(data, query_set.collection)


def queries_of(data: Data, language: str, collection: str) -> Iterator[Query]:
    """Yields the queries in a language that are judged on a collection. Raises SteleError for a missing query."""
    path = _file(data, f"news.{NAMES[language]}.tsv")
    known, queries = _judged(data, collection), list(tsv_topics(path))
    yield from (Query(name, " ".join(text.split())) for name, text in queries if name in known)
    if lacking := sorted(known.keys() - {query.id for query in queries}):
        raise SteleError(
            f"{path}: {len(lacking)} judged queries are not in it ({', '.join(lacking[:SHOWN])}); "
            f"want queries and gains of one release"
        )


def _judged(data: Data, collection: str) -> Judgments:
    return read_qrels(_file(data, f"qrels.{NAMES[collection]}.gains.txt"))


def _documents(data: Data, language: str) -> Iterator[Passage]:
    folder = folder_of(data, CORPUS, language)
    for path in tables(folder) or [located(folder, f"{NAMES[language]}-00000-of-00001.jsonl.gz")]:
        yield from table_passages(path, "id", untitled=True)


def _file(data: Data, name: str) -> Path:
    return located(folder_of(data, TOPICS, "all"), name)

"""NeuCLIRBench, cross-language: English queries, documents in Persian, in Russian and in Chinese.

Each language of the documents has one query set, one collection and one column of scores.
"""

from collections.abc import Iterator

from stele.benchmarks.neuclir_mono import NeuclirMono, queries_of
from stele.benchmarks.types import Data, Query, QuerySet


class NeuclirClir(NeuclirMono):
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the English queries that are judged on the documents of one language."""
        yield from queries_of(data, "en", query_set.collection)

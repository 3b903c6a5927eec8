"""NeuCLIRBench, multilingual: English queries, one ranking over the documents of all three languages.

One collection "all", the documents of the three languages one after the other. An id that two languages share is an
error, as one that comes twice in a language is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.benchmarks.neuclir_mono import LANGUAGES, documents, judgments_of, queries_of
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet

JUDGED = "mlir"


class NeuclirMlir(RetrievalReader):
    AVERAGE = "micro"  # mean over queries
    COLLECTION = "all"

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """The queries that are judged on the documents of all languages."""
        yield from queries_of(data, query_set.language, JUDGED)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """The documents of all three languages, streamed."""
        yield from documents(data, LANGUAGES, JUDGED)

    def parts(self, collection: str) -> Sequence[str]:
        """The collections of neuclir_mono and neuclir_clir that it is, one after the other."""
        return LANGUAGES

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        return judgments_of(data, JUDGED)

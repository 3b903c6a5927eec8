"""NeuCLIRBench, multilingual: English queries, one ranking over the documents of all three languages.

The collection "all" has the documents of the three languages one after the other. An id must not occur twice, neither
within a language nor in two languages.
"""

from collections.abc import Iterator, Sequence

from stele.benchmarks.neuclir_mono import LANGUAGES, documents, judgments_of, queries_of
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet

JUDGED = "mlir"


class NeuclirMlir(RetrievalReader):
    AVERAGE = "micro"  # mean over queries
    COLLECTION = "all"

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the queries that are judged on the documents of all languages."""
        yield from queries_of(data, query_set.language, JUDGED)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the documents of all three languages."""
        yield from documents(data, LANGUAGES, JUDGED)

    def parts(self, collection: str) -> Sequence[str]:
        """Collections of neuclir_mono and neuclir_clir that make up this one, in order."""
        return LANGUAGES

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        return judgments_of(data, JUDGED)

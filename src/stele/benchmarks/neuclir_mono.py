"""NeuCLIRBench, monolingual: queries and documents in Persian, in Russian and in Chinese, each by itself.

One query set and one collection a language. The bench's fourth one, English queries over machine translations of the
documents, is left out: it measures the translations, too.

>>> query_sets(["fa"])
[QuerySet(name='fa', language='fa', collection='fa')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.benchmarks import _neuclir
from stele.benchmarks.types import Data, Passage, Query, QuerySet

AVERAGE = "macro"  # mean over languages


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set a language, each with its collection."""
    return [QuerySet(language, language, language) for language in languages]


def queries(data: Data, query_set: QuerySet) -> Iterator[Query]:
    """The judged queries of one language, in that language."""
    yield from _neuclir.queries_of(data, query_set.language, query_set.language)


def passages(data: Data, collection: str) -> Iterator[Passage]:
    """The documents of one language, streamed."""
    yield from _neuclir.documents(data, (collection,), collection)


def judgments(data: Data, query_set: QuerySet) -> _neuclir.Judgments:
    """Query id -> {document id: gain}."""
    return _neuclir.judgments_of(data, query_set.language)

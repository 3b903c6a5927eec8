"""CLEF 2000-2003 ad hoc, queries in one language and documents in another: re-ranking of the judged documents.

A query set is a pair `en-de` (query language, document language). All judged documents of a query are its candidates
(Yu et al., section 5.1.3); a run's files may be the folds of a cross-validation. The judgments of a pair are given as
part `en-de` of the dataset, in TREC's layout.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.benchmarks._collection import judgments_of
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError

AVERAGE = "macro"  # mean over pairs; of a pair, over queries, so that folds weigh by their queries

judgments = judgments_of("clef")


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set a pair; the collection is that of the documents' language."""
    for pair in languages:
        if len([code for code in pair.split("-") if code]) != 2:
            raise SteleError(f"{pair!r}: want query and document language, as en-de")
    return [QuerySet(pair, pair, pair.partition("-")[2]) for pair in languages]

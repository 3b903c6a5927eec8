"""Judged documents that a collection lacks: counted in a warning as it is read; judged still, as in trec_eval."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping

from stele.benchmarks.types import Passage

logger = logging.getLogger(__name__)

SHOWN = 3  # ids in a message


def counted(passages: Iterable[Passage], judgments: Mapping[str, Mapping[str, int]], name: str) -> Iterator[Passage]:
    """The passages as they come; after the last one a warning of the judged ids that none of them bears.

    The judged ids alone are held, a few thousand: a collection may have tens of millions. `name` says whose they are.
    """
    lacking = {document for of_query in judgments.values() for document in of_query}
    for passage in passages:
        lacking.discard(passage.id)
        yield passage
    if lacking:
        shown = ", ".join(sorted(lacking)[:SHOWN])
        logger.warning("%s: %d judged documents are not in the collection (%s)", name, len(lacking), shown)

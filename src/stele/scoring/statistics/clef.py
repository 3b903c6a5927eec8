"""CLEF 2000-2003 by language of the documents: topics, judged documents a topic, lengths (Yu et al., table 3).

Topics without a relevant document in a language do not count there (section 5.1.1). Judgments are counted as they are,
those of documents that the collection lacks among them.
"""

from __future__ import annotations

from collections.abc import Iterator

from stele.benchmarks import clef
from stele.benchmarks.types import Data
from stele.catalogue import datasets

DATASET = "clef"


def counts(data: Data) -> dict[str, dict[str, int] | dict[str, float]]:
    """queries; relevant_per_query and nonrelevant_per_query, means: each by language."""
    judged = {code: _judged(data, code) for code in languages(data)}
    relevances = {code: [relevance for own in of.values() for relevance in own.values()] for code, of in judged.items()}
    queries = {code: len(own) for code, own in judged.items()}
    return {
        "queries": queries,
        "relevant_per_query": {code: sum(r > 0 for r in all_) / queries[code] for code, all_ in relevances.items()},
        "nonrelevant_per_query": {code: sum(r == 0 for r in all_) / queries[code] for code, all_ in relevances.items()},
    }


def documents(data: Data, language: str) -> Iterator[tuple[str, bool]]:
    """The text of every document in a language, its title first, and whether it is judged for a topic that counts."""
    judged = {name for own in _judged(data, language).values() for name, relevance in own.items() if relevance >= 0}
    for passage in clef.passages(data, language):
        yield " ".join(filter(None, (passage.title, passage.text))), passage.id in judged


def languages(data: Data) -> list[str]:
    """The languages that have any topic with a relevant document."""
    known = datasets.languages_of(datasets.dataset(DATASET))
    return [code for code in known if clef.has_language(data, code) and _judged(data, code)]


def _judged(data: Data, language: str) -> dict[str, dict[str, int]]:
    """The judgments of each topic that has a relevant document in a language."""
    (query_set,) = clef.query_sets([f"{language}-{language}"])
    judged = clef.all_judgments(data, query_set)
    return {topic: own for topic, own in judged.items() if any(relevance > 0 for relevance in own.values())}

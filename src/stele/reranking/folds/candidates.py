"""The candidates of re-ranking: all judged documents of each topic that has a relevant one (Yu et al., section 5.1)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stele.artifacts.run import Hits, Run, canonical, run_of
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Passage, QuerySet
from stele.errors import SteleError
from stele.evaluation.metrics.rankings import average_precision

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The n candidates of a query set, topic after topic; each is a judged document of a topic.

    topics, queries       ids of the topics, and their queries; a topic's judgments are in `judged`
    documents, texts      ids of the documents, each once, and their texts
    topic_of, document_of   int64 [n], indices into these lists; relevant: bool [n]
    counts                numbers for the record, among them those of omitted topics and documents
    """

    topics: list[str]
    queries: list[str]
    judged: list[Mapping[str, int]]
    documents: list[str]
    texts: list[str]
    topic_of: np.ndarray
    document_of: np.ndarray
    relevant: np.ndarray
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.topic_of)

    def of_topics(self, topics: np.ndarray) -> np.ndarray:
        """Numbers, int64 [n], of the candidates of some `topics` (indices [t])."""
        return np.flatnonzero(np.isin(self.topic_of, topics))

    def hits(self, topic: int, scores: np.ndarray) -> Hits:
        """Ranks a topic's documents by the `scores` [n] of all candidates, in canonical order."""
        of_topic = self.topic_of == topic
        names = [self.documents[place] for place in self.document_of[of_topic]]
        return canonical(zip(names, scores[of_topic].tolist(), strict=True))

    def run(self, scores: np.ndarray) -> Run:
        """Ranks the documents of all topics by `scores` [n], in canonical order."""
        return run_of({name: self.hits(topic, scores) for topic, name in enumerate(self.topics)})

    def mean_ap(self, topics: np.ndarray, scores: np.ndarray) -> float:
        """MAP over `topics` (indices) by the metric `ap_judged`; `scores` [n] are those of all candidates."""
        values = []
        for topic in topics:
            ranking = [name for name, _ in self.hits(topic, scores)]
            values.append(average_precision(ranking, self.judged[topic]))
        return float(np.mean(values))


def has_relevant(judged: Mapping[str, int]) -> bool:
    """Whether the judgments of a topic, document -> relevance, have a relevant document."""
    return any(relevance > 0 for relevance in judged.values())


def contents(passage: Passage) -> str:
    """Title, blank line and text of a document; only the text without a title."""
    return f"{passage.title}\n\n{passage.text}" if passage.title else passage.text


def read_candidates(benchmark: RetrievalReader, data: Data, query_set: QuerySet) -> Candidates:
    """Reads the candidates of a query set, in the order of its judgments.

    Judged documents that are not in the collection and topics without a relevant document are left out and counted;
    documents with a negative judgment count as unjudged. Raises SteleError if no document is left.
    """
    judgments = benchmark.judgments(data, query_set)
    text_of = {query.id: query.text for query in benchmark.queries(data, query_set)}
    judged = {topic: grades for topic, grades in judgments.items() if has_relevant(grades) and topic in text_of}
    # the texts of the judged documents
    wanted = {name for grades in judged.values() for name, relevance in grades.items() if relevance >= 0}
    texts = {p.id: contents(p) for p in benchmark.passages(data, query_set.collection) if p.id in wanted}
    if not texts:
        raise SteleError(f"{query_set.name}: none of its {len(wanted)} judged documents is in the collection of --data")
    if absent := len(wanted) - len(texts):
        missing = min(wanted - texts.keys())
        logger.warning("%s: %d of %d judged documents are absent, as %s", query_set.name, absent, len(wanted), missing)
    # one candidate for each topic and document
    place = {name: number for number, name in enumerate(texts)}
    rows = []
    for number, grades in enumerate(judged.values()):
        for name, relevance in grades.items():
            if relevance >= 0 and name in place:
                rows.append((number, place[name], relevance > 0))
    topic_of, document_of, relevant = (np.array(column) for column in zip(*rows, strict=True))
    counts = {
        "topics": len(judged),
        "topics_without_relevant": sum(not has_relevant(grades) for grades in judgments.values()),
        "topics_without_negative": len(np.setdiff1d(topic_of[relevant], topic_of[~relevant])),
        "documents": len(texts),
        "documents_absent": absent,
    }
    return Candidates(
        topics=list(judged),
        queries=[text_of[topic] for topic in judged],
        judged=list(judged.values()),
        documents=list(texts),
        texts=list(texts.values()),
        topic_of=topic_of,
        document_of=document_of,
        relevant=relevant,
        counts=counts,
    )

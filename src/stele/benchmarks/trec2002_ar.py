"""TREC 2002 in Arabic (AFP): 50 topics, title queries, judged by documents (Shi et al., table 1)."""

from stele.benchmarks._collection import judgments_of, searches

AVERAGE = "micro"  # mean over topics

judgments = judgments_of("trec2002_ar")

__all__ = ["AVERAGE", "judgments", "searches"]

"""FIRE 2012 in Hindi (newswire): 50 topics, title queries, judged by documents (Shi et al., table 1)."""

from stele.benchmarks._collection import judgments_of, searches

AVERAGE = "micro"  # mean over topics

judgments = judgments_of("fire2012_hi")

__all__ = ["AVERAGE", "judgments", "searches"]

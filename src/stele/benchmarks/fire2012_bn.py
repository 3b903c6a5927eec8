"""FIRE 2012 in Bengali (newswire): 50 topics, title queries, judged by documents (Shi et al., table 1)."""

from stele.benchmarks._collection import judgments_of, query_sets

AVERAGE = "micro"  # mean over topics

judgments = judgments_of("fire2012_bn")

__all__ = ["AVERAGE", "judgments", "query_sets"]

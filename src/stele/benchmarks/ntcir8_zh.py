"""NTCIR-8 in Chinese (Xinhua 2002-2005): 73 topics, title queries, judged by documents (Shi et al., table 1)."""

from stele.benchmarks._collection import judgments_of, query_sets

AVERAGE = "micro"  # mean over topics

judgments = judgments_of("ntcir8_zh")

__all__ = ["AVERAGE", "judgments", "query_sets"]

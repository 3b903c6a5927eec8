"""CLEF 2006 in French (ATS, Le Monde): 49 topics, title queries, judged by documents (Shi et al., table 1)."""

from stele.benchmarks._collection import judgments_of, query_sets

AVERAGE = "micro"  # mean over topics

judgments = judgments_of("clef2006_fr")

__all__ = ["AVERAGE", "judgments", "query_sets"]

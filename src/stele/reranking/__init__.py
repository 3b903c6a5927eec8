"""The stage `reranking`: judged candidates and a scorer -> canonical runs, cross-validated where the scorer learns."""

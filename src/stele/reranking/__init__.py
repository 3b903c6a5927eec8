"""The stage `reranking` ranks judged candidates by a scorer into canonical runs, cross-validated if it is trained."""

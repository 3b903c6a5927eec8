"""Texts as terms: the analysis that matching by terms and vectors of words share."""

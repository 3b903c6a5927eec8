"""Texts as sentences and as terms, by language."""

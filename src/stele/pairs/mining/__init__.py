"""Modules that the mining commands share: arguments, candidates from the knowledge base, segments."""

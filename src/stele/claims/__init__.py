"""Verdicts on the papers' claims, from the printed tables and from our runs."""

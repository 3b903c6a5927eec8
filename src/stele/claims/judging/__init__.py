"""Judging of claims: pairs of values, estimates of their differences, findings, and verdicts."""

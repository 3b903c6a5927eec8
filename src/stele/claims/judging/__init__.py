"""How claims are judged: pairs of values, estimates of their differences, findings, verdicts."""

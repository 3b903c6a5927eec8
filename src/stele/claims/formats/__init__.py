"""How verdicts are written."""

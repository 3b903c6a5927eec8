"""The candidates of re-ranking, and its cross-validation."""

"""Training and scoring in folds of topics."""

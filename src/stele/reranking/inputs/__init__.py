"""What scorers are given: candidates and vectors of words."""

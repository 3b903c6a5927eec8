"""What an evaluation of one encoder plans: data sets of one's own as benchmarks."""

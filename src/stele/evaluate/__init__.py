"""One encoder on several benchmarks by one command, and its results in the formats of others."""

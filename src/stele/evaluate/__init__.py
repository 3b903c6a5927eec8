"""One encoder on several benchmarks by one command."""

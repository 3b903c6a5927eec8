"""Evaluates one encoder on several benchmarks with one command, and exports results in other formats."""

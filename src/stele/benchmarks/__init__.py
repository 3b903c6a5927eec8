"""Benchmarks and training sets: one file for each native format, with a class of the kinds in `reader.py`."""

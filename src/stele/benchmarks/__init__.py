"""Readers of benchmarks and training sets: one file for each native format, with a class of a kind in `reader.py`."""

"""Runs: for each query its retrieved passages with scores, in the order in which they are scored.

`run` is what a run is and its canonical order; the other modules read and write its file formats, `read` any of them.
"""

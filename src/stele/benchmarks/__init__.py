"""Benchmarks: one file for each native format; `load_named` finds the file of a benchmark by the catalogue."""

from __future__ import annotations


def module_of(name: str) -> str:
    """The file that reads a benchmark: what its entry of benchmarks.yaml says, else the one of its name.

    >>> module_of("trec3_es"), module_of("mrtydi"), module_of("jsonl")
    ('collection', 'mrtydi', 'jsonl')
    """
    from stele import catalogue
    from stele.catalogue.schema.benchmarks import Benchmark

    known = catalogue.entries(Benchmark)
    return (known[name].module if name in known else None) or name

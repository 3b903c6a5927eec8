"""What datasets hold, one file a dataset, or for all test collections: `counts(data)` gives metric -> number.

A number is by language, or one of all.
`data` are the dataset's folders by part, as benchmarks take them; they are read by the benchmarks' own readers.
"""

from __future__ import annotations


def module_of(name: str) -> str:
    """The file that counts a dataset or a test collection."""
    from stele.catalogue.datasets import counted

    return counted(name).module

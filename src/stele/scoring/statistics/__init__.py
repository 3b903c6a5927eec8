"""What datasets hold, one file a dataset (all test collections have one file together): `counts(data)` gives metric -> number, or number by language.

`data` are the dataset's folders by part, as benchmarks take them; they are read by the benchmarks' own readers.
"""

from __future__ import annotations


def module_of(name: str) -> str:
    """The file that counts a dataset or a test collection."""
    from stele.catalogue.counted import counted

    return counted(name).module

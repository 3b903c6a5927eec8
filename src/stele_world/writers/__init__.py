"""Writers of the generated mirror, grouped by families of data sets.

A writer is a function `write_NAME(site, library)` of a module here: it writes a data set's files to their upstream
addresses, in upstream's formats, and counts their contents. Its docstring names the sources of the format.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from stele.registry import module_names

if TYPE_CHECKING:
    from stele_world.site import Site
    from stele_world.writers.library import Library

Writer = Callable[["Site", "Library"], None]


def writers() -> list[Writer]:
    """Finds the writers in all modules of this package."""
    functions = []
    for name in module_names("stele_world.writers"):
        module = import_module(f"stele_world.writers.{name}")
        for key, value in vars(module).items():
            if key.startswith("write_") and value.__module__ == module.__name__:
                functions.append(value)
    return functions

"""Finding things by name: registries that refuse duplicates, and packages in which a file is a name."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Generic, TypeVar

from stele.errors import SteleError, unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind.

    >>> metrics = Registry("metric")
    >>> @metrics.register("one")
    ... def one(): return 1
    >>> metrics.get("one")()
    1
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}

    def register(self, name: str):
        """Decorator that files an object under `name`; a name given twice is an error."""

        def add(item: T) -> T:
            if name in self._items:
                raise SteleError(f"{self.kind} {name!r} is registered twice")
            self._items[name] = item
            return item

        return add

    def get(self, name: str) -> T:
        if name not in self._items:
            raise unknown(self.kind, name, self._items)
        return self._items[name]


def module_names(package: str) -> tuple[str, ...]:
    """The modules of a package, without importing them."""
    return _modules_in(tuple(importlib.import_module(package).__path__))


@cache
def _modules_in(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_")))


@cache
def names_held(package: str, attribute: str) -> dict[str, str]:
    """Name -> module, for mappings `attribute` of a package's modules. Raises SteleError for a name in two modules."""
    names: dict[str, str] = {}
    for module in module_names(package):
        for name in getattr(importlib.import_module(f"{package}.{module}"), attribute):
            if name in names:
                raise SteleError(f"{name!r} is in {package}.{names[name]} and in {package}.{module}; want one of them")
            names[name] = module
    return names


def load_named(package: str, name: str, kind: str) -> ModuleType:
    """The module `{package}.{name}` where one file is one method or objective ("-" is written "_").

    Raises SteleError for an unknown name, with the nearest one.
    """
    module = name.replace("-", "_")
    valid = module_names(package)
    if module not in valid:
        raise unknown(kind, name, valid)
    return importlib.import_module(f"{package}.{module}")

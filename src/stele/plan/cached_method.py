"""Answers of the plan that are worked out once: they follow from the configuration, which does not change."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Method = TypeVar("Method", bound=Callable)


def cached_method(method: Method) -> Method:
    """A method whose result for some arguments is kept with its object; what it returns must not be changed."""
    name = f"_cached_{method.__name__}"

    @wraps(method)
    def call(self, *arguments):
        results = self.__dict__.setdefault(name, {})
        if arguments not in results:
            results[arguments] = method(self, *arguments)
        return results[arguments]

    return call

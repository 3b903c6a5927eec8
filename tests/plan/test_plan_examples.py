"""The examples in the docstrings of the plan hold."""

import doctest
import importlib

import pytest

from stele.artifacts.results import RunKey
from stele.registry import module_names

MODULES = [f"stele.plan.{name}" for name in module_names("stele.plan")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    assert not doctest.testmod(importlib.import_module(name)).failed


def test_the_examples_of_a_run_key_hold():
    (example,) = doctest.DocTestFinder(recurse=False).find(RunKey, globs={"RunKey": RunKey})
    assert not doctest.DocTestRunner().run(example).failed


def test_there_are_examples():
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 5

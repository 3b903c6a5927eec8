"""The examples in the docstrings of the shared parts, the plan, the cluster and the command line hold."""

import doctest
import importlib

import pytest

from stele.artifacts.results import RunKey
from tests.conftest import ROOT

SOURCE = ROOT / "src"
ROOMS = ("plan", "config", "cluster", "snakemake_support", "command", "files")
FILES = [path for room in ROOMS for path in sorted((SOURCE / "stele" / room).rglob("*.py"))]
FILES += [SOURCE / "stele/errors.py", SOURCE / "stele/registry.py", SOURCE / "stele/catalogue/schema/costs.py"]
MODULES = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in FILES if ">>> " in path.read_text()]


@pytest.mark.parametrize("name", [name.removesuffix(".__init__") for name in MODULES])
def test_the_examples_of_a_module_hold(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted and not outcome.failed


def test_the_examples_of_a_run_key_hold():
    (example,) = doctest.DocTestFinder(recurse=False).find(RunKey, globs={"RunKey": RunKey})
    assert not doctest.DocTestRunner().run(example).failed

"""Every example in a docstring prints what it says; those of what `import stele` offers are run in test_api."""

import doctest
import importlib
from pathlib import Path

import pytest

import stele

SOURCE = Path(stele.__file__).parents[1]
OFFERED = {f"{getattr(stele, name).__module__}.{name}" for name in stele.__all__}  # they want a model, or results
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if "    >>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    tests = [test for test in doctest.DocTestFinder().find(importlib.import_module(name)) if test.name not in OFFERED]
    for test in tests:
        runner.run(test)
    assert not runner.summarize(verbose=False).failed


def test_there_are_examples():
    assert len(MODULES) > 100

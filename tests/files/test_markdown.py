"""Tables and lists in Markdown."""

import doctest

from stele.files import markdown


def test_the_examples_in_the_docstrings_hold():
    found = doctest.testmod(markdown)
    assert found.attempted and not found.failed

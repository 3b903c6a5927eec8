"""Tables and lists in Markdown."""

import doctest

from stele.files import markdown


def test_the_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(markdown)
    assert outcome.attempted and not outcome.failed

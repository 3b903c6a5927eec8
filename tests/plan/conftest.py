"""The plans that most of these tests look at."""

import pytest

from stele.config.sources import Sources
from stele.plan.validation import check


@pytest.fixture
def plan(jobs):
    """The jobs at the papers' sizes, without a word of the user's."""
    return jobs(scale="paper")


@pytest.fixture
def checked(jobs):
    """checked(key=value...) -> the plan of such a config.yaml, whose values are checked."""

    def call(**values):
        made = jobs(**values)
        check(made, Sources([("config.yaml", values)]))
        return made

    return call

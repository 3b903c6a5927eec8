"""The plans that most of these tests look at."""

from functools import partial

import pytest

from stele.config.sources import Sources
from stele.plan.validation import check


@pytest.fixture(scope="session")
def paper(jobs):
    """paper(key=value...) -> the plan of such a config.yaml at the papers' sizes."""
    return partial(jobs, scale="paper")


@pytest.fixture(scope="session")
def miniature(jobs):
    """miniature(key=value...) -> the plan of such a config.yaml at the scale `miniature`."""
    return partial(jobs, scale="miniature")


@pytest.fixture
def plan(paper):
    """The jobs at the papers' sizes, without a word of the user's."""
    return paper()


@pytest.fixture
def checked(jobs):
    """checked(key=value...) -> the plan of such a config.yaml, whose values are checked."""

    def call(**values):
        made = jobs(**values)
        check(made, Sources([("config.yaml", values)]))
        return made

    return call

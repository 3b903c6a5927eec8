"""The plan that most of these tests look at."""

import pytest


@pytest.fixture
def plan(jobs):
    """The jobs at the papers' sizes, without a word of the user's."""
    return jobs(scale="paper")

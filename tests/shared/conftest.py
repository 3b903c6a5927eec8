"""The plan of a configuration, with the answers that the rules need."""

import pytest

from stele import config
from stele.jobs import Jobs
from stele.plan import make_plan


@pytest.fixture(scope="session")
def jobs():
    """jobs(key=value...) -> the plan of such a config.yaml."""

    def call(**values):
        return make_plan(config.parse(values), Jobs)

    return call

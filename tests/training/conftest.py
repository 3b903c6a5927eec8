"""Mined examples of all methods."""

import pytest
from tiny_objectives import new_stores


@pytest.fixture
def stores(tmp_path):
    return new_stores(tmp_path)

"""Tiny base encoders, one of each family, made once."""

from pathlib import Path

import pytest
from tiny_models import make_folder


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("models")
    return {family: make_folder(place / family, family) for family in ("xlm-roberta", "bert", "distilbert")}

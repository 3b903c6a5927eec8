"""A tiny base encoder and a training set of one's own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))  # tiny_models

from tiny_models import make_folder
from tiny_runs import example, write_set

from tests.sealed import write_sealed


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    """A tiny XLM-R-like base encoder with its record."""
    folder = make_folder(tmp_path_factory.mktemp("base"), "xlm-roberta")
    write_sealed(folder / "record.json", {"job": "checkpoint", "content": "b", "labels": ["stand-in checkpoint"]})
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    return write_set(
        tmp_path_factory.mktemp("data"), [example(i) for i in range(40)], [example(i) for i in range(100, 110)]
    )

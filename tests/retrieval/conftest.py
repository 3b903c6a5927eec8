"""A tiny encoder with its record, the same for all tests of retrieval."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from recorded import record


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, root) -> Path:
    spec = importlib.util.spec_from_file_location("tiny_models", root / "tests/encoders/tiny_models.py")
    tiny = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tiny)
    folder = tiny.make_folder(tmp_path_factory.mktemp("encoder"))
    return record(folder, content="tiny", labels=["stand-in checkpoint"])

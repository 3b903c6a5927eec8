"""Shared by all tests: the repository's folder, the real files that the caller may give, one thread."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parents[1]
# the processes that tests start find the package as the tests do
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files named by STELE_REAL_DATA; the test is skipped where it is not given."""
    given = os.environ.get("STELE_REAL_DATA")
    if not given:
        pytest.skip("needs real files: give their folder as STELE_REAL_DATA")
    return Path(given).resolve()

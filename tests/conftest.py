"""Shared by all tests: the repository's folder, the real files that the caller may give, one thread."""

import importlib.util
import os
import tarfile
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parents[1]
# what numba compiles for a run of the workflow here serves the tests, and copies of the project
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".snakemake/numba"))


def pytest_configure() -> None:
    """The package that is installed, and that processes of the tests find, is the one beside these tests."""
    actual = importlib.util.find_spec("stele")
    if actual is None or not Path(actual.origin).resolve().is_relative_to(ROOT):
        raise pytest.UsageError(f"stele is found at {actual and actual.origin}, not in {ROOT}: run `make setup` here")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


def unpack_evidence(name: str, folder: Path) -> Path:
    with tarfile.open(ROOT / f"evidence/{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


@pytest.fixture(scope="session")
def kept_study(tmp_path_factory) -> Path:
    """The results of the kept study, out of their archive."""
    return unpack_evidence("study", tmp_path_factory.mktemp("evidence"))


@pytest.fixture(scope="session")
def real_study(tmp_path_factory) -> Path:
    """The results of the study on real text, a folder a name, out of their archive."""
    return unpack_evidence("real", tmp_path_factory.mktemp("evidence"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files named by STELE_REAL_DATA; the test is skipped where it is not given."""
    given = os.environ.get("STELE_REAL_DATA")
    if not given:
        pytest.skip("needs real files: give their folder as STELE_REAL_DATA")
    return Path(given).resolve()


@pytest.fixture(scope="session")
def jobs():
    """jobs(key=value...) -> the plan of such a config.yaml; what it adds to the catalogue is gone afterwards."""
    from stele import catalogue
    from stele.config.model import parse_config
    from stele.plan.plan import Plan

    yield lambda **values: Plan(parse_config(values))
    catalogue.add({})

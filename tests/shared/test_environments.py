"""The lock files, the environments and what the code imports agree."""

import ast
import importlib.metadata
import re
import sys

import pytest
import yaml
from packaging.requirements import Requirement

NAMES = {"yaml": "pyyaml", "PIL": "pillow", "faiss": "faiss", "Stemmer": "pystemmer"}


def locked(root, name):
    lines = (root / "envs" / name).read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize(("environment", "lock"), [("cpu", "cpu"), ("data", "cpu"), ("gpu", "gpu")])
def test_an_environment_has_the_locked_versions(root, environment, lock):
    listed = yaml.safe_load((root / f"envs/{environment}.yaml").read_text())["dependencies"][-1]["pip"]
    versions = locked(root, f"{lock}.lock.txt")
    assert {p: versions.get(p) for p, _ in (item.split("==") for item in listed)} == dict(i.split("==") for i in listed)


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_a_lock_file_holds_every_direct_requirement(root, name):
    versions = locked(root, f"{name}.lock.txt")
    for line in (root / f"envs/{name}.in").read_text().split():
        package, version = line.split("==")
        assert versions.get(package.lower()) == version, line


def test_everything_that_the_code_imports_is_locked(root):
    versions = locked(root, "cpu.lock.txt")
    imported = set()
    for path in (root / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = imported - set(sys.stdlib_module_names) - {"stele"}
    known = {re.sub("[_.]", "-", name) for name in versions} | {"faiss"}
    missing = {name for name in foreign if re.sub("[_.]", "-", NAMES.get(name, name)).lower() not in known}
    assert not missing


def test_records_name_packages_that_are_locked(root):
    from stele.records import PACKAGES

    assert set(PACKAGES) <= {*locked(root, "cpu.lock.txt"), *locked(root, "gpu.lock.txt")}


def test_torch_is_the_agreed_one_in_both(root):
    assert locked(root, "cpu.lock.txt")["torch"] == locked(root, "gpu.lock.txt")["torch"] == "2.13.0"


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_the_build_backend_is_locked(root, name):
    text = (root / "pyproject.toml").read_text()
    assert f'requires = ["setuptools=={locked(root, f"{name}.lock.txt")["setuptools"]}"]' in text


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_a_lock_file_has_no_conflict_and_is_all_that_pip_needs_here(root, name):
    """Each locked package that is installed here asks only for locked packages, in the locked versions."""
    versions = {re.sub("[_.]", "-", package): version for package, version in locked(root, f"{name}.lock.txt").items()}
    for package, version in versions.items():
        try:
            found = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if found.version.partition("+")[0] != version:
            continue
        for text in found.requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                wanted = re.sub("[_.]", "-", needed.name).lower()
                assert wanted in versions, f"{package} needs {text}"
                assert needed.specifier.contains(versions[wanted], prereleases=True), f"{package} needs {text}"

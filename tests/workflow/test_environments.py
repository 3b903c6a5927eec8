"""The lock files, the environments, the container's recipe and what the code imports agree."""

import ast
import importlib.metadata
import re
import subprocess
import sys
from functools import cache

import pytest
import yaml
from packaging.requirements import Requirement

from stele.snakemake_support.fingerprint import closure
from tests.conftest import ROOT
from tests.rule_files import command, environments, foreign, local_rules, reach, rules

LOCKS = {"cpu": "cpu", "data": "cpu", "snakemake": "cpu", "gpu": "gpu"}  # environment -> lock file
# what these can import and never do: they count operations from recipes, or check names by the recipes' schema; they
# mine nothing and load no model
ESTIMATES = {"cost", "claims", "all_tables", "today_tables", "table", "figure", "cells", "card"}
ESTIMATES |= {"verdict", "adaptation_card"}
NOT_REACHED = {"torch", "transformers", "accelerate", "duckdb", "pyarrow", "ranx", "numba", "regex", "lxml"}
# what an environment has beside what its commands import
BESIDE = {
    "tokenizers": "under transformers, and in every record",
    "ranx": "its metrics are imported by their folder (evaluation/ranx_metrics.py)",
    "snakemake-executor-plugin-slurm": "Snakemake loads it by name",
    "snakemake-executor-plugin-slurm-jobstep": "Snakemake loads it by name, on nodes",
}

NAMES = {"yaml": "pyyaml", "PIL": "pillow", "faiss": "faiss", "Stemmer": "pystemmer"}


def locked(root, name):
    lines = (root / "envs" / name).read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def listed(root, environment):
    """Package -> version, as an environment's file has them."""
    text = (root / f"envs/{environment}.yaml").read_text()
    return dict(item.split("==") for item in yaml.safe_load(text)["dependencies"][-1]["pip"])


@cache
def provided():
    """Top-level module -> the packages that have it."""
    return importlib.metadata.packages_distributions()


def packages(modules, environment):
    """The packages that top-level modules come from, in the spelling of the lock files."""
    names = {provided()[module][0].lower().replace("_", "-") for module in modules}
    return {name.replace("faiss-cpu", "faiss-gpu") for name in names} if environment == "gpu" else names


@cache
def modules_of(command):
    """The top-level modules that a command can import."""
    return frozenset(foreign(sorted(reach(command))))


def imported(root, rule, environment):
    modules = modules_of(command(rules(root)[rule]))
    return packages(modules - NOT_REACHED if rule in ESTIMATES else modules, environment)


def snakefile(root):
    """The modules of Stele that the Snakefile imports."""
    modules = []
    for line in (root / "Snakefile").read_text().splitlines():
        if line.startswith("from stele"):
            package, _, names = line.removeprefix("from stele.").partition(" import ")
            modules += [package, *(f"{package}.{name}" for name in names.split(", "))]
    return modules


RULES = [
    (rule, environment) for rule, body in rules(ROOT).items() if command(body) for environment in environments(rule)
]


def test_the_rules_and_their_commands_are_found(root):
    actual = rules(root)
    named = {name: command(body) for name, body in actual.items() if "    shell:" in body}
    assert {name for name, module in named.items() if module is None} == {"alias", "context"}  # cp and printf
    assert named.pop("claims") == "claims.judge"  # `snakemake claims` is what a user types
    assert named.pop("today_tables") == "tables.all_tables"  # the same of other specs
    assert all(module.rpartition(".")[2] == name for name, module in named.items() if module), named
    assert {name for name in actual if environments(name) == ["cpu", "gpu"]} > {"pretrain", "retrieve"}
    # of methods that are chosen by name: numba is imported by no command, but by metrics
    assert "numba" in imported(root, "score", "data") and "nltk" in imported(root, "mirror", "data")


@pytest.mark.parametrize(("rule", "environment"), RULES)
def test_an_environment_has_all_that_its_rules_can_import(root, rule, environment):
    """Without an exception: each package that a command imports is named by its environment itself."""
    missing = imported(root, rule, environment) - set(listed(root, environment))
    assert not missing, f"envs/{environment}.yaml lacks {missing} of {rule}"


def test_where_snakemake_runs_is_all_that_the_snakefile_can_import(root):
    """On nodes too: there Snakemake reads the Snakefile anew."""
    modules = set(foreign(sorted(closure(snakefile(root))))) - NOT_REACHED
    assert packages(modules, "snakemake") <= set(listed(root, "snakemake"))
    for name in ("snakemake", "snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"):
        assert name in listed(root, "snakemake") and name in locked(root, "gpu.lock.txt")


def test_estimates_and_the_snakefile_are_imported_without_what_they_do_not_reach(root):
    modules = [
        "stele.snakemake_support.hooks",
        "stele.evaluation.metrics",
        *(f"stele.{command(rules(root)[rule])}" for rule in ESTIMATES),
    ]
    absent = f"sys.modules |= dict.fromkeys({sorted(NOT_REACHED)})"
    named = "stele.evaluation.metrics.metric_modules(['mrr@100', 'f1', 'alignment'])"
    subprocess.run([sys.executable, "-c", f"import sys; {absent}; import {', '.join(modules)}; {named}"], check=True)


@pytest.mark.parametrize("environment", LOCKS)
def test_an_environment_has_nothing_that_none_of_its_rules_can_import(root, environment):
    used = set().union(*(imported(root, rule, environment) for rule, one in RULES if one == environment))
    if environment == "snakemake":
        used |= packages(foreign(sorted(closure(snakefile(root)))), environment)
    assert set(listed(root, environment)) - used <= set(BESIDE)


def test_the_two_environments_with_torch_differ_in_faiss_only(root):
    cpu, gpu = listed(root, "cpu"), listed(root, "gpu")
    assert cpu.pop("faiss-cpu") == gpu.pop("faiss-gpu")
    assert cpu == gpu


@pytest.mark.parametrize(("environment", "lock"), LOCKS.items())
def test_an_environment_has_the_locked_versions(root, environment, lock):
    versions = locked(root, f"{lock}.lock.txt")
    assert {name: versions.get(name) for name in listed(root, environment)} == listed(root, environment)


def test_the_lock_files_agree_where_both_name_a_package(root):
    """pip may then be held to both at once, as it is where conda calls it."""
    cpu, gpu = locked(root, "cpu.lock.txt"), locked(root, "gpu.lock.txt")
    assert {name: cpu[name] for name in cpu.keys() & gpu.keys()} == {
        name: gpu[name] for name in cpu.keys() & gpu.keys()
    }


def test_every_package_that_is_imported_on_nodes_is_in_the_container(root):
    """Its recipe installs a lock file; either may be chosen."""
    recipe = (root / "envs/stele.def").read_text()
    assert "pip install --no-cache-dir -r /opt/stele.lock.txt" in recipe
    assert re.search(r"^    lock=gpu\.lock\.txt$", recipe, re.M) and "envs/{{ lock }} /opt/stele.lock.txt" in recipe
    on_nodes = set(rules(root)) - local_rules(root)
    for lock in ("cpu", "gpu"):
        used = set().union(*(imported(root, rule, lock) for rule, _ in RULES if rule in on_nodes))
        assert used <= set(locked(root, f"{lock}.lock.txt"))


def test_the_oracle_makes_vectors_with_the_same_packages(root):
    ours, theirs = locked(root, "cpu.lock.txt"), locked(root, "oracle.lock.txt")
    made_by = ("torch", "transformers", "tokenizers", "sentence-transformers", "safetensors")
    assert {name: theirs[name] for name in made_by} == {name: ours[name] for name in made_by}


@pytest.mark.parametrize("name", ["cpu", "gpu", "oracle"])
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
    foreign = imported - set(sys.stdlib_module_names) - {"stele", "stele_world"}
    known = {re.sub("[_.]", "-", name) for name in versions} | {"faiss"}
    missing = {name for name in foreign if re.sub("[_.]", "-", NAMES.get(name, name)).lower() not in known}
    assert not missing


def test_records_name_packages_that_are_locked(root):
    from stele.artifacts.records import PACKAGES

    assert set(PACKAGES) <= {*locked(root, "cpu.lock.txt"), *locked(root, "gpu.lock.txt")}


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
            actual = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if actual.version.partition("+")[0] != version:
            continue
        for text in actual.requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                wanted = re.sub("[_.]", "-", needed.name).lower()
                assert wanted in versions, f"{package} needs {text}"
                assert needed.specifier.contains(versions[wanted], prereleases=True), f"{package} needs {text}"

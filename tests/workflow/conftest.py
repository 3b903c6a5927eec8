"""Runs of the real workflow in copies of the project; the short chain is built once."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from stele.cluster import check
from stele.cluster.check import SCALE
from tests.waiting import PATIENCE

QUICK = "test_the_chain_is_built"  # the one whole build among the quick tests


def pytest_collection_modifyitems(items) -> None:
    """Tests that run Snakemake are slow, but for the one that builds the short chain."""
    for item in items:
        runs = {"snakemake", "planned", "copy_project"} & {*vars(item.module)}
        if runs and Path(__file__).parent in item.path.parents and item.name != QUICK:
            item.add_marker(pytest.mark.slow)


def copy_project(root: Path, to: Path) -> Path:
    """What git holds of the project, with what is remembered of its code: compiled files, fingerprints."""
    check.copy_project(root, to)
    for folder in (root / "src").rglob("__pycache__"):
        with contextlib.suppress(shutil.Error, OSError):  # a file that another process has just replaced
            shutil.copytree(folder, to / folder.relative_to(root), dirs_exist_ok=True)
    return to


def clone(project: Path, to: Path) -> Path:
    """A copy of a built project, with all times kept: Snakemake goes by them."""
    subprocess.run(["cp", "-a", str(project), str(to)], check=True)
    return to


def environment(**more) -> dict[str, str]:
    """Without what an outer run may have set."""
    dropped = ("STELE_", "SNAKEMAKE_", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if not k.startswith(dropped)} | more


def snakemake(project: Path, *arguments: str, **more) -> subprocess.CompletedProcess:
    """One run; standard output and error together."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    return subprocess.run(
        command,
        cwd=project,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=3 * PATIENCE,
    )


def shell(project: Path, command: str) -> subprocess.CompletedProcess:
    """A line of a shell that finds this Python and the project's Stele."""
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    env = environment(PYTHONPATH=str(project / "src"), PATH=path)
    return subprocess.run(command, shell=True, cwd=project, env=env, capture_output=True, text=True)


def planned(project: Path, *arguments: str, **more) -> dict[str, int]:
    """Rule -> number of jobs that `-n` would run."""
    run = snakemake(project, "-n", *arguments, **more)
    assert run.returncode == 0, run.stdout
    if "Nothing to be done" in run.stdout:
        return {}
    lines = run.stdout.rpartition("Job stats:")[2].strip().splitlines()[2:]
    counts = {}
    for line in lines:
        if not line.strip():
            break
        name, number = line.split()[:2]
        counts[name] = int(number)
    counts.pop("total", None)
    return counts


@pytest.fixture(scope="session")
def fresh(root, tmp_path_factory) -> Path:
    """The project as cloned; nothing is built in it."""
    return copy_project(root, tmp_path_factory.mktemp("fresh") / "stele")


TABLE = "results/tables/msm/table_10.md"


def shorten(project: Path) -> Path:
    """The short chain: a tiny scale, and one table of one row, so that every stage runs once."""
    shutil.copy2(SCALE, project / "tiny.yaml")
    for path in (project / "paper_tables/msm").glob("table_*.yaml"):
        if path.name != "table_10.yaml":
            path.unlink()
    spec = project / "paper_tables/msm/table_10.yaml"
    table = yaml.safe_load(spec.read_text())
    table["groups"] = table["groups"][:1]
    table["groups"][0]["rows"] = [row for row in table["groups"][0]["rows"] if row["label"] == "MSM"]
    table["footnotes"] = table["deviations"] = []  # they name cells of other rows
    spec.write_text(yaml.safe_dump(table, allow_unicode=True, sort_keys=False))
    config = (project / "config.yaml").read_text()
    config = config.replace("scale:  ", "scale: tiny.yaml  ").replace("papers:     ", "papers: [msm]")
    (project / "config.yaml").write_text(config)
    return project


@contextlib.contextmanager
def threads_of(project: Path):
    """The numbers of threads that the run in a folder has from moment to moment."""
    numbers, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.2):
            for record in (project / ".snakemake/stele-drivers").glob("*.json"):
                with contextlib.suppress(OSError):
                    numbers.append(len(os.listdir(f"/proc/{record.stem.rpartition('.')[2]}/task")))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield numbers
    finally:
        ended.set()
        thread.join()


def short_chain(root: Path, base: Path) -> Path:
    """The short chain, built by the local profile: once for all processes of one session of tests, in its folder.

    Sessions that are given a folder (STELE_TEST_CHAIN, tests/run.sh) share the one that is built there.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    base = Path(os.environ.get("STELE_TEST_CHAIN") or base)
    project, done = base / "chain/stele", base / "chain/done"
    with (base / "chain.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shorten(copy_project(root, project))
            with threads_of(project) as threads:
                run = snakemake(project, TABLE)
            assert run.returncode == 0, run.stdout[-6000:]
            done.write_text(str(max(threads)))
    return project


@pytest.fixture(scope="session")
def chain(root, tmp_path_factory) -> Path:
    """The short chain, built. Tests work on clones of it."""
    return short_chain(root, tmp_path_factory.getbasetemp())


@pytest.fixture
def built(chain, tmp_path) -> Path:
    return clone(chain, tmp_path / "stele")


def outputs(project: Path) -> dict[str, bytes]:
    """The bytes that must not depend on how a build went: tables, runs, encoders' weights."""
    collected = {}
    for pattern in (
        "results/tables/**/*.*",
        "results/**/runs/*",
        "work/**/*.safetensors",
    ):
        collected |= {str(p.relative_to(project)): p.read_bytes() for p in project.glob(pattern) if p.is_file()}
    # a table's record says when and where it was made
    return {name: content for name, content in collected.items() if not re.search(r"table_\d\d\.json$", name)}

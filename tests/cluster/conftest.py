"""A private SLURM cluster for the whole session, the short chain as it is built without one, and drivers to kill.

Nearly all the time of these tests is waiting for SLURM: `pytest tests/cluster -n 3 --dist loadfile` gives each of three
processes a cluster of its own.
"""

import contextlib
import os
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest

from stele.cluster import check
from tests import waiting
from tests.cluster.private import Cluster, install
from tests.workflow.conftest import clone, environment, fresh, short_chain  # noqa: F401

# the plugin asks for the first time after so many seconds: jobs are short here
ARGUMENTS = ["--profile", "slurm", "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5"]


wait_for = partial(waiting.wait_for, every=0.2)  # each look may be a question to SLURM


@pytest.fixture(scope="session")
def cluster():
    """Two nodes with two fake GPUs each; skipped where SLURM is not and cannot be installed."""
    if reason := install():
        pytest.skip(f"no SLURM cluster: {reason}")
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # munged wants its socket within everybody's reach, as pytest's folders are not
        actual = Cluster(Path(folder))
        try:
            actual.up()
            yield actual
        finally:
            actual.down()


@pytest.fixture(scope="session")
def here(root, tmp_path_factory) -> Path:
    """The short chain as the local profile builds it."""
    return short_chain(root, tmp_path_factory.getbasetemp())


@pytest.fixture
def built(here, tmp_path) -> Path:
    """A copy of the short chain, for tests that do to its jobs what clusters do."""
    return clone(here, tmp_path / "stele")


class Driver:
    """A run of the workflow that submits to the cluster, in a process group of its own."""

    def __init__(self, cluster: Cluster, project: Path, *arguments: str, **variables: str) -> None:
        self.log = project / f"driver-{time.monotonic_ns()}.log"
        settings = environment(**cluster.environment, **variables)
        self.process = check.start(project, self.log, [*ARGUMENTS, *arguments], settings)

    @property
    def output(self) -> str:
        return self.log.read_text()

    def end(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(timeout=4 * waiting.PATIENCE)

    def kill(self) -> None:
        """SIGKILL, as a host that loses power."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def drive(cluster):
    """drive(project, *arguments) -> a driver; none outlives the test, nor do its jobs."""
    drivers = []

    def start(project, *arguments, **variables) -> Driver:
        drivers.append(Driver(cluster, project, *arguments, **variables))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.kill()
    if ids := [job["id"] for job in cluster.jobs("--states=PENDING,RUNNING,SUSPENDED,COMPLETING")]:
        cluster.run("scancel", *ids)
        cluster.wait_until_idle()


@pytest.fixture
def busy(cluster):
    """busy() -> release: takes every CPU, so that what is submitted waits in the queue."""
    fillers = []

    def fill():
        options = ["-p", "urgent", "--exclusive", "--time=600", "-o", "/dev/null", "--wrap", "sleep infinity"]
        fillers.extend(cluster.run("sbatch", "--parsable", *options).strip() for _ in range(2))
        wait_for(lambda: len(cluster.run("squeue", "-h", "-t", "R", "-p", "urgent", "-o", "%i").split()) == 2)
        return release

    def release():
        if fillers:
            cluster.run("scancel", *fillers)
            fillers.clear()

    yield fill
    release()

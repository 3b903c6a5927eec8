"""Test a cluster with a short chain of jobs through SLURM, one GPU for one training and one retrieval.

Lists the cluster's nodes, and builds one result of generated data (all stages, 15 jobs) twice in a temporary folder:
on the CPU here and through `snakemake --profile slurm`. Sends the training SIGTERM once to see it resume, and compares
outputs that must be equal. Takes a few minutes of one GPU; removes the folder if all checks pass.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stele.cluster import settings, sinfo, squeue
from stele.command.arguments import Job
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import files_digest
from stele.files.formats import amount, duration
from stele.files.paths import FILES, project_folder

RESULT = "results/xor_retrieve/msm/zero_shot_nq.json"
ENCODER = "work/tiny/encoders/msm/pt0"
TRAINING_LOG = "logs/tiny/pretrain/msm.pt0.log"
ON_GPU = {"pretrain": 1, "retrieve": 1}
STEPS = 600  # of the training: long enough on any device to receive a signal
HOURS = 0.5  # longest time that a job requests: short jobs start sooner
FIRST_LOOK = 5  # seconds before the queue is first checked
INTERVAL = 0.5  # seconds between two checks of the run
PARTS = (*FILES, "pyproject.toml", "src", "slurm")  # of a clone; a wheel carries FILES
SCALE = Path(__file__).with_name("tiny.yaml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info")


@dataclass(frozen=True)
class Item:
    """Outcome of one check: whether it passed (None: not tried), and details."""

    name: str
    well: bool | None
    detail: str

    def __str__(self) -> str:
        mark = {True: "ok", False: "NOT OK", None: "-"}[self.well]
        return f"{self.name:<16} {mark:<7} {self.detail}"


class Check(Job):
    folder: Path = Path()
    """Folder, visible to the nodes, for the temporary folder of the test; default: this folder."""
    minutes: float = 60
    """Most minutes to wait, including the time in the queue."""


def run(args: Check) -> None:
    """Prints a line per check. If a check fails, raises SteleError and keeps the folder."""
    if "SLURM_JOB_ID" in os.environ:
        raise SteleError("this command runs inside a SLURM job; start it on the host where you type sbatch")
    root = project_folder()
    cluster_settings = settings.read()
    items = [Item("cluster.yaml", True, describe_settings(cluster_settings)), Item("SLURM", True, describe_cluster())]
    print(*items, sep="\n", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="stele-check-", dir=args.folder))
    here, there = folder / "here", folder / "there"
    print(f"building {RESULT} in {folder}: at most {args.minutes:g} minutes", flush=True)
    with removed_when_ended(folder):
        prepare(root, here)
        prepare(root, there, cluster_settings)
        items = [*build(here, there, 60 * args.minutes), *compared(here, there)]
    print(*items, sep="\n", flush=True)
    if any(item.well is False for item in items):
        raise SteleError(f"this cluster is not ready: see NOT OK above; {folder} is kept (check.log and logs/ in it)")
    shutil.rmtree(folder, ignore_errors=True)  # network file systems keep open files for a while
    print("this cluster is ready")


def describe_settings(cluster_settings: settings.ClusterSettings) -> str:
    """Settings of the user's cluster file, on one line."""
    values = cluster_settings.model_dump(exclude_defaults=True, exclude_none=True)
    where = str(settings.path()) if settings.path().exists() else f"no {settings.path()}: the cluster's defaults"
    return f"{where} {json.dumps(values) if values else ''}".rstrip()


def describe_cluster() -> str:
    """Nodes of the cluster by partition, on one line."""
    parts = []
    for nodes in sinfo.cluster():
        gpus = "".join(f", {number} {model or 'GPU'}" for model, number in nodes.gpus.items())
        name = f"{nodes.partition}{'*' if nodes.default else ''}"
        parts.append(f"{name}: {nodes.number} x ({nodes.cpus} CPUs, {nodes.memory} MB{gpus})")
    return "; ".join(parts)


@contextmanager
def removed_when_ended(folder: Path) -> Iterator[None]:
    """Removes `folder` if the block ends by an error or by a signal to this process."""
    ends = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handled = [number for number in ends if signal.getsignal(number) != signal.SIG_IGN]  # nohup ignores SIGHUP
    before = {number: signal.signal(number, lambda number, frame: sys.exit(128 + number)) for number in handled}
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare(root: Path, folder: Path, cluster_settings: settings.ClusterSettings | None = None) -> None:
    """Copies the project to `folder` with the settings of a check, and with the cluster's settings if given."""
    copy_project(root, folder)
    scale = yaml.safe_load(SCALE.read_text())
    scale["pretraining"]["msm"]["steps"] = STEPS
    files: dict[str, Any] = {"tiny.yaml": scale, "config.yaml": {"scale": "tiny.yaml", "papers": ["msm"]}}
    if cluster_settings is not None:
        hours = {kind: min(HOURS, cluster_settings.most("hours", kind)) for kind in ("cpu", "gpu")}
        names = cluster_settings.model_dump(exclude={"gpus", "nodes"}, exclude_none=True)
        if cluster_settings.software == "container":
            names["container"] = str(cluster_settings.image)
        files["cluster.yaml"] = names | {"gpus": ON_GPU, "hours": hours}
    for name, values in files.items():
        with atomic_file(folder / name) as handle:
            yaml.safe_dump(values, handle)


def build(here: Path, there: Path, seconds: float) -> list[Item]:
    """Builds the result in both folders at once, sends the cluster's training SIGTERM once; returns three checks."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("STELE_", "SNAKEMAKE_"))}
    device = {k: v for k, v in os.environ.items() if k == "STELE_DEVICE"}
    look = ["--slurm-init-seconds-before-status-checks", str(FIRST_LOOK)]
    runs = [Build(here, "--", RESULT, environment=environment | {"STELE_DEVICE": "cpu"})]
    signalled, until = None, time.monotonic() + seconds
    try:
        runs.append(Build(there, "--profile", "slurm", *look, "--", RESULT, environment=environment | device))
        while any(run.code is None for run in runs) and not failed(runs) and time.monotonic() < until:
            signalled = signalled or signal_training(there)
            time.sleep(INTERVAL)
        waiting = pending_reasons(there) if runs[1].code is None else ""
        why = "" if failed(runs) else f"not done in {duration(seconds)}{waiting}"
    finally:
        for run in runs:
            run.end()
        with suppress(SteleError):
            squeue.cancel([job.id for job in squeue.of_folder(there, timeout=10)])
    return [outcome("built here", runs[0], why), outcome("through SLURM", runs[1], why), resumed(signalled, there)]


def failed(runs: Sequence[Build]) -> bool:
    """Whether a run has failed, so that waiting for the other one is useless."""
    return any(run.code for run in runs)


def pending_reasons(folder: Path) -> str:
    """Pending jobs of a folder with SLURM's reasons, as text; empty if there are none."""
    jobs = squeue.of_folder(folder, timeout=10)
    lines = [f"{job.id} {job.comment}: {job.reason}" for job in jobs if job.state == "PENDING"]
    return f"; waiting in the queue: {'; '.join(lines)} (--minutes waits longer)" if lines else ""


def signal_training(folder: Path) -> str | None:
    """Sends SIGTERM to a folder's training if it runs and has saved a state; returns its job id, otherwise None."""
    if not any((folder / "state/tiny/pretrain").rglob("training.pt")):
        return None
    with suppress(SteleError):
        for job in squeue.of_folder(folder, timeout=10):
            if job.comment.startswith("rule_pretrain") and job.state == "RUNNING":
                subprocess.run(["scancel", "--signal=TERM", job.id], capture_output=True, check=False)
                return job.id
    return None


def outcome(name: str, run: Build, why: str) -> Item:
    """Outcome of a run of the workflow. `why` says why it was stopped; it is empty if the other run failed."""
    if run.code == 0:
        jobs = run.output.count("has been submitted with SLURM jobid")
        return Item(name, True, amount(jobs, "job") if jobs else "on the CPU")
    if run.ended and not why:
        return Item(name, None, "not finished, since the other run failed")
    lines = [line for line in run.output.splitlines() if line.strip()]
    return Item(name, False, "\n  | ".join([why if run.ended else f"exit code {run.code}", *lines[-25:]]))


def resumed(job: str | None, folder: Path) -> Item:
    """Outcome of the SIGTERM check: whether the training of `job` saved its state and resumed from it."""
    name, log = "told to end", folder / TRAINING_LOG
    if job is None:
        return Item(name, None, "not tried: no training ran long enough")
    if log.exists() and "resuming after step" in log.read_text(errors="replace"):
        return Item(name, True, f"job {job} was sent SIGTERM and saved its state; the next attempt resumed from there")
    return Item(name, False, f"job {job} was sent SIGTERM, and no attempt resumed from its state: see {log}")


def compared(here: Path, there: Path) -> list[Item]:
    """Compares outputs that must be equal on any device: files of CPU stages, encoder tensors, numbers of queries."""
    if not all((folder / RESULT).exists() for folder in (here, there)):
        return []
    records = [json.loads((folder / ENCODER / "record.json").read_text()) for folder in (here, there)]
    device, spared = records[1]["device"], os.environ.get("STELE_DEVICE") == "cpu"
    on_gpu = spared or not device.startswith("cpu")
    why = ", as STELE_DEVICE says" if spared else "" if on_gpu else ": is torch on the nodes one for GPUs?"
    items = [Item("GPU", on_gpu, f"the training ran on {device}{why}")]
    for name, what, read, path in (
        ("documents", "bytes", files_digest, "work/tiny/documents"),
        ("training pairs", "bytes", files_digest, "work/tiny/pairs"),
        ("encoder", "names and shapes", tensors, f"{ENCODER}/model.safetensors"),
        ("result", "metrics, languages, queries", query_counts, RESULT),
    ):
        equal = read(here / path) == read(there / path)
        items.append(Item(name, equal, f"the same {what} as here" if equal else f"different {what} than here"))
    return items


def query_counts(path: Path) -> dict[str, dict[str, int]]:
    """Number of queries of a result, by metric and language."""
    return {name: values["n"] for name, values in json.loads(path.read_text())["metrics"].items()}


# --- the short chain in a copy of the project, for tests too ----------------------------------------------------------
def copy_project(root: Path, to: Path) -> Path:
    """Copies the workflow's files, without results or state."""
    to.mkdir(parents=True)
    for part in PARTS:
        source = root / part
        if source.is_symlink():
            (to / part).symlink_to(os.readlink(source))
        elif source.is_dir():
            shutil.copytree(source, to / part, ignore=LEFT_OUT)
        elif source.exists():
            shutil.copy2(source, to / part)
    return to


def start(folder: Path, log: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen:
    """Starts the workflow in a folder, in a new process group that writes to `log`."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    with log.open("w") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


class Build:
    """A run of the workflow in a folder; its output goes to `check.log` there."""

    def __init__(self, folder: Path, *arguments: str, environment: Mapping[str, str]) -> None:
        self.log, self.ended = folder / "check.log", False
        self.process = start(folder, self.log, arguments, environment)

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def code(self) -> int | None:
        """Exit code of the run; None while it runs."""
        return self.process.poll()

    def end(self) -> None:
        """Interrupts the run, so that Snakemake cancels its jobs, and kills it if it does not end within a minute."""
        for number, seconds in ((signal.SIGINT, 60), (signal.SIGKILL, 10)):
            if self.code is not None:
                return
            self.ended = True
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=seconds)


def tensors(path: Path) -> dict[str, Any]:
    """Type and shape of each tensor of a safetensors file by name, read from its header."""
    with path.open("rb") as handle:
        header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
    header.pop("__metadata__", None)
    return {name: [tensor["dtype"], tensor["shape"]] for name, tensor in header.items()}

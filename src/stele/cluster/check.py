"""Try a cluster: a chain of minutes through SLURM, with one GPU for one training and one retrieval.

Lists the cluster's nodes, builds one result of generated data in a temporary folder (all stages, 15 jobs), both here on
the CPU and through `snakemake --profile slurm`, sends the training SIGTERM once to see it resume from its state, and
compares what must be equal. Takes a few minutes of one GPU; the folder goes when all is well.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele.cluster import settings, sinfo, squeue, trial_run
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_file, files_digest
from stele.files.durations import duration

RESULT = "results/xor_retrieve/msm/zero_shot_nq.json"
ENCODER = "work/tiny/encoders/msm/pt0"
TRAINING_LOG = "logs/tiny/pretrain/msm.pt0.log"
ON_GPU = {"pretrain": 1, "retrieve": 1}
STEPS = 600  # of the training: long enough on any device to be sent a signal
HOURS = 0.5  # that a job requests at most: short ones start sooner
FIRST_LOOK = 5  # seconds before the first look at the queue
INTERVAL = 0.5  # seconds between two looks at the run


@dataclass(frozen=True)
class Item:
    """One check: whether it passed (None: it was not tried), and what was found."""

    name: str
    well: bool | None
    detail: str

    def __str__(self) -> str:
        mark = {True: "ok", False: "NOT OK", None: "-"}[self.well]
        return f"{self.name:<16} {mark:<7} {self.detail}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="where to make the folder; the nodes must see it; default: here"
    )
    parser.add_argument(
        "--minutes", type=arguments.number, default=60, help="the longest to wait, in the queue too; default: 60"
    )


def run(args: argparse.Namespace) -> None:
    """Prints the table; raises SteleError where a check failed, and then keeps the folder."""
    if "SLURM_JOB_ID" in os.environ:
        raise SteleError("this is inside a SLURM job: start it where you type sbatch")
    root = trial_run.project()
    given = settings.read()
    items = [Item("cluster.yaml", True, describe_settings(given)), Item("SLURM", True, describe_cluster())]
    print(*items, sep="\n", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="stele-check-", dir=args.folder))
    here, there = folder / "here", folder / "there"
    print(f"building {RESULT} in {folder}: at most {args.minutes:g} minutes", flush=True)
    with removed_when_ended(folder):
        prepare(root, here)
        prepare(root, there, given)
        items = [*build(here, there, 60 * args.minutes), *compared(here, there)]
    print(*items, sep="\n", flush=True)
    if any(item.well is False for item in items):
        raise SteleError(f"this cluster is not ready: see above; {folder} is kept (check.log and logs/ in it)")
    shutil.rmtree(folder, ignore_errors=True)  # on a network's file system a file that was open may stay for a while
    print("this cluster is ready")


def describe_settings(given: settings.ClusterSettings) -> str:
    """The settings in the user's file."""
    values = given.model_dump(exclude_defaults=True, exclude_none=True)
    where = str(settings.path()) if settings.path().exists() else f"no {settings.path()}: the cluster's defaults"
    return f"{where} {json.dumps(values) if values else ''}".rstrip()


def describe_cluster() -> str:
    """What SLURM says of itself, in a line."""
    parts = []
    for of in sinfo.cluster():
        gpus = "".join(f", {number} {model or 'GPU'}" for model, number in of.gpus.items())
        parts.append(f"{of.partition}{'*' * of.default}: {of.number} x ({of.cpus} CPUs, {of.memory} MB{gpus})")
    return "; ".join(parts)


@contextmanager
def removed_when_ended(folder: Path) -> Iterator[None]:
    """Removes a folder after an error, which is what a signal to this process is made into."""
    ends = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    heard = [number for number in ends if signal.getsignal(number) != signal.SIG_IGN]  # nohup ignores SIGHUP
    before = {number: signal.signal(number, lambda number, frame: sys.exit(128 + number)) for number in heard}
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare(root: Path, folder: Path, given: settings.ClusterSettings | None = None) -> None:
    """A copy of the project with the settings of a check; with the cluster's names where it runs there."""
    import yaml

    trial_run.copy_project(root, folder)
    scale = yaml.safe_load(trial_run.SCALE.read_text())
    scale["pretraining"]["msm"]["steps"] = STEPS
    files: dict[str, Any] = {"tiny.yaml": scale, "config.yaml": {"scale": "tiny.yaml", "papers": ["msm"]}}
    if given is not None:
        hours = {kind: min(HOURS, given.most("hours", kind)) for kind in ("cpu", "gpu")}
        kept = given.model_dump(exclude={"gpus", "nodes"}, exclude_none=True)
        if given.software == "container":
            kept["container"] = str(given.image)
        files["cluster.yaml"] = kept | {"gpus": ON_GPU, "hours": hours}
    for name, values in files.items():
        with atomic_file(folder / name) as handle:
            yaml.safe_dump(values, handle)


def build(here: Path, there: Path, seconds: float) -> list[Item]:
    """Builds the result in both folders at once, and sends the cluster's training SIGTERM once."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith(("STELE_", "SNAKEMAKE_"))}
    device = {k: v for k, v in os.environ.items() if k == "STELE_DEVICE"}
    look = ["--slurm-init-seconds-before-status-checks", str(FIRST_LOOK)]
    runs = [trial_run.Build(here, "--", RESULT, environment=settings | {"STELE_DEVICE": "cpu"})]
    signalled, until = None, time.monotonic() + seconds
    try:
        runs.append(trial_run.Build(there, "--profile", "slurm", *look, "--", RESULT, environment=settings | device))
        while any(one.code is None for one in runs) and not failed(runs) and time.monotonic() < until:
            signalled = signalled or signal_training(there)
            time.sleep(INTERVAL)
        waiting = pending_reasons(there) if runs[1].code is None else ""
        why = "" if failed(runs) else f"not done in {duration(seconds)}{waiting}"
    finally:
        for one in runs:
            one.end()
        with suppress(SteleError):
            squeue.cancel([job.id for job in squeue.of_folder(there, timeout=10)])
    return [outcome("built here", runs[0], why), outcome("through SLURM", runs[1], why), resumed(signalled, there)]


def failed(runs: Sequence[trial_run.Build]) -> bool:
    """Whether one of some runs has failed, so that waiting for the others tells nothing."""
    return any(one.code for one in runs)


def pending_reasons(folder: Path) -> str:
    """Why jobs wait, if some do."""
    jobs = squeue.of_folder(folder, timeout=10)
    lines = [f"{job.id} {job.comment}: {job.reason}" for job in jobs if job.state == "PENDING"]
    return f"; waiting in the queue: {'; '.join(lines)} (--minutes waits longer)" if lines else ""


def signal_training(folder: Path) -> str | None:
    """Sends SIGTERM to the training of a folder, once it runs and has saved a state; its job's number."""
    if not any((folder / "state/tiny/pretrain").rglob("training.pt")):
        return None
    with suppress(SteleError):
        for job in squeue.of_folder(folder, timeout=10):
            if job.comment.startswith("rule_pretrain") and job.state == "RUNNING":
                subprocess.run(["scancel", "--signal=TERM", job.id], capture_output=True, check=False)
                return job.id
    return None


def outcome(name: str, run: trial_run.Build, why: str) -> Item:
    """How a run of the workflow ended; `why` it was ended, empty where the other one failed."""
    if run.code == 0:
        jobs = run.output.count("has been submitted with SLURM jobid")
        return Item(name, True, f"{jobs} jobs" if jobs else "on the CPU")
    if run.ended and not why:
        return Item(name, None, "not finished, since the other run failed")
    lines = [line for line in run.output.splitlines() if line.strip()]
    return Item(name, False, "\n  | ".join([why if run.ended else f"exit code {run.code}", *lines[-25:]]))


def resumed(job: str | None, folder: Path) -> Item:
    """Whether the training that got SIGTERM saved its state and resumed from it."""
    name, log = "told to end", folder / TRAINING_LOG
    if job is None:
        return Item(name, None, "not tried: no training ran long enough")
    if log.exists() and "going on after step" in log.read_text(errors="replace"):
        return Item(name, True, f"job {job} was sent SIGTERM and saved its state; the next attempt resumed from there")
    return Item(name, False, f"job {job} was sent SIGTERM, and no attempt resumed from its state: see {log}")


def compared(here: Path, there: Path) -> list[Item]:
    """What must be equal on any device: the files of CPU stages, an encoder's tensors, what was scored."""
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
        ("encoder", "names and shapes", trial_run.tensors, f"{ENCODER}/model.safetensors"),
        ("result", "metrics, languages, queries", query_counts, RESULT),
    ):
        equal = read(here / path) == read(there / path)
        items.append(Item(name, equal, f"the same {what} as here" if equal else f"other {what} than here"))
    return items


def query_counts(path: Path) -> dict[str, dict[str, int]]:
    """Metric -> language -> number of queries of a result."""
    return {name: values["n"] for name, values in json.loads(path.read_text())["metrics"].items()}

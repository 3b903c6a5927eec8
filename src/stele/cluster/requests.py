"""What the jobs of a run request and are expected to take: for checks before they run, and noted for afterwards."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stele.cluster import settings
from stele.cluster.slurm.sinfo import Resources, size
from stele.cost import rules
from stele.cost.work import Work, device, seconds
from stele.files.atomic import atomic_file
from stele.files.reading import JsonObject, read_note
from stele.plan.plan import Plan

NOTES = Path(".snakemake/stele-requests.json")
NOTED = ("mem_mb", "runtime", "gpus", "nodes", "slurm_partition")


@dataclass(frozen=True)
class JobRequest:
    """A job before it runs.

    local       whether it runs where the workflow was started
    resources   as of its first attempt, of `attempts`
    after       the logs of the jobs that it waits for
    resumes     whether an attempt goes on where the one before stopped
    work        what it does by the recipes' arithmetic; None: unknown
    seconds     how long that takes; None: unknown
    """

    stage: str
    rule: str
    wildcards: Mapping[str, str]
    log: str
    outputs: tuple[str, ...]
    threads: int
    resources: Resources
    attempts: int = 1
    resumes: bool = False
    local: bool = False
    after: tuple[str, ...] = ()
    work: Work | None = None
    seconds: float | None = None

    @property
    def name(self) -> str:
        """The rule and what it is about, as its log is called."""
        return f"{self.rule} {subject(self.log, self.rule)}".strip()

    @property
    def devices(self) -> int:
        """GPUs, over all nodes."""
        return size(self.resources, "gpus") * (size(self.resources, "nodes") or 1)


def subject(log: str, rule: str) -> str:
    """What a job is about: its log's name without the rule's.

    >>> subject("logs/paper/score/nq.msm.direct.pt0-ft0.log", "score"), subject("logs/paper/context.log", "context")
    ('nq.msm.direct.pt0-ft0', '')
    """
    path = Path(log)
    return "" if path.stem == rule else path.name.removesuffix(".log")


def requested(job: Any) -> Resources:
    """What a job, of Snakemake or a JobRequest, requests in its present attempt, as plain values."""
    values = {"threads": job.threads, **{name: job.resources.get(name) for name in NOTED}}
    return {name: value for name, value in values.items() if isinstance(value, int | str)}


def job_requests(plan: Plan, dag: Any) -> list[JobRequest]:
    """The jobs of Snakemake's graph that have to run and make something, each after those that it waits for."""
    on = device(settings.read().gpu_model)
    layers = dag.toposorted(set(dag.needrun_jobs()))
    jobs = [job for layer in layers for job in sorted(layer, key=lambda job: (job.rule.name, str(job.wildcards)))]
    return [_request(plan, dag, job, on) for job in jobs if job.log and job.output]


def _request(plan: Plan, dag: Any, job: Any, on: str) -> JobRequest:
    try:
        work = rules.work(plan, job.rule.name, dict(job.wildcards_dict))
    except Exception as error:  # an estimate that fails is no reason not to run
        print(f"Stele: no estimate of {job.rule.name}: {type(error).__name__}: {error}", file=sys.stderr)
        work = None
    known = JobRequest(
        stage=Path(job.rule.snakefile).stem,
        rule=job.rule.name,
        wildcards=dict(job.wildcards_dict),
        log=str(job.log[0]),
        outputs=tuple(map(str, job.output)),
        threads=job.threads,
        resources=dict(job.resources),
        attempts=1 + job.restart_times,
        resumes=any(name == "state" for name in job.params.keys()),  # noqa: SIM118 (iterated, it gives values)
        local=job.is_local,
        after=tuple(str(other.log[0]) for other in dag.dependencies[job] if other.log),
        work=work,
    )
    return known if work is None else replace(known, seconds=seconds(work, on, known.devices, job.threads))


def note(jobs: Iterable[JobRequest]) -> None:
    """Notes what jobs request, by their logs, beside what earlier runs noted."""
    new = {
        job.log: {**requested(job), **({} if job.seconds is None else {"seconds": round(job.seconds, 1)})}
        for job in jobs
    }
    if new:
        with atomic_file(NOTES) as handle:
            json.dump({**read(), **new}, handle)


def read() -> dict[str, JsonObject]:
    """What was noted, by log; nothing where there is no note, or none that can be read."""
    return {log: noted for log, noted in read_note(NOTES).items() if isinstance(noted, dict)}

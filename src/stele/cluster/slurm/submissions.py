"""Notes of the jobs that were submitted to SLURM: what each is, what it requests, under which numbers it ran."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stele.cluster.requests import requested
from stele.files.atomic import atomic_file, digest
from stele.files.reading import JsonObject, read_note

SUBMITTED = Path(".snakemake/stele-submitted")


def content(job: Any) -> str:
    """A digest of what a job is: its rule's command, inputs, outputs, params; of nothing that grows with attempts."""
    return digest(
        [job.rule.name, job.rule.shellcmd, *(list(map(str, part)) for part in (job.input, job.output, job.params))]
    )


def _path(job: Any) -> Path:
    return SUBMITTED / f"{digest([job.rule.name, list(map(str, job.output))])}.json"


def submitted(job: Any) -> str | None:
    """What a job was when it was submitted last, None without a note."""
    return read_note(_path(job)).get("content")


def note(job: Any) -> None:
    """Notes what a job is and requests when it is submitted, beside the SLURM jobs of its earlier attempts."""
    earlier = read_note(_path(job), slurm=list).get("slurm", []) if job.attempt > 1 else []
    written = {"content": content(job), "rule": job.rule.name, "log": str(job.log[0]) if job.log else ""}
    with atomic_file(_path(job)) as handle:
        json.dump({**written, "requested": requested(job), "attempt": job.attempt, "slurm": earlier}, handle)


def note_start(job: Any) -> None:
    """Notes, on the node, which SLURM job a job is."""
    job_id, written = os.environ.get("SLURM_JOB_ID"), read_note(_path(job), slurm=list)
    if job_id and written and job_id not in written.get("slurm", []):
        with atomic_file(_path(job)) as handle:
            json.dump({**written, "slurm": [*written.get("slurm", []), job_id]}, handle)


def notes() -> Iterator[tuple[str, JsonObject]]:
    """(log, note) of all jobs that were noted."""
    for path in SUBMITTED.glob("*.json"):
        if "log" in (written := read_note(path, log=str, slurm=list, requested=dict)):
            yield written["log"], written

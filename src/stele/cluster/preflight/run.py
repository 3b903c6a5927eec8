"""Before the first job runs: whether what the plan needs is there; all that is missing, at once.

Partitions, GPUs, memory and time limits (on a cluster), disk space, places to download from, data that only the
user can give. What surely cannot be done is an error; what may fail, or concerns some rows only, is a warning.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from stele.cluster import settings
from stele.cluster.preflight import disk, network
from stele.cluster.requests import JobRequest
from stele.cluster.slurm import sinfo
from stele.cluster.slurm.sinfo import Nodes
from stele.errors import SteleError
from stele.files.formats import duration
from stele.plan.plan import Plan

RENDERING = "tables"  # the stage whose jobs show what is there, however little


def check(plan: Plan, jobs: list[JobRequest], slurm: bool) -> None:
    """Refuses a run that surely cannot be done, naming all that is missing; prints the rest as warnings."""
    warnings, errors = [], []
    if slurm and (submitted := [job for job in jobs if not job.local]):
        cluster = sinfo.cluster()
        errors += of_cluster(submitted, cluster)
        warnings += growth(submitted, cluster)
        warnings += _merged((text, job.rule) for job in submitted if on_cpus(job) for text in too_long(job, cluster))
    for lines, into in zip(disk.problems(jobs), (errors, warnings), strict=True):
        into += lines
    missing = network.problems(plan, jobs)
    if missing:
        text = "\n  ".join([f"these files cannot be downloaded from here; {network.WAYS}:", *missing])
        (errors if all_wait_for(set().union(*missing.values()), jobs) else warnings).append(text)
    warnings += unavailable(plan, jobs)
    if warnings:
        print("\n- ".join(["Stele: before it starts:", *warnings]), file=sys.stderr, flush=True)
    if errors:
        raise SteleError("\n".join(["this cannot be built as things are:", *(f"- {line}" for line in errors)]))


def _merged(problems: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each problem, with the rules that have it."""
    rules: dict[str, dict[str, None]] = {}
    for problem, rule in problems:
        rules.setdefault(problem, {})[rule] = None
    return [f"{problem} ({', '.join(names)})" for problem, names in rules.items()]


# --- a cluster ------------------------------------------------------------------------------------------------------
def of_cluster(jobs: list[JobRequest], cluster: list[Nodes]) -> list[str]:
    """What a cluster lacks for some jobs."""
    problems = [(problem, job.rule) for job in jobs for problem in sinfo.problems(job.resources, job.threads, cluster)]
    lines = _merged(problems) or _merged(
        (text, job.rule) for job in jobs if not on_cpus(job) for text in too_long(job, cluster)
    )
    where = f"{settings.path()} names partitions, GPUs and limits; its keys: profiles/slurm/cluster.example.yaml"
    return ["\n  ".join(["this cluster cannot run these jobs:", *lines, where])] if lines else []


def on_cpus(job: JobRequest) -> bool:
    """Whether a job requests no GPU: how long it takes is then a rougher estimate."""
    return sinfo.work_kind(job.resources) == "cpu"


def too_long(job: JobRequest, cluster: list[Nodes]) -> list[str]:
    """Why a job that takes longer than all its attempts may last cannot end."""
    runtime, work = sinfo.size(job.resources, "runtime"), sinfo.work_kind(job.resources)
    if not runtime or job.seconds is None:
        return []
    most = min(sinfo.limit(sinfo.eligible(job.resources, cluster)), 60 * settings.read().most("hours", work))
    if (needed := job.seconds / 60) <= sinfo.granted_minutes(runtime, job.attempts, most, job.resumes):
        return []
    each = f"{job.attempts} attempts of at most {duration(60 * min(most, runtime * job.attempts))}"
    if not job.resumes:
        more = "a partition with a longer limit" if on_cpus(job) else "more GPUs"
        return [f"{job.name} takes about {duration(job.seconds)}, and {each} do not resume from one another: {more}"]
    more = next(n for n in range(job.attempts, 10**6) if needed <= sinfo.granted_minutes(runtime, n, most, True))
    return [f"{job.name} takes about {duration(job.seconds)}, more than {each}: --retries {more - 1}, or more GPUs"]


def growth(jobs: list[JobRequest], cluster: list[Nodes]) -> list[str]:
    """Where a further attempt would request more than there is and be refused."""
    here, lines = settings.read(), set()
    for job in jobs:
        work = sinfo.work_kind(job.resources)
        caps = {what: here.most(what, work) for what in ("gigabytes", "hours")}
        lines |= set(sinfo.problems_of_retries(job.resources, job.attempts, caps, cluster))
    head = f"a failed job requests more in each further attempt, and would be refused; set in {settings.path()}"
    return [f"{head}: {'; '.join(sorted(lines))}"] if lines else []


# --- what is fetched, what the user gives -----------------------------------------------------------------------------
def all_wait_for(missing: set[str], jobs: list[JobRequest]) -> bool:
    """Whether everything that is to be built comes, at some remove, after some jobs (by log)."""
    blocked, more = set(), set(missing)
    while more:
        blocked |= more
        more = {job.log for job in jobs if job.log not in blocked and not blocked.isdisjoint(job.after)}
    return bool(missing) and all(job.log in blocked or job.stage == RENDERING for job in jobs)


def unavailable(plan: Plan, jobs: list[JobRequest]) -> list[str]:
    """The rows of the tables that a run renders which wait for something that only the user can give."""
    tables = {f"{job.wildcards['paper']}/{job.wildcards['number']}" for job in jobs if job.rule == "table"}
    reasons: dict[str, set[str]] = {}
    for table in sorted(tables):
        for row, (state, reason) in plan.requested.tables_with(table).problems(table).items():
            if state == "unavailable":
                reasons.setdefault(reason, set()).add("/".join(row))
    return [
        f"{len(rows)} rows ({', '.join(sorted(rows)[:2])}{', ...' if len(rows) > 2 else ''}): {reason}"
        for reason, rows in reasons.items()
    ]

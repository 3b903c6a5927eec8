"""Check before the first job that everything the plan needs is available, and list all problems at once.

Checked are partitions, GPUs, memory and time limits (on a cluster), disk space, hosts to download from, and data that
only the user can provide. A run that surely fails is an error; one that may fail or lacks only some rows, a warning.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

from stele.catalogue import datasets, hub
from stele.cluster import cost_page, settings, sinfo
from stele.cluster.requests import JobRequest
from stele.cluster.sinfo import Nodes
from stele.cluster.work import Work, named
from stele.errors import SteleError
from stele.files.formats import amount, duration
from stele.plan.plan import Plan

RENDERING = "tables"  # the stage whose jobs render whatever results exist
GB = 1e9
ROUGHLY = 3  # factor within which estimates of sizes are right
SMALL = GB  # bytes below which no quota is looked up
DISK_WAYS = "free some space, name fewer papers, or make work/ and resources/ links to a larger disk"
NETWORK_WAYS = "try again later, or name a mirror (mirrors:) or your own folders (user_data:) in config.yaml"
SECONDS = 5.0  # longest wait for `quota`, which queries file servers, or for a host
QUOTA = ("quota", "--no-wrap", "--raw-grace", "--show-mntpoint", "--hide-device")
AT_ONCE = 16  # hosts queried at once


def check(plan: Plan, jobs: list[JobRequest], slurm: bool) -> None:
    """Prints warnings. Raises SteleError, listing all problems, if the run surely fails."""
    warnings, errors = [], []
    submitted = [job for job in jobs if slurm and not job.local]
    if submitted:
        cluster = sinfo.cluster()
        errors += of_cluster(submitted, cluster)
        warnings += growth(submitted, cluster)
        warnings += _merged((text, job.rule) for job in submitted if on_cpus(job) for text in too_long(job, cluster))
    for lines, into in zip(disk_problems(jobs), (errors, warnings), strict=True):
        into += lines
    missing = network_problems(plan, jobs)
    if missing:
        text = "\n  ".join([f"some files cannot be downloaded from here; {NETWORK_WAYS}:", *missing])
        (errors if all_wait_for(set().union(*missing.values()), jobs) else warnings).append(text)
    warnings += unavailable(plan, jobs)
    if warnings:
        print("\n- ".join(["Stele: before this run starts:", *warnings]), file=sys.stderr, flush=True)
    if errors:
        raise SteleError("\n".join(["this cannot be built as things are:", *(f"- {line}" for line in errors)]))


def _merged(problems: Iterable[tuple[str, str]]) -> list[str]:
    """One line per problem, with the rules that have it."""
    rules: dict[str, dict[str, None]] = {}
    for problem, rule in problems:
        rules.setdefault(problem, {})[rule] = None
    return [f"{problem} ({', '.join(names)})" for problem, names in rules.items()]


# --- a cluster --------------------------------------------------------------------------------------------------------
def of_cluster(jobs: list[JobRequest], cluster: list[Nodes]) -> list[str]:
    """Text of the error for jobs that no node can run or that take longer than their attempts; [] if there are none."""
    problems = [(problem, job.rule) for job in jobs for problem in sinfo.problems(job.resources, job.threads, cluster)]
    lines = _merged(problems) or _merged(
        (text, job.rule) for job in jobs if not on_cpus(job) for text in too_long(job, cluster)
    )
    where = f"{settings.path()} names partitions, GPUs and limits; its keys: profiles/slurm/cluster.example.yaml"
    return ["\n  ".join(["this cluster cannot run these jobs:", *lines, where])] if lines else []


def on_cpus(job: JobRequest) -> bool:
    """Whether a job requests no GPU; the estimate of its time is then rougher."""
    return sinfo.work_kind(job.resources) == "cpu"


def too_long(job: JobRequest, cluster: list[Nodes]) -> list[str]:
    """Explains why a job cannot end within its attempts, with a remedy; [] if it can or its time is unknown."""
    runtime, work = sinfo.size(job.resources, "runtime"), sinfo.work_kind(job.resources)
    if not runtime or job.seconds is None:
        return []
    most = min(sinfo.limit(sinfo.eligible(job.resources, cluster)), 60 * settings.read().most("hours", work))
    needed = job.seconds / 60
    if needed <= sinfo.granted_minutes(runtime, job.attempts, most, job.resumes):
        return []
    each = f"{job.attempts} attempts of at most {duration(60 * min(most, runtime * job.attempts))}"
    if not job.resumes:
        remedy = "use a partition with a longer limit" if on_cpus(job) else "use more GPUs"
        return [f"{job.name} takes about {duration(job.seconds)}, and {each} do not resume from one another; {remedy}"]
    attempts = job.attempts
    while needed > sinfo.granted_minutes(runtime, attempts, most, True):
        attempts += 1
    return [
        f"{job.name} takes about {duration(job.seconds)}, more than {each}; use --retries {attempts - 1} or more GPUs"
    ]


def growth(jobs: list[JobRequest], cluster: list[Nodes]) -> list[str]:
    """Text of the warning if retries would request more than the cluster offers; [] if not."""
    cluster_settings, lines = settings.read(), set()
    for job in jobs:
        work = sinfo.work_kind(job.resources)
        caps = {what: cluster_settings.most(what, work) for what in ("gigabytes", "hours")}
        lines |= set(sinfo.problems_of_retries(job.resources, job.attempts, caps, cluster))
    head = f"a failed job requests more in each further attempt and would be refused; set in {settings.path()}"
    return [f"{head}: {'; '.join(sorted(lines))}"] if lines else []


# --- the disk ---------------------------------------------------------------------------------------------------------
def needed(jobs: Iterable[JobRequest]) -> dict[Path, float]:
    """Bytes needed at each mount point: all that jobs keep, plus the largest temporary need of one job."""
    mount = cache(_mount)
    works: dict[Path, list[Work]] = {}
    for job in jobs:
        if job.work is not None:
            works.setdefault(mount(Path(job.outputs[0]).parent), []).append(job.work)
    return {at: sum(work.kept for work in on) + max(work.temporary for work in on) for at, on in works.items()}


def _mount(path: Path) -> Path:
    """Mount point of the file system of a path, which need not exist yet."""
    path = path.resolve()
    return next(folder for folder in (path, *path.parents) if os.path.ismount(folder))


def quotas(text: str) -> dict[Path, float]:
    """Bytes left of a user's quota by mount point, from the output of QUOTA (KiB); omits unlimited ones.

    >>> quotas("/home 1000* 500 1500 0 7 0 0 0\\n/data 10 0 0 0 1 0 0 0")
    {PosixPath('/home'): 512000.0}
    """
    left = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[0].startswith("/"):
            used, soft, hard = (float(part.rstrip("*")) for part in parts[1:4])
            if hard or soft:
                left[Path(parts[0])] = 1024 * ((hard or soft) - used)
    return left


def _left_of_quotas() -> dict[Path, float]:
    """Bytes left of this user's quota at each mount point; empty if the system has no quotas."""
    try:
        done = subprocess.run(QUOTA, capture_output=True, text=True, check=False, timeout=SECONDS)
        return quotas(done.stdout)  # ignores the exit code, which says only whether a quota is exceeded
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}


def disk_problems(jobs: Sequence[JobRequest]) -> tuple[list[str], list[str]]:
    """Problems of file systems that surely become full, and of those that may.

    Sizes from the catalogue alone do not refuse a run, since the user may have less data.
    """
    wanted, measured = needed(jobs), needed(job for job in jobs if not job.catalogued)
    quota = _left_of_quotas() if any(size > SMALL for size in wanted.values()) else {}
    impossible, doubtful = [], []
    for at, size in wanted.items():
        free, what = shutil.disk_usage(at).free, "free"
        if at in quota and quota[at] < free:
            free, what = max(quota[at], 0), "left of your quota"
        if size > free:
            names = named((name, job.work.kept) for job in jobs if job.work for name in job.catalogued)
            assumed = f"{cost_page.size(size - measured.get(at, 0))} by the catalogue's sizes of {names}"
            source = f" ({assumed})" if names else ""
            room = cost_page.size(free) or "0 MB"
            text = f"{at}: this run keeps about {cost_page.size(size)} there{source}, and {room} are {what}"
            surely = measured.get(at, 0) > ROUGHLY * free
            (impossible if surely else doubtful).append(f"{text}: {DISK_WAYS}")
    return impossible, doubtful


# --- the network ------------------------------------------------------------------------------------------------------
def fetched_files(plan: Plan, job: JobRequest) -> list[list[str]]:
    """Files that a job fetches, each as a list of equivalent upstream addresses; [] for other jobs."""
    wildcards = SimpleNamespace(**job.wildcards)
    if job.rule == "dataset" and not plan.sources.dataset_inputs(wildcards) and not plan.data.folder(wildcards.dataset):
        languages = plan.data.part_languages(wildcards.dataset, wildcards.part)
        date = plan.sources.dump_date(wildcards.dataset)
        source = plan.data.resolve(wildcards.dataset, wildcards.part, languages, date)
        return [file.addresses for file in source.files if not file.optional]
    if job.rule == "checkpoint" and not plan.world.standin(wildcards.model):
        source = plan.models.checkpoint_source(wildcards.model)
        repository = hub.repository(source)
        if "path" not in source and repository:
            return [[hub.address(*repository, name) for name in (hub.CONFIG, hub.MODULES)]]
    return []


def locations(addresses: Sequence[str], mirrors: Sequence[str], offline: bool) -> list[str] | None:
    """Addresses from which a file can be fetched; None if a mirror folder has it."""
    below = [datasets.mirror_path(url) for url in addresses]
    if any(Path(mirror, path).is_file() for mirror in mirrors if not _is_address(mirror) for path in below):
        return None
    of_mirrors = [f"{m.rstrip('/')}/{quote(path)}" for m in mirrors if _is_address(m) for path in below]
    return [*of_mirrors, *([] if offline else addresses)]


def _is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def unanswered(urls: Mapping[str, str]) -> dict[str, str]:
    """Queries all hosts at once (`urls`: one address per host); returns those that give no answer, with the reason.

    Any HTTP status is an answer.
    """
    import requests

    def why_silent(url: str) -> str | None:
        try:
            requests.head(url, timeout=SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            return type(error).__name__
        return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(urls, pool.map(why_silent, urls.values()), strict=True))
    return {host: why for host, why in answers.items() if why}


def network_problems(plan: Plan, jobs: Iterable[JobRequest]) -> dict[str, list[str]]:
    """Maps a line on each unreachable host or missing mirror folder to the logs of the jobs that need it."""
    mirrors, offline = plan.settings.config.mirrors, plan.settings.config.offline
    waiting: dict[tuple[str, ...], list[JobRequest]] = {}  # alternative hosts -> jobs
    address_of: dict[str, str] = {}
    for job in jobs:
        for addresses in fetched_files(plan, job):
            urls = locations(addresses, mirrors, offline)
            if urls is not None:
                by_host = {urlsplit(url).netloc: url for url in urls}
                address_of |= by_host
                group = waiting.setdefault(tuple(by_host), [])
                if job not in group[-1:]:
                    group.append(job)
    silent_hosts = unanswered(address_of) if address_of else {}
    lines = {
        _line(hosts, silent_hosts, group): [job.log for job in group]
        for hosts, group in waiting.items()
        if all(host in silent_hosts for host in hosts)
    }
    missing_folders = [mirror for mirror in mirrors if not _is_address(mirror) and not Path(mirror).is_dir()]
    everything = [log for logs in lines.values() for log in logs]
    return lines | {f"mirrors: {mirror} is not a folder": everything for mirror in missing_folders if waiting}


def _line(hosts: Sequence[str], silent_hosts: Mapping[str, str], jobs: Sequence[JobRequest]) -> str:
    names = [job.name for job in jobs]
    what = f"jobs affected: {len(names)} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"
    if not hosts:
        return f"not in any mirror, and the network is off (offline: true); {what}"
    return f"no answer from {', '.join(f'{host} ({silent_hosts[host]})' for host in hosts)}; {what}"


# --- rows and jobs that cannot be built -------------------------------------------------------------------------------
def all_wait_for(missing: set[str], jobs: list[JobRequest]) -> bool:
    """Whether all jobs but those that render depend on a job in `missing` (by log), directly or not."""
    blocked, newly_blocked = set(), set(missing)
    while newly_blocked:
        blocked |= newly_blocked
        newly_blocked = {job.log for job in jobs if job.log not in blocked and not blocked.isdisjoint(job.after)}
    return bool(missing) and all(job.log in blocked or job.stage == RENDERING for job in jobs)


def unavailable(plan: Plan, jobs: list[JobRequest]) -> list[str]:
    """Lists rows of the rendered tables that need data only the user can provide, one line per reason."""
    tables = {f"{job.wildcards['paper']}/{job.wildcards['number']}" for job in jobs if job.rule == "table"}
    reasons: dict[str, set[str]] = {}
    for table in sorted(tables):
        for row, (state, reason) in plan.requested.tables_with(table).problems(table).items():
            if state == "unavailable":
                reasons.setdefault(reason, set()).add("/".join(row))
    return [
        f"{amount(len(rows), 'row')} ({', '.join(sorted(rows)[:2])}{', ...' if len(rows) > 2 else ''}): {reason}"
        for reason, rows in reasons.items()
    ]

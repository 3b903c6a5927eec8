"""Report the cost of jobs as a page (`stele cluster cost`), a table by stage or rule, or a line."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Literal, NamedTuple

from stele import catalogue
from stele.catalogue.schema.costs import Costs, Device
from stele.cluster.requests import JobRequest
from stele.cluster.sinfo import size as number
from stele.cluster.sizes import UNKNOWN, shape_of, windows
from stele.cluster.work import Work, cpu_seconds, named, seconds
from stele.command.groups import STAGES
from stele.files.formats import amount, duration, table
from stele.plan.plan import Plan

LISTED = 8  # most jobs that a warning about time limits names


def gpu_seconds(job: JobRequest) -> float:
    """Estimated GPU-seconds of a job, summed over its GPUs; 0 if unknown."""
    return (job.seconds or 0) * job.devices


def core_seconds(job: JobRequest) -> float:
    """Estimated core-seconds of a job; for a job with GPUs, of its CPU work only."""
    work = job.work or Work()
    return work.cpu_seconds if job.devices else cpu_seconds(work)


def markdown(plan: Plan, jobs: Sequence[JobRequest], on: str, everything: bool, subject: str = "") -> str:
    """Cost report in Markdown, with hours on GPUs of kind `on`. `subject` replaces the papers' names in the title."""
    what = "everything" if everything else "what is still to be built"
    subject = subject or ", ".join(plan.settings.config.papers)
    title = f"# What a run costs: scale {plan.settings.scale_folder}, {subject}"
    if not jobs:
        return f"{title}\n\nNothing is left to be built.\n"
    names = ", ".join(dict.fromkeys(name for job in jobs for name in job.catalogued))
    unit, unknown = unit_of(jobs), [job.name for job in jobs if job.work is None]
    parts = [
        title,
        f"{amount(len(jobs), 'job')}, {what}. Every figure is an estimate: hours within a factor of two.",
        table_by("stage", jobs, on),
        *_devices(jobs, on),
        *_documents(plan, jobs, on),
        _chain(jobs, unit),
        *_too_long(jobs),
        *_guessed(plan, jobs),
        *([f"Counted by the catalogue's sizes, not by files here: {names}."] if names else []),
        *([f"Counted as nothing, since costs.yaml has no figures for them: {', '.join(unknown)}."] if unknown else []),
        _assumed(on, any(job.devices for job in jobs)),
    ]
    return "\n\n".join(parts) + "\n"


def on_one_machine(jobs: Sequence[JobRequest], title: str, cores: int) -> str:
    """Costs on one line for a machine without GPUs, where jobs run one after another, each on all cores."""
    works = [job.work for job in jobs if job.work]
    took = sum(cpu_seconds(work, cores) + work.waiting for work in works)
    figures = {
        "download": size(sum(work.download for work in works)),
        "disk": size(sum(work.kept for work in works)),
        "disk while it runs": size(max((work.temporary for work in works), default=0)),
        "memory": size(max((work.memory for work in works), default=0)),
        "time": f"{duration(took)} on {cores} cores without a GPU" if took else "",
    }
    stated = ", ".join(f"{what} {figure}" for what, figure in figures.items() if figure)
    what = stated or "nothing is left to be built"
    return f"{title}: {amount(len(jobs), 'job')}; {what} (within a factor of two{_unknown(jobs)})"


def of_this_plan(jobs: Sequence[JobRequest], cores: int | None, gpus: bool) -> str:
    """Costs of a plan on one line: time on `cores` (None: as many nodes as it can use), bytes kept and downloaded.

    The time is that of the longest chain, or of all work divided by the cores, if longer. `gpus`: whether this machine
    has any; without them, jobs that request a GPU run on their CPU threads.
    """
    works = [job.work or Work() for job in jobs]
    if gpus:
        took = [job.seconds or 0.0 for job in jobs]
    else:
        took = [work.waiting + cpu_seconds(work, job.threads) for job, work in zip(jobs, works, strict=True)]
    total = sum(took[n] for n in longest_chain(took, _waits(jobs)))
    if cores is not None:
        threads = [min(job.threads, cores) for job in jobs]
        total = max(total, sum(seconds * number for seconds, number in zip(took, threads, strict=True)) / cores)
    where = "with as many nodes as it can use" if cores is None else f"on {cores} cores" if cores > 1 else "on one core"
    on_disk = sum(work.kept for work in works) + max((work.temporary for work in works), default=0)
    line = f"about {duration(60 * max(1, round(total / 60)))} {where}, {size(on_disk) or '0 MB'} on the disk"
    if downloaded := size(sum(work.download for work in works)):
        line += f", {downloaded} of it downloaded"
    sizes = [(name, job.work.kept + job.work.download) for job in jobs if job.work for name in job.catalogued]
    by_catalogue = f"; by the catalogue's sizes of {named(sizes)}" if sizes else ""  # else all sizes are measured
    return f"{line} (within a factor of two{by_catalogue}{_unknown(jobs)})"


def _unknown(jobs: Sequence[JobRequest]) -> str:
    unknown = [job.name for job in jobs if job.work is None]
    return f"; without {', '.join(unknown)}, of which there is no estimate" if unknown else ""


class Unit(NamedTuple):
    """Unit of time in a table: its name and its length in seconds."""

    name: str
    seconds: int

    def show(self, seconds: float) -> str:
        """Formats a time in this unit, with fewer decimals for larger values; empty for 0.

        >>> [HOUR.show(seconds) for seconds in (0, 36, 7200, 44_460_000)]
        ['', '0.01', '2.0', '12,350']
        """
        value = seconds / self.seconds
        if value == 0:
            return ""
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{max(value, 0.01):.2f}"


HOUR, MINUTE = Unit("hour", 3600), Unit("minute", 60)


def unit_of(jobs: Sequence[JobRequest]) -> Unit:
    """Unit for the times of jobs: hours, or minutes if no job takes an hour."""
    return HOUR if any((job.seconds or 0) >= HOUR.seconds for job in jobs) else MINUTE


def size(number: float) -> str:
    """Formats bytes in MB, GB or TB; empty for 0.

    >>> size(0), size(5e5), size(1.12e9), size(2.5e12)
    ('', '1 MB', '1.1 GB', '2.5 TB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB")):
        value = number / unit
        if value >= 1:
            return f"{value:,.0f} {name}" if value >= 100 else f"{value:.1f} {name}"
    return f"{max(1, number / 1e6):,.0f} MB" if number > 0 else ""


def table_by(key: Literal["stage", "rule"], jobs: Sequence[JobRequest], on: str) -> str:
    """Table of the times, memory and bytes of each stage, or of each rule in the order of their first jobs.

    The last line has all together; GPU times are for GPUs of kind `on`.
    """
    names = STAGES if key == "stage" else dict.fromkeys(job.rule for job in jobs)
    unit = unit_of(jobs)
    times = [f"{on.upper()}-{unit.name}s", f"CPU-{unit.name}s", f"longest job, {unit.name}s"]
    groups = {name: [job for job in jobs if getattr(job, key) == name] for name in names} | {"together": jobs}
    head = [key, "jobs", "with GPUs", *times, "most memory", "download", "kept", "temporary"]
    return table(head, [_row(name, group, unit) for name, group in groups.items() if group])


def _row(name: str, jobs: Sequence[JobRequest], unit: Unit) -> list[str]:
    on_gpus = sum(job.devices > 0 for job in jobs)
    works = [job.work for job in jobs if job.work]
    return [
        name,
        f"{len(jobs):,}",
        f"{on_gpus:,}" if on_gpus else "",
        unit.show(sum(map(gpu_seconds, jobs))),
        unit.show(sum(map(core_seconds, jobs))),
        unit.show(max(job.seconds or 0 for job in jobs)),
        size(1e6 * max(number(job.resources, "mem_mb") for job in jobs)),
        size(sum(work.download for work in works)),
        size(sum(work.kept for work in works)),
        size(max((work.temporary for work in works), default=0)),
    ]


def _devices(jobs: Sequence[JobRequest], on: str) -> list[str]:
    """A paragraph with the GPU-hours of the same work on each other known kind of GPU; empty without GPU work."""
    works = [(job.work, job.devices) for job in jobs if job.devices and job.work]
    totals = {
        kind: sum(seconds(work, kind, devices) * devices for work, devices in works)
        for kind in catalogue.entries(Device)
        if kind != on
    }
    hours = ", ".join(f"{HOUR.show(total)} {kind.upper()}-hours" for kind, total in totals.items())
    return [f"On other GPUs: {hours}."] if works else []


def _documents(plan: Plan, jobs: Sequence[JobRequest], on: str) -> list[str]:
    """Table of collections encoded in windows: their number of windows and encodings, and the cost of one encoding."""
    encodings = [job for job in jobs if job.rule == "retrieve" and job.work]
    unit, rows = unit_of(encodings), []
    for name in dict.fromkeys(job.wildcards["benchmark"] for job in encodings):
        if plan.data.benchmark(name).windows:
            jobs_of_it = [job for job in encodings if job.wildcards["benchmark"] == name]
            longest = max(map(gpu_seconds, jobs_of_it))
            vectors = max(job.work.temporary for job in jobs_of_it if job.work)
            number = windows(plan, name, plan.data.languages(name))
            rows.append([name, f"{number:,}", f"{len(jobs_of_it):,}", unit.show(longest), size(vectors)])
    head = ["collection", "windows", "encodings", f"{on.upper()}-{unit.name}s each", "vectors, while a job runs"]
    return [f"Documents that are encoded in windows of sentences:\n\n{table(head, rows)}"] if rows else []


def _chain(jobs: Sequence[JobRequest], unit: Unit) -> str:
    """Table of the longest chain of dependent jobs, which no number of nodes shortens; omits jobs below 1 %."""
    longest = [(jobs[n], jobs[n].seconds or 0) for n in longest_chain([job.seconds or 0 for job in jobs], _waits(jobs))]
    total = sum(took for _, took in longest)
    lines = [[job.name, str(job.devices or ""), unit.show(took)] for job, took in longest if took >= total / 100]
    title = f"The longest chain of jobs takes {unit.show(total) or 0} {unit.name}s, without the time in a queue:"
    return f"{title}\n\n{table(['job', 'GPUs', f'{unit.name}s'], lines)}"


def _too_long(jobs: Sequence[JobRequest]) -> list[str]:
    """Lists jobs that take longer than the limit of their first attempt: those that resume, and those that restart."""
    too_long = [job for job in jobs if (job.seconds or 0) > 60 * number(job.resources, "runtime") > 0]
    lines = []
    for resumes, what in (
        (True, "resume from their state in a second attempt"),
        (False, "start anew with each attempt, which requests more time"),
    ):
        group = sorted((job for job in too_long if job.resumes == resumes), key=lambda job: -(job.seconds or 0))
        named = [f"{job.name} {HOUR.show(job.seconds or 0)}" for job in group[:LISTED]]
        named += ["..."] if len(group) > LISTED else []
        jobs_of = f"{amount(len(group), 'job')} that {what} (hours): {', '.join(named)}."
        lines += [f"Longer than the time that the first attempt requests, {jobs_of}"] if group else []
    return lines


def _guessed(plan: Plan, jobs: Sequence[JobRequest]) -> list[str]:
    counted = (job.wildcards.get("model") for job in jobs if job.work and job.work.flops)
    unknown = ", ".join(model for model in sorted({*filter(None, counted)}) if not shape_of(plan, model).known)
    return [f"Assumed to be as large as {UNKNOWN}, since their size is unknown: {unknown}."] if unknown else []


def _assumed(on: str, gpus: bool) -> str:
    """Assumptions behind the figures, as a paragraph."""
    costs, device = catalogue.whole(Costs), catalogue.entry(Device, on)
    start = "Assumed (src/stele/catalogue/costs.yaml has all, with sources): "
    if not gpus:
        rates = " or ".join(f"{rate / 1e9:.0f}" for rate in costs.core.values())
        return f"{start}{rates} GFLOP a second of a core; other jobs take what the miniature's took."
    shares = ", ".join(
        f"{kind.replace('_half', ' in 16 bits')} {reached.share:.0%} of {getattr(device, reached.peak):g} TFLOPS"
        for kind, reached in costs.shares
    )
    return (
        f"{start}{on.upper()}s reach {shares}; each optimiser step takes {costs.step_seconds} s more, each GPU job "
        f"{costs.start_minutes} minutes. Kept: all that is on the disk afterwards, downloads among it. "
        "Temporary: the most that lies there beside it while one job runs."
    )


def _waits(jobs: Sequence[JobRequest]) -> list[list[int]]:
    """Indices of the jobs that each job waits for, aligned with `jobs`."""
    place = {job.log: n for n, job in enumerate(jobs)}
    return [[place[log] for log in job.after if log in place] for job in jobs]


def longest_chain(seconds: Sequence[float], after: Sequence[Sequence[int]]) -> list[int]:
    """Indices of the jobs in the longest chain, in order. `after[n]`: the jobs, all below n, that job n waits for.

    >>> longest_chain([5, 1, 1, 2], [(), (), (0, 1), (1,)])
    [0, 2]
    """
    chains: list[tuple[float, list[int]]] = []  # the longest chain that ends with each job
    for job, (job_seconds, waits) in enumerate(zip(seconds, after, strict=True)):
        before, chain = max((chains[other] for other in waits), key=itemgetter(0), default=(0.0, []))
        chains.append((before + job_seconds, [*chain, job]))
    return max(chains, key=itemgetter(0), default=(0.0, []))[1]

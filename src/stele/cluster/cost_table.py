"""A run's cost as a page of Markdown that reads well on a terminal, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stele import catalogue
from stele.cluster.planned_jobs import Job
from stele.cost import chain
from stele.cost.shapes import UNKNOWN, shape_of
from stele.cost.work import Work, gpu_seconds
from stele.plan.plan import Plan

STAGES = ("world", "sources", "corpora", "pairs", "pretraining", "finetuning", "retrieval", "scoring", "tables")
LISTED = 8  # jobs named of those that are too long for their limit
RESUMED = ("pretrain", "finetune", "retrieve", "hard_negatives")  # rules whose jobs keep their state


class Estimate(NamedTuple):
    """A job with what it does, and its seconds: of the job, of GPUs, of one core."""

    job: Job
    work: Work
    seconds: float
    gpu_seconds: float
    cpu_seconds: float


def markdown(plan: Plan, found: Sequence[Estimate], unknown: Sequence[str], on: str, everything: bool) -> str:
    """The whole page; `unknown` are jobs of which costs.yaml has no figures."""
    what = "everything" if everything else "what is still to be built"
    title = f"# What a run costs: scale {plan.settings.scale_folder}, {', '.join(plan.settings.config.papers)}"
    if not found:
        return f"{title}\n\nNothing is left to be built.\n"
    parts = [
        title,
        f"{len(found):,} jobs, {what}. Every figure is an estimate: hours within a factor of two.",
        _by_stage(found, on),
        *_devices(found, on),
        _chain(found),
        *_too_long(found),
        *_guessed(plan, found),
        *([f"Counted as nothing, since costs.yaml has no figures for them: {', '.join(unknown)}."] if unknown else []),
        _assumed(on, any(one.job.devices for one in found)),
    ]
    return "\n\n".join(parts) + "\n"


class Unit(NamedTuple):
    """What times are given in."""

    name: str
    seconds: int

    def show(self, seconds: float) -> str:
        """A time with as many digits as make sense, nothing for nothing.

        >>> [HOUR.show(seconds) for seconds in (0, 36, 7200, 44_460_000)]
        ['', '0.01', '2.0', '12,350']
        """
        value = seconds / self.seconds
        if value == 0:
            return ""
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{max(value, 0.01):.2f}"


HOUR, MINUTE = Unit("hour", 3600), Unit("minute", 60)


def unit_of(found: Sequence[Estimate]) -> Unit:
    """Hours, or minutes where no job takes an hour."""
    return HOUR if any(one.seconds >= HOUR.seconds for one in found) else MINUTE


def size(number: float) -> str:
    """Bytes in a unit that fits, nothing for none.

    >>> size(0), size(5e5), size(1.12e9), size(2.5e12)
    ('', '1 MB', '1.1 GB', '2.5 TB')
    """
    if number <= 0:
        return ""
    unit, name = next(
        (unit, name) for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")) if number >= unit or unit == 1e6
    )
    value = max(1, number / unit)
    return f"{value:,.0f} {name}" if name == "MB" or value >= 100 else f"{value:.1f} {name}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns stand below each other, all but the first to the right; without empty columns."""
    rows = list(rows)
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    lines = [[row[column] for column in used] for row in (head, *rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(used))]

    def shown(cells: Sequence[str]) -> str:
        right = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return f"| {' | '.join([cells[0].ljust(widths[0]), *right])} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([shown(lines[0]), f"|{rule}|", *map(shown, lines[1:])])


def _by_stage(found: Sequence[Estimate], on: str) -> str:
    unit = unit_of(found)
    head = [
        "stage",
        "jobs",
        "with GPUs",
        f"{on.upper()}-{unit.name}s",
        f"CPU-{unit.name}s",
        f"longest job, {unit.name}s",
    ]
    rows = [_row(stage, [one for one in found if one.job.stage == stage], unit) for stage in STAGES]
    lines = [[*head, "most memory", "download", "kept"], *filter(None, rows), _row("together", found, unit)]
    return table(lines[0], lines[1:])


def _row(name: str, own: Sequence[Estimate], unit: Unit) -> list[str]:
    if not own:
        return []
    on_gpus = sum(one.job.devices > 0 for one in own)
    return [
        name,
        f"{len(own):,}",
        f"{on_gpus:,}" if on_gpus else "",
        unit.show(sum(one.gpu_seconds for one in own)),
        unit.show(sum(one.cpu_seconds for one in own)),
        unit.show(max(one.seconds for one in own)),
        size(1e6 * max(_number(one.job.resources.get("mem_mb")) for one in own)),
        size(sum(one.work.download for one in own)),
        size(sum(one.work.kept for one in own)),
    ]


def _number(resource: object) -> int:
    """A resource that is a number; Snakemake has words for what is not known yet."""
    return resource if isinstance(resource, int) else 0


def _devices(found: Sequence[Estimate], on: str) -> list[str]:
    """The same work on each kind of GPU that is known."""
    own = [one for one in found if one.job.devices]
    if not own:
        return []

    def total(kind: str) -> float:
        return sum(gpu_seconds(one.work, kind, one.job.devices) * one.job.devices for one in own)

    kinds = [kind for kind in catalogue.load("devices") if kind != on]
    return [f"On other GPUs: {', '.join(f'{HOUR.show(total(kind))} {kind.upper()}-hours' for kind in kinds)}."]


def _chain(found: Sequence[Estimate]) -> str:
    """The chain that no number of nodes makes shorter, without what is nothing beside it."""
    unit = unit_of(found)
    names = [found[n] for n in chain.longest([one.seconds for one in found], [one.job.after for one in found])]
    total = sum(one.seconds for one in names)
    shown = [one for one in names if one.seconds >= total / 100]
    lines = [[one.job.name, str(one.job.devices or ""), unit.show(one.seconds)] for one in shown]
    return (
        f"The longest chain of jobs takes {unit.show(total) or 0} {unit.name}s, without the time in a queue:\n\n"
        + table(["job", "GPUs", f"{unit.name}s"], lines)
    )


def _too_long(found: Sequence[Estimate]) -> list[str]:
    """Jobs that take longer than their first attempt may: those that train or encode go on in the next one."""
    own = [one for one in found if one.seconds > 60 * _number(one.job.resources.get("runtime")) > 0]
    kinds = {
        "go on from their state in a second attempt": [one for one in own if one.job.rule in RESUMED],
        "start anew with each attempt, which asks for more time": [one for one in own if one.job.rule not in RESUMED],
    }
    return [
        f"Longer than the time that the first attempt asks for, {len(jobs)} jobs that {what} (hours): {_longest(jobs)}."
        for what, jobs in kinds.items()
        if jobs
    ]


def _longest(jobs: Sequence[Estimate]) -> str:
    most = sorted(jobs, key=lambda one: -one.seconds)[:LISTED]
    more = ", ..." if len(jobs) > LISTED else ""
    return ", ".join(f"{one.job.name} {HOUR.show(one.seconds)}" for one in most) + more


def _guessed(plan: Plan, found: Sequence[Estimate]) -> list[str]:
    models = sorted({one.job.wildcards["model"] for one in found if one.work.flops and "model" in one.job.wildcards})
    unknown = [model for model in models if not shape_of(plan, model).known]
    return [f"Taken for as large as {UNKNOWN}, since nobody said: {', '.join(unknown)}."] if unknown else []


def _assumed(on: str, gpus: bool) -> str:
    """What the figures rest on."""
    costs = catalogue.load("costs")
    start = "Assumed (src/stele/catalogue/costs.yaml has all, with sources): "
    if not gpus:
        return f"{start}{costs['core'] / 1e9:.0f} GFLOP a second of a core; other jobs take what the miniature's took."
    shares = ", ".join(f"{kind.replace('_half', ' in 16 bits')} {_share(kind, on)}" for kind in costs["shares"])
    return (
        f"{start}{on.upper()}s reach {shares}; each optimiser step takes {costs['step_seconds']} s more, each GPU job "
        f"{costs['start_minutes']} minutes. Kept: all that is on the disk afterwards, downloads among it."
    )


def _share(kind: str, on: str) -> str:
    entry = catalogue.load("costs")["shares"][kind]
    return f"{entry['share']:.0%} of {catalogue.load('devices')[on][entry['peak']]} TFLOPS"

"""Set the resources that a rule's jobs request: GPUs, nodes, memory and time, growing with each attempt.

The numbers come from rules.yaml and the scale. Jobs of a generated scale run on CPUs; they request a GPU only if
`cluster.yaml` says so.
"""

import math
import os
from collections.abc import Callable
from typing import Any

from stele.catalogue.schema.costs import Growing, RuleFacts, Size, rule_facts
from stele.cluster import settings
from stele.cluster.requests import estimate
from stele.cluster.sinfo import Resources
from stele.cluster.work import Work, device, seconds
from stele.plan.plan import Plan

# replaces the facts of a rule that trains or encodes, at a generated scale
GENERATED = {"gpus": None, "mem_mb": 2_000, "each_mb": 2_000, "minutes": 240}
# SLURM's signal before a job's time limit, in seconds, at which a training saves its state: with a GPU a state of
# gigabytes takes minutes on a busy file system
SIGNAL, GPU_SIGNAL = "--signal=TERM@120", "--signal=TERM@300"
DAY = 24 * 60
MARGIN = 1.3  # requested memory divided by its estimate
VARIABLE = "STELE_ON_CLUSTER"  # set by the slurm profile
OfWildcards = Callable[[Any], int]


def growing(size: int | OfWildcards, most: float = math.inf) -> Callable[..., int]:
    """Function of wildcards and attempt that gives `size` times the attempt, at most `most`.

    >>> [growing(1000)(None, attempt) for attempt in (1, 2, 3)]
    [1000, 2000, 3000]
    >>> growing(1000, most=1500)(None, 2)
    1500
    """
    return lambda wildcards, attempt: int(min((size(wildcards) if callable(size) else size) * attempt, most))


def defaults() -> Resources:
    """Resources that a job requests on the cluster if its rule names none."""
    names = settings.read()
    requested = {
        "slurm_partition": names.partitions.cpu,
        "slurm_account": names.account,
        "qos": names.qos,
        "slurm_extra": SIGNAL,
        "disk_mb": 1000,
        "mem_mb": growing(8000, 1000 * names.most("gigabytes", "cpu")),
        "runtime": growing(240, 60 * names.most("hours", "cpu")),
    }
    return {name: value for name, value in requested.items() if value is not None}


def _named(what: str, rule: str, generated: bool) -> int | None:
    """A rule's `gpus` or `nodes` in cluster.yaml; None if unset, or if a generated scale is built on this machine."""
    on_this_machine = generated and VARIABLE not in os.environ
    return None if on_this_machine else getattr(getattr(settings.read(), what), rule, None)


def _facts(rule: str, plan: Plan) -> RuleFacts:
    known = rule_facts(rule)
    return known.model_copy(update=GENERATED) if plan.settings.generated and known.gpus else known


def gpus(rule: str, plan: Plan) -> int:
    """GPUs of a rule's job on each of its nodes: from cluster.yaml, or from rules.yaml up to the scale's limit."""
    named, usual = _named("gpus", rule, plan.settings.generated), _facts(rule, plan).gpus or 0
    most = plan.settings.sizes.gpus
    usual = usual if most is None else min(usual, most)
    return usual if named is None else named


def job_threads(rule: str, plan: Plan) -> int:
    """CPU threads of a job on each of its nodes: threads of one process times processes (one per GPU)."""
    each = plan.settings.sizes.threads if rule_facts(rule).threads == "scale" else 1
    return each * max(gpus(rule, plan), 1)


def runtime_minutes(rule: str, plan: Plan, devices: int = 0) -> OfWildcards:
    """Function of wildcards that gives a first attempt's minutes: twice the estimate plus 30; a day if unknown."""
    on, threads = device(settings.read().gpu_model), plan.settings.sizes.threads
    return _by_work(rule, plan, lambda work: 30 + round(2 * seconds(work, on, devices, threads) / 60) if work else DAY)


def disk_mb(rule: str, plan: Plan) -> OfWildcards:
    """Function of wildcards that gives a job's MB of disk: 1 GB plus the estimated kept and temporary bytes."""
    return _by_work(rule, plan, lambda work: 1000 + round((work.kept + work.temporary) / 1e6) if work else 1000)


def memory_mb(rule: str, plan: Plan, otherwise: int, beside_gpus: int = 0) -> OfWildcards:
    """Function of wildcards that gives a job's MB of memory, by model, batch and length; `otherwise` if unknown.

    `beside_gpus` is the memory of the GPUs' processes in MB; with it, `otherwise` is also the most requested.
    """

    def megabytes(work: Work | None) -> int:
        if not work or not work.memory:
            return otherwise
        estimated = round(MARGIN * work.memory / 1e6) + beside_gpus
        return min(estimated, otherwise) if beside_gpus else estimated

    return _by_work(rule, plan, megabytes)


def _by_work(rule: str, plan: Plan, size: Callable[[Work | None], int]) -> OfWildcards:
    return lambda wildcards: size(estimate(plan, rule, dict(wildcards.items())))


def job_resources(rule: str, plan: Plan) -> Resources:
    """Resources for the `resources:` of a rule.

    `gpus` (GPUs on each node) is for the command line; the SLURM plugin reads the others.
    """
    known, number = _facts(rule, plan), gpus(rule, plan)
    nodes, kind = _named("nodes", rule, plan.settings.generated) or 1, "gpu" if number else "cpu"
    disk = disk_mb(rule, plan) if known.disk_mb == "estimated" else _size(known.disk_mb, plan)
    requested = _placed(number, nodes, kind) if rule_facts(rule).gpus else {}
    memory = _size(known.mem_mb, plan, known.each_mb * max(number, 1))
    # at the papers' sizes a GPU's job requests the same for every model; an adaptation is of one encoder
    if known.gpus and not plan.settings.generated and (not number or plan.settings.config.adapt):
        memory = memory_mb(rule, plan, memory, known.each_mb * number)
    if memory is not None:
        requested["mem_mb"] = growing(memory, 1000 * settings.read().most("gigabytes", kind))
    if disk is not None:
        requested["disk_mb"] = disk
    estimated = known.minutes == "estimated"
    minutes = runtime_minutes(rule, plan, number * nodes) if estimated else _size(known.minutes, plan)
    if minutes is not None:
        requested["runtime"] = growing(minutes, 60 * settings.read().most("hours", kind))
    return requested


def _size(size: Size | None, plan: Plan, extra: int = 0) -> int | OfWildcards | None:
    if isinstance(size, Growing):
        return lambda wildcards: int(size.base + size.per_mb * plan.dump_mb(dict(wildcards.items()))) + extra
    return None if size is None else size + extra


def _placed(number: int, nodes: int, kind: str) -> Resources:
    """Resources for partition, GPUs and nodes, as the SLURM plugin expects them.

    On one node, `gpu` is the total of GPUs. With several nodes, `gres` gives those of each node, and the command starts
    its own srun: `mpi` keeps the plugin from starting one but needs tasks; `tasks_per_gpu` 0 sets one task per node.
    """
    names = settings.read()
    partition, signal = getattr(names.partitions, kind), GPU_SIGNAL if number else None
    placed = {"gpus": number, "nodes": nodes, "slurm_partition": partition, "slurm_extra": signal}
    if nodes == 1:
        placed |= {"gpu": number, "gpu_model": names.gpu_model if number else None}
    else:
        gres = f"gpu:{names.gpu_model}:{number}" if names.gpu_model else f"gpu:{number}"
        placed |= {"tasks": nodes, "mpi": "srun", "tasks_per_gpu": 0, "gres": gres if number else None}
    return {name: value for name, value in placed.items() if value is not None}

"""What the jobs of a rule ask of a cluster: GPUs, nodes, memory and time, by scale, growing with each attempt.

A generated scale is CPU work: its jobs ask for a GPU only where `cluster.yaml` says so. At the papers' sizes the rules
that train or encode do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stele.cluster import settings
from stele.cost.rules import work
from stele.cost.work import device, seconds
from stele.plan.plan import Plan


@dataclass(frozen=True)
class Need:
    """What the first attempt of a job asks for on each node: memory in MB (all, and for each process).

    `gpus` is the number where cluster.yaml names none: one process each.
    """

    mem_mb: int
    each_mb: int
    gpus: int = 1


# Most clusters have four GPUs a node: a pretraining, the longest work, takes them all; encoding takes two, since its
# jobs are many and small ones wait less; a fine-tuning takes one: its batches are small, and its jobs many.
# Memory is the host's: each process has CUDA's own and a checkpoint twice while it is loaded, the first one the state
# that it saves, or an encoded corpus's block four times.
PAPER = {
    "pretrain": Need(48_000, 16_000, gpus=4),
    "finetune": Need(48_000, 16_000),
    "retrieve": Need(96_000, 24_000, gpus=2),
    "encode_pairs": Need(32_000, 16_000),
    "project": Need(16_000, 16_000),
    "hard_negatives": Need(96_000, 24_000, gpus=2),
}
GENERATED, GENERATED_MINUTES = Need(2_000, 2_000, gpus=0), 240
# the notice before a job's time limit, in seconds: a state of gigabytes takes minutes on a busy file system
NOTICE = "--signal=TERM@300"
DAY = 24 * 60
VARIABLE = "STELE_ON_CLUSTER"  # set by the slurm profile
Size = int | Callable[[Any], int]


def grows(size: Size, most: float | None = None) -> Callable[..., int]:
    """A resource that grows with each attempt: of a number, or of a function of the wildcards; at most `most`.

    >>> [grows(1000)(None, attempt) for attempt in (1, 2, 3)]
    [1000, 2000, 3000]
    >>> grows(1000, most=1500)(None, 2)
    1500
    """

    def resource(wildcards: Any, attempt: int) -> int:
        first = size(wildcards) if callable(size) else size
        grown = first * attempt
        return grown if most is None else int(min(grown, most))

    return resource


def _most(what: str, kind: str, unit: float) -> float | None:
    """The most that a job of a kind of work may ask for here; None: no bound is known."""
    found = getattr(getattr(settings.read(), what), kind)
    return None if found is None else found * unit


def runtime(size: Size, kind: str = "cpu") -> Callable[..., int]:
    """Time of a job in minutes: grows with each attempt up to what the cluster allows."""
    return grows(size, _most("hours", kind, 60))


def memory(size: Size, kind: str = "cpu") -> Callable[..., int]:
    """Memory of a job in MB: grows with each attempt up to what the cluster has."""
    return grows(size, _most("gigabytes", kind, 1000))


def _named(what: str, rule: str, generated: bool) -> int | None:
    """What cluster.yaml says of a rule's `gpus` or `nodes`; where a miniature is built on this machine, nothing."""
    here = generated and VARIABLE not in os.environ
    return None if here else getattr(getattr(settings.read(), what), rule, None)


def gpus(rule: str, plan: Plan) -> int:
    """GPUs of a job of a rule on each of its nodes: what cluster.yaml says, else what the scale allows."""
    named = _named("gpus", rule, plan.settings.generated)
    usual = (GENERATED if plan.settings.generated else PAPER[rule]).gpus
    return min(usual, plan.settings.sizes["gpus"] or usual) if named is None else named


def gpu_threads(rule: str, plan: Plan) -> int:
    """CPU threads of a job on each of its nodes: the scale's for each process."""
    return plan.settings.sizes["threads"] * max(gpus(rule, plan), 1)


def expected(rule: str, plan: Plan, devices: int = 0) -> Callable[[Any], int]:
    """Minutes of a job's first attempt: twice what it is estimated at, and half an hour; a day without an estimate."""
    on, threads = device(settings.read().gpu_model), plan.settings.sizes["threads"]

    def minutes(wildcards: Any) -> int:
        found = work(plan, rule, dict(wildcards.items()))
        return DAY if found is None else 30 + round(2 * seconds(found, on, devices, threads) / 60)

    return minutes


def room(rule: str, plan: Plan) -> Callable[[Any], int]:
    """MB on the disk that a job is estimated to fill, with what lies there while it runs; 1 GB at least."""

    def megabytes(wildcards: Any) -> int:
        found = work(plan, rule, dict(wildcards.items()))
        return 1000 + (0 if found is None else round((found.kept + found.temporary) / 1e6))

    return megabytes


def gpu_work(rule: str, plan: Plan) -> Mapping[str, Any]:
    """The resources of a rule that trains or encodes, for its `resources:`; at a generated scale CPUs do it.

    `gpus` is for the command line: GPUs on each node. The others are the SLURM plugin's.
    """
    generated, number = plan.settings.generated, gpus(rule, plan)
    need = GENERATED if generated else PAPER[rule]
    nodes = _named("nodes", rule, generated) or 1
    kind = "gpu" if number else "cpu"
    found = {
        "gpus": number,
        **_placed(number, nodes),
        "slurm_partition": getattr(settings.read().partitions, kind),
        "slurm_extra": NOTICE if number else None,
        "mem_mb": memory(need.mem_mb + need.each_mb * max(number, 1), kind),
        "disk_mb": room(rule, plan),
        "runtime": runtime(
            GENERATED_MINUTES if plan.settings.generated else expected(rule, plan, number * nodes), kind
        ),
    }
    return {name: value for name, value in found.items() if value is not None}


def _placed(number: int, nodes: int) -> dict[str, Any]:
    """GPUs and nodes as the SLURM plugin wants them.

    On one node GPUs are `gpu`, a total. With several nodes they are `gres`, of each node, and the command has an srun
    of its own: `mpi` keeps the plugin from starting one, and wants tasks; `tasks_per_gpu` 0 makes them one a node.
    """
    model = settings.read().gpu_model
    if nodes == 1:
        return {"nodes": 1, "gpu": number, "gpu_model": model if number else None}
    gres = f"gpu:{model}:{number}" if model else f"gpu:{number}"
    tasks = {"tasks": nodes, "mpi": "srun", "tasks_per_gpu": 0}
    return {"nodes": nodes, **tasks, "gres": gres if number else None}

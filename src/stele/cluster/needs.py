"""What the jobs of a rule ask of a cluster: GPUs, memory and time, by scale, growing with each attempt.

A generated scale is CPU work: its jobs ask for no GPU. At the papers' sizes the rules that train or encode do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stele.cluster import names


@dataclass(frozen=True)
class Need:
    """What the first attempt of a job asks for: memory in MB, time in minutes."""

    mem_mb: int
    runtime: int
    gpu: int = 0


# One process a job: more than one GPU would stand idle. Memory is the host's: a large checkpoint is held twice while it
# is loaded and saved, an encoded corpus's block four times.
PAPER = {
    "pretrain": Need(64_000, 2880, gpu=1),
    "finetune": Need(64_000, 1440, gpu=1),
    "retrieve": Need(120_000, 1440, gpu=1),
    "encode_pairs": Need(48_000, 240, gpu=1),
    "project": Need(32_000, 120, gpu=1),
    "hard_negatives": Need(120_000, 1440, gpu=1),
}
GENERATED = Need(4_000, 240)
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
    found = getattr(getattr(names.read(), what), kind)
    return None if found is None else found * unit


def runtime(size: Size, kind: str = "cpu") -> Callable[..., int]:
    """Time of a job in minutes: grows with each attempt up to what the cluster allows."""
    return grows(size, _most("hours", kind, 60))


def memory(size: Size, kind: str = "cpu") -> Callable[..., int]:
    """Memory of a job in MB: grows with each attempt up to what the cluster has."""
    return grows(size, _most("gigabytes", kind, 1000))


def gpu_work(rule: str, generated: bool) -> Mapping[str, Any]:
    """The resources of a rule that trains or encodes, for its `resources:`; at a generated scale CPUs do it."""
    need = GENERATED if generated else PAPER[rule]
    kind = "gpu" if need.gpu else "cpu"
    here = names.read()
    found = {
        "gpu": need.gpu,
        "gpu_model": here.gpu_model if need.gpu else None,
        "nodes": 1,
        "slurm_partition": getattr(here.partitions, kind),
        "mem_mb": memory(need.mem_mb, kind),
        "runtime": runtime(need.runtime, kind),
    }
    return {name: value for name, value in found.items() if value is not None}

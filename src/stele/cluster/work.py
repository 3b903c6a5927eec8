"""The work of a job in numbers, its time on a kind of device, and the registry of the cost formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stele import catalogue
from stele.catalogue.schema.costs import Costs, Device
from stele.plan.plan import Plan

REFERENCE = "a100"  # the device that hours are of where the cluster's own is not known


@dataclass(frozen=True)
class Work:
    """The work of a job.

    flops         operations of matrix products by kind (costs.yaml: shares)
    steps         optimiser steps; each has a fixed time besides its operations
    cpu_seconds   seconds of one core, besides the operations
    waiting       seconds without computation, for a download
    download      bytes that are fetched
    kept          bytes that stay on the disk
    temporary     bytes on the disk while the job runs
    memory        bytes of a process at its peak; 0: not estimated
    """

    flops: Mapping[str, float] = field(default_factory=dict)
    steps: float = 0
    cpu_seconds: float = 0
    waiting: float = 0
    download: float = 0
    kept: float = 0
    temporary: float = 0
    memory: float = 0

    @property
    def operations(self) -> float:
        """Operations of all kinds."""
        return sum(self.flops.values())


Formula = Callable[[Plan, Any], Work]  # of the plan and a job's wildcards
FORMULAS: dict[str, Formula] = {}  # by rule


def cost_formula(function: Formula) -> Formula:
    """Registers a function as the cost formula of the rule of its name."""
    FORMULAS[function.__name__] = function
    return function


def device(name: str | None) -> str:
    """The known device in a cluster's `gpu_model`: "h100" for "nvidia_h100_80gb"; else the reference device.

    >>> device("h100"), device("NVIDIA_A100-SXM4"), device(None), device("mi250")
    ('h100', 'a100', 'a100', 'a100')
    """
    known = catalogue.entries(Device)
    return next((kind for kind in known if kind in (name or "").lower()), REFERENCE)


def rate(kind: str, on: str) -> float:
    """Operations a second of one device for a kind of work: a share of its peak."""
    share = getattr(catalogue.whole(Costs).shares, kind)
    return getattr(catalogue.entry(Device, on), share.peak) * 1e12 * share.share


def gpu_seconds(work: Work, on: str, devices: int) -> float:
    """Seconds of a job on several devices of one kind, which share its operations and its work on the CPU.

    Texts are read and tokenised while the device computes, so the longer of the two counts.
    """
    costs = catalogue.whole(Costs)
    computing = sum(number / rate(kind, on) for kind, number in work.flops.items()) / devices
    stepping = costs.step_seconds * work.steps
    return 60 * costs.start_minutes + max(computing + stepping, work.cpu_seconds / devices)


def cpu_seconds(work: Work, threads: int = 1) -> float:
    """Seconds on cores without a GPU: only operations use several."""
    return work.cpu_seconds + work.operations / catalogue.whole(Costs).core / max(1, threads)


def seconds(work: Work, on: str, devices: int, threads: int = 1) -> float:
    """Seconds of a job: on its GPUs, or where it has none on its CPU threads."""
    return gpu_seconds(work, on, devices) if devices else work.waiting + cpu_seconds(work, threads)

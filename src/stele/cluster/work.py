"""Work of a job in numbers, its time on a device, the registry of cost formulas, and the datasets they count."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stele import catalogue
from stele.catalogue.schema.costs import Checkpoint, Costs, Device
from stele.catalogue.schema.datasets import Dataset
from stele.cluster.sizes import UNKNOWN, shape_of
from stele.plan.plan import Plan

REFERENCE = "a100"  # the GPU of estimated hours if the cluster's GPU is unknown
LISTED = 4  # most names in a message


@dataclass(frozen=True)
class Work:
    """Estimated work of a job.

    flops         FLOPs of matrix products by kind (costs.yaml: shares)
    steps         optimiser steps; each has a fixed time besides its FLOPs
    cpu_seconds   seconds of one core, besides the FLOPs
    waiting       seconds without computation, for a download
    download      bytes to fetch
    kept          bytes that stay on the disk
    temporary     bytes on the disk while the job runs
    memory        bytes of a process at its peak; 0: not estimated
    width         width of the encoder that computes, which sets the FLOPs per second of a core; 0: the smallest
    """

    flops: Mapping[str, float] = field(default_factory=dict)
    steps: float = 0
    cpu_seconds: float = 0
    waiting: float = 0
    download: float = 0
    kept: float = 0
    temporary: float = 0
    memory: float = 0
    width: int = 0

    @property
    def operations(self) -> float:
        """Number of FLOPs, summed over kinds."""
        return sum(self.flops.values())


Formula = Callable[[Plan, Any], Work]  # takes the plan and a job's wildcards
FORMULAS: dict[str, Formula] = {}  # rule -> formula


def cost_formula(function: Formula) -> Formula:
    """Registers a function as the cost formula of the rule with the same name."""
    FORMULAS[function.__name__] = function
    return function


def device(name: str | None) -> str:
    """Known device in a cluster's `gpu_model`, such as "h100" in "nvidia_h100_80gb"; else the reference device.

    >>> device("h100"), device("NVIDIA_A100-SXM4"), device(None), device("mi250")
    ('h100', 'a100', 'a100', 'a100')
    >>> device("nvidia_geforce_rtx_4090"), device("nvidia_rtx_a4000")  # as SLURM's own detection names them; no A40
    ('rtx4090', 'a100')
    """
    model = (name or "").lower().replace("rtx_", "rtx")
    return next((kind for kind in catalogue.entries(Device) if re.search(rf"{kind}(?!\d)", model)), REFERENCE)


def rate(kind: str, on: str) -> float:
    """FLOPs per second of one device for a kind of work, as a share of its peak."""
    share = getattr(catalogue.whole(Costs).shares, kind)
    return getattr(catalogue.entry(Device, on), share.peak) * 1e12 * share.share


def gpu_seconds(work: Work, on: str, devices: int) -> float:
    """Seconds of a job on several devices of one kind, which share its FLOPs and its CPU work.

    Texts are read and tokenised while the device computes, so the longer of the two counts.
    """
    costs = catalogue.whole(Costs)
    computing = sum(number / rate(kind, on) for kind, number in work.flops.items()) / devices
    stepping = costs.step_seconds * work.steps
    return 60 * costs.start_minutes + max(computing + stepping, work.cpu_seconds / devices)


def cpu_seconds(work: Work, threads: int = 1) -> float:
    """Seconds of a job on CPU threads without a GPU; only its FLOPs use several threads."""
    return work.cpu_seconds + work.operations / core_rate(work.width) / max(1, threads)


def core_rate(width: int) -> float:
    """FLOPs per second of one core, as measured at the largest encoder width not above `width`.

    >>> core_rate(0) == core_rate(64) < core_rate(384) == core_rate(1024)
    True
    """
    measured = catalogue.whole(Costs).core
    return measured[max((other for other in measured if other <= width), default=min(measured))]


def seconds(work: Work, on: str, devices: int, threads: int = 1) -> float:
    """Seconds of a job on its GPUs, or on its CPU threads if it has none."""
    return gpu_seconds(work, on, devices) if devices else work.waiting + cpu_seconds(work, threads)


# --- sizes behind a job's cost: of the user's files, or of the catalogue ----------------------------------------------
READ_BY = {"page_entities": "wikidata_items", "knowledge_base": "wikipedia", "title_queries": "wikipedia"}


def texts(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> list[str]:
    """Datasets whose texts determine a job's cost; [] for a job that reads questions, vectors or results.

    A rule that reads a corpus has the corpus' name. Knowledge-base pairs are counted by the dumps that they come from.
    """
    if rule in READ_BY:
        return [READ_BY[rule]]
    if rule in catalogue.entries(Dataset):
        return [rule]
    if "method" not in wildcards:
        return []
    codes = plan.mining.part_codes(wildcards["method"], wildcards["part"])
    read = {name for name, _ in plan.mining.datasets(wildcards["method"], codes)}
    return sorted(read - {"wikidata_items"})


def is_users_text(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> bool:
    """Whether a job's cost is counted only by the user's own texts."""
    read = texts(plan, rule, wildcards)
    return bool(read) and all(plan.data.users_folder(name) for name in read)


def from_catalogue(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> list[str]:
    """Catalogue entries by whose sizes a job's cost is counted; [] if its data are the user's or generated here."""
    generated = plan.settings.generated
    read = [wildcards["dataset"]] if rule == "dataset" else texts(plan, rule, wildcards)
    if read:
        return [name for name in read if not (generated or plan.data.users_folder(name))]
    benchmark = wildcards.get("benchmark")
    names = [benchmark] if benchmark and not generated and benchmark not in catalogue.added("benchmarks") else []
    model = wildcards.get("model")
    if model not in plan.models.all or not plan.models.all[model].has_encoder:
        return names
    root = plan.models.root(model)
    if plan.world.standin(root) or "path" in plan.models.checkpoint_source(root):
        return names  # generated here, or the user's folder
    if root in catalogue.entries(Checkpoint):
        names.append(root)
    elif not shape_of(plan, root).known:
        names.append(UNKNOWN)
    return names


def named(sizes: Iterable[tuple[str, float]]) -> str:
    """Joins names by decreasing sum of their sizes, at most LISTED of them."""
    sums: Counter[str] = Counter()
    for name, size in sizes:
        sums[name] += size
    largest = [name for name, _ in sums.most_common(LISTED)]
    return ", ".join(largest) + (", ..." if len(sums) > LISTED else "")

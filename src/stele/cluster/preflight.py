"""Before the first job is submitted: whether the cluster has what the jobs ask for; all that is missing, at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stele.cluster import names, queue
from stele.errors import SteleError, nearest

FORMAT = "%P|%l|%c|%m|%G|%D"
DAY = 24 * 60


@dataclass(frozen=True)
class Nodes:
    """Equal nodes of a partition: time limit in minutes (None: none), CPUs, memory in MB, GPUs by model, how many."""

    partition: str
    default: bool
    limit: float | None
    cpus: int
    memory: int
    gpus: Mapping[str, int]
    number: int

    def has_gpus(self, model: str | None, wanted: int) -> bool:
        """Whether each of these nodes has so many GPUs, of a model where one is named."""
        return (sum(self.gpus.values()) if model is None else self.gpus.get(model, 0)) >= wanted


def minutes(text: str) -> float | None:
    """A time limit of SLURM in minutes, None where there is none.

    >>> minutes("2-00:00:00"), minutes("1:30:00"), minutes("10:00"), minutes("infinite")
    (2880.0, 90.0, 10.0, None)
    """
    if not re.fullmatch(r"[\d:-]+", text):
        return None
    days, _, clock = text.rpartition("-")
    parts = [0, 0, 0, *map(int, clock.split(":"))][-3:]
    return int(days or 0) * DAY + parts[0] * 60 + parts[1] + parts[2] / 60


def gpus(text: str) -> dict[str, int]:
    """GPUs by model in a node's generic resources, as sinfo writes them.

    >>> gpus("gpu:h100:4(S:0-1),gpu:a100:2,nvme:1"), gpus("(null)"), gpus("gpu:2")
    ({'h100': 4, 'a100': 2}, {}, {'': 2})
    """
    found: dict[str, int] = {}
    for item in re.sub(r"\([^)]*\)", "", text).split(","):
        kind, *rest = item.split(":")
        if kind == "gpu":
            model = rest[0] if len(rest) > 1 else ""
            found[model] = found.get(model, 0) + int(rest[-1] if rest else 1)
    return found


def nodes(text: str) -> list[Nodes]:
    """What `sinfo` says of a cluster."""
    found = []
    for line in text.splitlines():
        partition, limit, cpus, memory, generic, number = line.split("|")
        sizes = [int(re.sub(r"\D", "", size)) for size in (cpus, memory, number)]
        name = partition.rstrip("*")
        found.append(Nodes(name, name != partition, minutes(limit), *sizes[:2], gpus(generic), sizes[2]))
    return found


def check(jobs: Iterable[Any]) -> None:
    """Refuses jobs (of Snakemake) that no node of the cluster can run, naming all that is missing."""
    cluster = nodes(queue.ask(["sinfo", "--noheader", f"--format={FORMAT}"], patience=60))
    problems: dict[str, list[str]] = {}
    for job in jobs:
        for problem in lacks(job.resources, job.threads, cluster):
            problems.setdefault(problem, []).append(job.rule.name)
    if problems:
        lines = [f"- {problem} ({', '.join(dict.fromkeys(rules))})" for problem, rules in problems.items()]
        where = f"{names.place()} names partitions, GPUs and limits; its keys: profiles/slurm/cluster.example.yaml"
        raise SteleError("\n".join(["this cluster cannot run these jobs:", *lines, where]))


def lacks(resources: Mapping[str, Any], threads: int, cluster: list[Nodes]) -> list[str]:
    """What a job asks for that no node has on which it may run."""
    asked = resources.get("slurm_partition")
    partitions = {found.partition for found in cluster}
    if asked:
        wanted = str(asked).split(",")
        if missing := [name for name in wanted if name not in partitions]:
            close = nearest(missing[0], partitions)
            return [f"no partition {missing[0]!r} (did you mean {close!r}?); there are {', '.join(sorted(partitions))}"]
        own = [found for found in cluster if found.partition in wanted]
    else:
        own = [found for found in cluster if found.default]
        if not own:
            kind = "gpu" if resources.get("gpu") else "cpu"
            return [f"no default partition: name one as partitions.{kind}; there are {', '.join(sorted(partitions))}"]
    name = ",".join(dict.fromkeys(found.partition for found in own))
    gpu, model = resources.get("gpu") or 0, resources.get("gpu_model")
    problems = []
    if gpu and not any(found.has_gpus(model, -(-gpu // (resources.get("nodes") or 1))) for found in own):
        others = sorted({found.partition for found in cluster if found.has_gpus(model, 1)})
        have = f"partitions with such GPUs: {', '.join(others)}" if others else "no partition has such GPUs"
        problems.append(f"partition {name} has no node with {gpu} GPUs{f' of model {model}' if model else ''}; {have}")
    if all(found.cpus < threads for found in own):
        problems.append(f"partition {name} has no node with {threads} CPUs")
    memory = resources.get("mem_mb") or 0
    if isinstance(memory, int) and all(found.memory < memory for found in own):
        problems.append(f"partition {name} has no node with {memory} MB of memory")
    limits = [found.limit for found in own]
    runtime = resources.get("runtime")
    if runtime and None not in limits and runtime > max(limits):
        kind = "gpu" if gpu else "cpu"
        hours = max(limits) / 60
        problems.append(f"partition {name} ends jobs after {hours:g} hours: give hours.{kind}: {hours:g}")
    return problems

"""Read the nodes of a cluster with `sinfo`, and find requests of jobs that no partition can meet."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stele.cluster import squeue
from stele.errors import nearest
from stele.files.formats import amount

# prints a line for each kind of node, also of hidden partitions
SINFO = ["sinfo", "--noheader", "--exact", "--all", "--format=%P|%l|%c|%m|%G|%D"]
WAYS = {
    "CPUs": "use another partition or --set-threads RULE=NUMBER",
    "MB of memory": "use another partition or --set-resources RULE:mem_mb=NUMBER",
}


@dataclass(frozen=True)
class Nodes:
    """Equal nodes of a partition: time limit (minutes or inf), CPUs, memory (MB), GPUs by model, number of nodes."""

    partition: str
    default: bool
    limit: float
    cpus: int
    memory: int
    gpus: Mapping[str, int]
    number: int

    def has_gpus(self, model: str | None, wanted: int) -> bool:
        """Whether each of these nodes has `wanted` GPUs, of `model` if it is not None."""
        return (sum(self.gpus.values()) if model is None else self.gpus.get(model, 0)) >= wanted


def minutes(text: str) -> float:
    """Converts a time limit of SLURM, [DD-[HH:]]MM:SS, to minutes; inf if there is none.

    >>> [minutes(text) for text in ("2-00:00:00", "1:30:00", "10:00", "30", "infinite")]
    [2880.0, 90.0, 10.0, 0.5, inf]
    """
    if not re.fullmatch(r"[\d:-]+", text):
        return math.inf
    days, _, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = 60 * seconds + float(part)
    return (seconds + 86_400 * int(days or 0)) / 60


def gpus(text: str) -> dict[str, int]:
    """Number of GPUs by model in SLURM's generic resources, of sinfo's output or of a job's request.

    >>> gpus("gpu:h100:4(S:0-1),gpu:a100:2,nvme:1"), gpus("(null)"), gpus("gpu:2"), gpus("gpu")
    ({'h100': 4, 'a100': 2}, {}, {'': 2}, {'': 1})
    """
    models: dict[str, int] = {}
    for item in re.sub(r"\([^)]*\)", "", text).split(","):
        kind, *rest = item.split(":")
        if kind == "gpu":
            model = rest[0] if len(rest) > 1 else ""
            models[model] = models.get(model, 0) + int(rest[-1] if rest else 1)
    return models


def cluster() -> list[Nodes]:
    """Nodes of the cluster; repeats the query for a minute if SLURM's controller does not answer."""
    return nodes(squeue.query(SINFO, timeout=60))


def nodes(text: str) -> list[Nodes]:
    """Parses the nodes in the output of SINFO."""
    kinds = []
    for line in text.splitlines():
        partition, limit, cpus, memory, generic, number = line.split("|")
        sizes = [int(re.sub(r"\D", "", size)) for size in (cpus, memory, number)]
        name = partition.rstrip("*")
        kinds.append(Nodes(name, name != partition, minutes(limit), *sizes[:2], gpus(generic), sizes[2]))
    return kinds


Resources = Mapping[str, "int | str | None"]  # what a job requests, by Snakemake's names


def size(resources: Resources, name: str) -> int:
    """Number that a job requests of a resource; 0 if it requests none, or if it is unknown before the start."""
    value = resources.get(name)
    return value if isinstance(value, int) else 0


def requested_gpus(resources: Resources) -> tuple[int, str | None]:
    """GPUs that a job requests on each of its nodes, and their model: `gres` counts per node, `gpu` over all nodes.

    >>> requested_gpus({"gres": "gpu:h100:4", "nodes": 2}), requested_gpus({"gpu": 8, "nodes": 2}), requested_gpus({})
    ((4, 'h100'), (4, None), (0, None))
    """
    generic = gpus(str(resources.get("gres") or ""))
    if generic:
        ((model, number),) = list(generic.items())[:1]
        return number, model or resources.get("gpu_model")
    return -(-size(resources, "gpu") // (size(resources, "nodes") or 1)), resources.get("gpu_model")


def eligible(resources: Resources, cluster: list[Nodes]) -> list[Nodes]:
    """Nodes on which a job may run: those of the partitions that it names, or of the default partition."""
    named = resources.get("slurm_partition")
    names = str(named).split(",") if named else [node.partition for node in cluster if node.default]
    return [node for node in cluster if node.partition in names]


def limit(nodes: list[Nodes]) -> float:
    """Longest time limit among nodes, in minutes; inf if there are no nodes."""
    return max((node.limit for node in nodes), default=math.inf)


def work_kind(resources: Resources) -> str:
    """Kind of work of a job in cluster.yaml: "gpu" if it requests GPUs, otherwise "cpu"."""
    return "gpu" if requested_gpus(resources)[0] else "cpu"


def problems(resources: Resources, threads: int, cluster: list[Nodes]) -> list[str]:
    """Problems of a job's requests that none of its eligible nodes can meet, as texts; [] if there are none."""
    number, used = requested_gpus(resources)[0], size(resources, "gpus")
    if used > number:  # e.g. after --set-resources RULE:gpu=1
        return [f"the job requests {amount(number, 'GPU')} and its command uses {used}; set `gpus:` in cluster.yaml"]
    known, work = sorted({node.partition for node in cluster}), work_kind(resources)
    partitions = f"there are {', '.join(known)}"
    for name in str(resources.get("slurm_partition") or "").split(","):
        if name and name not in known:
            close = nearest(name, known)
            return [f"no partition {name!r}{f' (did you mean {close!r}?)' if close else ''}; {partitions}"]
    nodes = eligible(resources, cluster)
    if not nodes:
        return [f"the cluster has no default partition: name one as partitions.{work}; {partitions}"]
    lacking, most = _of_nodes(resources, threads, nodes, cluster), limit(nodes)
    if size(resources, "runtime") > most:
        lacking.append(f"partition {_name(nodes)} ends jobs after {most / 60:g} hours; set hours.{work}: {most / 60:g}")
    return lacking


def _name(nodes: list[Nodes]) -> str:
    return ",".join(dict.fromkeys(node.partition for node in nodes))


def _of_nodes(resources: Resources, threads: int, nodes: list[Nodes], cluster: list[Nodes]) -> list[str]:
    """Problems with the nodes: a resource that none has, no node with all of them, or too few such nodes."""
    number, model = requested_gpus(resources)
    memory, many = size(resources, "mem_mb"), size(resources, "nodes") or 1
    wants: dict[str, Callable[[Nodes], bool]] = {
        f"{threads} CPUs": lambda node: node.cpus >= threads,
        f"{memory} MB of memory": lambda node: node.memory >= memory,
    }
    if number:
        what = f"{amount(number, 'GPU')}{f' of model {model}' if model else ''}"
        wants = {what: lambda node: node.has_gpus(model, number)} | wants
    lacking = []
    for what, has in wants.items():
        if not any(map(has, nodes)):
            way = _others(cluster, model) if "GPU" in what else WAYS[what.partition(" ")[2]]
            lacking.append(f"partition {_name(nodes)} has no node with {what}; {way}")
    if lacking:
        return lacking
    good = [node for node in nodes if all(has(node) for has in wants.values())]
    if not good:
        return [f"partition {_name(nodes)} has no node with all of {', '.join(wants)}"]
    numbers: dict[str, int] = {}  # partition -> number of suitable nodes
    for node in good:
        numbers[node.partition] = numbers.get(node.partition, 0) + node.number
    largest = max(numbers.values())
    lacks = f"has only {largest} nodes with {', '.join(wants)}; a job needs {many}"
    return [f"partition {_name(nodes)} {lacks}"] if largest < many else []


def _others(cluster: list[Nodes], model: str | None) -> str:
    others = sorted({node.partition for node in cluster if node.has_gpus(model, 1)})
    return f"partitions with such GPUs: {', '.join(others)}" if others else "no partition has such GPUs"


def problems_of_retries(
    resources: Resources, attempts: int, caps: Mapping[str, float], cluster: list[Nodes]
) -> list[str]:
    """Problems of a job's last attempt, whose requests of memory and time grow with attempts up to `caps`.

    `caps` are cluster.yaml's `gigabytes` and `hours` for this kind of work.
    """
    nodes, work = eligible(resources, cluster), work_kind(resources)
    lacking = []
    memory = max((node.memory for node in nodes), default=0)
    if math.isinf(caps["gigabytes"]) and size(resources, "mem_mb") <= memory < size(resources, "mem_mb") * attempts:
        lacking.append(f"gigabytes.{work}: {memory // 1000} (nodes of {_name(nodes)} have {memory} MB)")
    most = limit(nodes)
    if math.isinf(caps["hours"]) and size(resources, "runtime") <= most < size(resources, "runtime") * attempts:
        lacking.append(f"hours.{work}: {most / 60:g} (partition {_name(nodes)} ends jobs after {most / 60:g} hours)")
    return lacking


def granted_minutes(runtime: int, attempts: int, most: float, resumes: bool) -> float:
    """Minutes that a job gets: the sum over its attempts if they resume from one another, otherwise the longest.

    >>> [granted_minutes(240, 4, most, resumes=True) for most in (math.inf, 300)]
    [2400, 1140]
    >>> [granted_minutes(240, 4, most, resumes=False) for most in (math.inf, 300)]
    [960, 300]
    """
    each = [min(runtime * attempt, most) for attempt in range(1, attempts + 1)]
    return sum(each) if resumes else max(each)

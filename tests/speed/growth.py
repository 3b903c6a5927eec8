"""How time and memory grow: a command at three sizes, each in a process of its own.

The second table of docs/speed.md; `python -m tests.speed.table growth` measures all of it, `growth: site` one row.

Of a cost a + b n^p at three sizes, p is what (c3 - c2) / (c2 - c1) says: the fixed cost a, starting Python above all,
drops out. A cost that rises by less than a tenth of the fixed one, or of memory by less than 64 MB, counts as flat: 0.
"""

import importlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.speed.table import ROOT, THREADS, find_builders, short

HEAD = ["growth with", "sizes", "CPU-s", "exponent", "memory, MB", "exponent", "at the papers' sizes"]
HEAD += ["memory there, MB", "requested of SLURM, MB", "machine"]
TITLE = "## Growth\n"
ABOUT = """
How a command's time and memory grow with its inputs, each size in its own process. A cost of a + b n^p has exponent p,
so the start-up time a does not count; 0: no growth. At most 1.05 is accepted. Memory at paper scale is extrapolated
from the three sizes; beside it is the request of the rule's first attempt.
"""
MOST = 1.05  # of an exponent, but where WHY has the reason
WHY: dict[str, str] = {}
FLAT_MB = 64


class Growth(NamedTuple):
    """A command, by its number of inputs.

    prepare   writes the inputs of a size into a folder; returns the command line, and the true size, or a function that
              reads it from what the command prints
    rule      whose memory is requested of SLURM; None: it runs where the user types
    paper     the largest size at the papers' scale; None: no such size
    """

    item: str
    prepare: Callable[[Path, int], tuple[list[Any], int | Callable[[str], int]]]
    sizes: Sequence[int]
    tiny: Sequence[int]
    rule: str | None
    paper: Callable[[], float] | None


ITEMS: dict[str, Growth] = {}


def growth(item: str, sizes: Sequence[int], tiny: Sequence[int], rule: str | None = None, paper=None):
    """Decorator that enters a function as the `prepare` of a row."""

    def add(prepare):
        ITEMS[f"growth: {item}"] = Growth(f"growth: {item}", prepare, sizes, tiny, rule, paper)
        return prepare

    return add


def rows(words: Sequence[str] = ()) -> list[Growth]:
    """The rows whose names have one of some words; all without words."""
    find_builders()
    importlib.import_module("tests.speed.growth_items")
    return [row for item, row in ITEMS.items() if not words or any(word in item for word in words)]


class Cost(NamedTuple):
    size: int
    seconds: float
    megabytes: float


def measure(row: Growth, sizes: Sequence[int]) -> list[Cost]:
    """The cost at each size, the smallest first."""
    costs = []
    for number in sizes:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            line, size = row.prepare(Path(folder), number)
            printed, *cost = run(line)
            costs.append(Cost(size(printed) if callable(size) else size, *cost))
        print(f"{row.item}: {costs[-1].size:,}: {costs[-1].seconds:.1f} s, {costs[-1].megabytes:.0f} MB", flush=True)
    return costs


def run(line: Sequence[Any]) -> tuple[str, float, float]:
    """What a process prints, CPU-seconds of it and its children, and MB of its anonymous memory at the peak.

    Raises SystemExit with what it wrote where it fails.
    """
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "TOKENIZERS_PARALLELISM": "false"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with tempfile.TemporaryFile("w+") as printed:
        options = {"cwd": ROOT, "env": environment, "stdout": printed, "stderr": subprocess.STDOUT}
        process, peak, ended = subprocess.Popen([*map(str, line)], **options), 0.0, 0
        while not ended:
            peak = max(peak, anonymous_megabytes(process.pid))
            time.sleep(0.02)
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = status
        printed.seek(0)
        text = printed.read()
    if status:
        raise SystemExit(f"{' '.join(map(str, line[:6]))} ...\n{text[-3000:]}")
    return text, used.ru_utime + used.ru_stime, peak


def anonymous_megabytes(process: int) -> float:
    """Resident memory of a process without mapped files; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("RssAnon:")[1].split()[0]) / 1024 if "RssAnon:" in status else 0.0


def exponent(sizes: Sequence[float], costs: Sequence[float], flat: float = 0.0) -> float:
    """The p of a + b n^p through three points; 0 where the cost rises by `flat` at most, or a tenth of the first.

    >>> sizes = [1e4, 1e5, 1e6]
    >>> [round(exponent(sizes, [7 + n**p / 1e3 for n in sizes]), 2) for p in (0.5, 1, 1.5)]
    [0.5, 1.0, 1.5]
    >>> exponent(sizes, [100, 103, 104])
    0.0
    """
    first, second, third = costs
    if third - first <= max(flat, 0.1 * first):
        return 0.0
    if second <= first:  # lost in the fixed cost: from the first size to the last
        return float(np.log(third / first) / np.log(sizes[2] / sizes[0]))
    low, high = 0.01, 4.0
    while high - low > 1e-4:
        power = (low + high) / 2
        steps = (sizes[2] ** power - sizes[1] ** power) / (sizes[1] ** power - sizes[0] ** power)
        low, high = (power, high) if steps < (third - second) / (second - first) else (low, power)
    return round(low, 3)


def at_size(costs: Sequence[Cost], size: float) -> float:
    """MB at another size, along the curve through all three; what was measured where memory is flat."""
    sizes, megabytes = [cost.size for cost in costs], [cost.megabytes for cost in costs]
    power = exponent(sizes, megabytes, FLAT_MB)
    if size <= sizes[2] or not power:
        return max(megabytes)
    beyond = (size**power - sizes[2] ** power) / (sizes[2] ** power - sizes[1] ** power)
    return megabytes[2] + beyond * (megabytes[2] - megabytes[1])


def requested(rule: str) -> float:
    """MB that the first attempt of a rule's job asks SLURM for, at the papers' scale."""
    from stele.cluster.resources import defaults, job_resources
    from tests.speed.real_sizes import jobs

    memory = job_resources(rule, jobs()).get("mem_mb", defaults()["mem_mb"])
    return memory(None, 1) if callable(memory) else memory


def cells(row: Growth, costs: Sequence[Cost], machine: str) -> list[str]:
    """A row of the page."""
    sizes, seconds, megabytes = zip(*costs, strict=True)
    paper = row.paper() if row.paper else None
    return [
        row.item.removeprefix("growth: "),
        ", ".join(f"{size:,}" for size in sizes),
        ", ".join(short(value) for value in seconds),
        f"{exponent(sizes, seconds):.2f}",
        ", ".join(f"{value:.0f}" for value in megabytes),
        f"{exponent(sizes, megabytes, FLAT_MB):.2f}",
        f"{paper:,.0f}" if paper else "",
        f"{at_size(costs, paper):,.0f}" if paper else "",
        f"{requested(row.rule):,.0f}" if row.rule else "",
        machine,
    ]


def about() -> str:
    """The text above the table, with the reasons for what grows faster."""
    return ABOUT + "".join(f"\n{item.capitalize()}: {reason}\n" for item, reason in WHY.items())


def too_steep(row: Sequence[str]) -> bool:
    """Whether a row of the page grows faster than it may."""
    return row[0] not in WHY and max(float(row[3]), float(row[5])) > MOST

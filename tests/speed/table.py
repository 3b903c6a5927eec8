"""The table of benchmarks: ours beside a named peer on the same work, in one run, and the ratio that is wanted.

    python -m tests.speed.table                  # all of them, and docs/speed.md (`make speed`)
    python -m tests.speed.table encoders fusion  # those whose name has one of these words; other rows of the page stay
    python -m tests.speed.table --tiny           # whether all run, at a size that says nothing; writes no page

A benchmark is a function with `@speed` in a file of this folder (STAGES). It prepares its inputs in a folder and
returns (ours, peers, agree): functions without arguments, and whether two results are of the same work. All take turns,
ours first; of each the least of the rounds counts, in CPU-seconds of the process and its children, on one thread. A
peer that is a number is a limit: what ours may take. Ratio: peer / ours. A ratio below its floor makes the exit code 1.
"""

import argparse
import importlib
import math
import operator
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/speed.md"
STAGES = ("corpora", "knowledge", "pairs", "encoders", "learning", "retrieval", "searches", "scoring", "planning")
STAGES += ("building", "cluster")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
HEAD = ["item", "peer", "ours", "peer's", "ratio", "floor", "memory, MB: ours, peer's", "machine"]
ABOUT = """# Speed

Written by `make speed`, which measures all items on an otherwise idle machine; `python -m tests.speed.table NAME ...`
measures some and leaves the other rows. Ours and the peer take turns in one run; times are the least CPU-seconds of the
rounds, on one thread. Ratio: the peer's time over ours; floor: the least accepted ratio; memory: its rise in a round.
An item without a row has not been measured. `tests/speed/` has the code of each comparison.
"""
Way = Callable[[], Any]
Prepare = Callable[..., tuple[Way, Sequence[Way | float], Callable[[Any, Any], bool]]]


class Unavailable(Exception):
    """Why a benchmark cannot run here."""


class Speed(NamedTuple):
    """A benchmark: its peers with the ratio wanted of each, and its inputs' sizes; `tiny` for tests.

    `unit`: "" for CPU-seconds, else what the ways return as their cost.
    """

    item: str
    prepare: Prepare
    peers: Mapping[str, float]
    size: Mapping[str, Any]
    tiny: Mapping[str, Any]
    rounds: int
    unit: str


class Row(NamedTuple):
    item: str
    peer: str
    ours: float
    theirs: float
    floor: float
    memory: tuple[float, float]
    unit: str

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.ours else math.inf

    def cells(self, machine: str) -> list[str]:
        costs = [f"{short(cost)} {self.unit or 's'}" for cost in (self.ours, self.theirs)]
        memory = ", ".join(f"{value:.0f}" for value in self.memory)
        return [self.item, self.peer, *costs, short(self.ratio), short(self.floor), memory, machine]


REGISTERED: dict[str, Speed] = {}


def speed(peers: Mapping[str, float], size: Mapping[str, Any], tiny: Mapping[str, Any], rounds=3, unit="", name=""):
    """Decorator that enters a benchmark as "{file}: {name of the function}"."""

    def add(prepare: Prepare) -> Prepare:
        stage = prepare.__module__.rpartition(".")[2]
        item = f"{stage}: {(name or prepare.__name__).replace('_', ' ')}"
        assert item not in REGISTERED, item
        REGISTERED[item] = Speed(item, prepare, peers, size, tiny, rounds, unit)
        return prepare

    return add


def benchmarks(words: Sequence[str] = ()) -> list[Speed]:
    """The benchmarks whose names have one of some words; all without words."""
    find_builders()
    for stage in STAGES:
        importlib.import_module(f"tests.speed.{stage}")
    return [one for item, one in REGISTERED.items() if not words or any(word in item for word in words)]


def find_builders() -> None:
    """Makes other tests' builders of models, corpora and texts importable."""
    for folder in ("tests/encoders", "tests/corpora", "tests/text", "tests/benchmarks"):
        if str(ROOT / folder) not in sys.path:
            sys.path.append(str(ROOT / folder))


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Memory:
    """`rise`: the peak of anonymous resident memory (mapped files apart) while a block runs, in MB above its start."""

    def __enter__(self) -> Self:
        self.start = self.peak = self._now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def rise(self) -> float:
        return self.peak - self.start

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now() -> float:
        status = Path("/proc/self/status").read_text()
        return int(status.split("RssAnon:")[1].split()[0]) / 1024


def measure(benchmark: Speed, size: Mapping[str, Any], rounds: int) -> list[Row]:
    """A row for each peer. Raises SystemExit where ours and a peer did not do the same work."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        ours, peers, agree = benchmark.prepare(Path(folder), **size)
        ways = [ours, *(peer for peer in peers if callable(peer))]
        costs, rises = [math.inf] * len(ways), [0.0] * len(ways)
        for _ in range(rounds):
            results = []
            for place, way in enumerate(ways):
                begin = cpu_seconds()
                with Memory() as memory:
                    results.append(way())
                cost = results[-1] if benchmark.unit else cpu_seconds() - begin
                costs[place], rises[place] = min(costs[place], cost), max(rises[place], memory.rise)
            if not all(agree(results[0], result) for result in results[1:]):
                raise SystemExit(f"{benchmark.item}: the results differ")
    theirs = iter(zip(costs[1:], rises[1:], strict=True))
    rows = []
    for (name, floor), peer in zip(benchmark.peers.items(), peers, strict=True):
        cost, rise = next(theirs) if callable(peer) else (float(peer), 0.0)
        rows.append(Row(benchmark.item, name, costs[0], cost, floor, (rises[0], rise), benchmark.unit))
    return rows


def short(value: float) -> str:
    """Three digits.

    >>> short(1234.5), short(0.01234), short(1.0)
    ('1230', '0.0123', '1')
    """
    return f"{float(f'{value:.3g}'):.10g}"


def machine() -> str:
    """The processor, its cores, and whether others are at work on it."""
    info = Path("/proc/cpuinfo").read_text()
    model = info.split("model name")[1].split(":")[1].split("\n")[0].strip() if "model name" in info else "CPU"
    cores = os.cpu_count() or 1
    return f"{model}, {cores} cores{', busy' if os.getloadavg()[0] > 1.5 else ''}"


def page(
    old: str, rows: Sequence[Sequence[str]], head: Sequence[str] = HEAD, about: str = ABOUT, names: int = 2
) -> str:
    """A page of one table with some rows anew, in the order of their names; the old page's other rows stay.

    The first `names` cells of a row are its name.
    """
    lines = [
        [cell.strip() for cell in line.rstrip("\n")[2:].removesuffix(" |").split(" | ")]
        for line in old.splitlines()
        if line[:2] == "| "
    ]
    cells = {tuple(line[:names]): line for line in lines if line != list(head) and not line[0].startswith("---")}
    cells |= {tuple(row[:names]): list(row) for row in rows}
    table = [head, ["---"] * len(head), *(cells[key] for key in sorted(cells))]
    return about + "\n" + "".join(f"| {' | '.join(line)} |\n" for line in table)


def write_page(rows: Sequence[Sequence[str]] = (), growing: Sequence[Sequence[str]] = ()) -> None:
    """Writes docs/speed.md with some rows of its two tables anew."""
    from tests.speed import growth

    old = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    first, _, second = old.partition(growth.TITLE)
    grown = page(second, growing, growth.HEAD, growth.about(), names=1)
    PAGE.write_text(f"{page(first, rows)}\n{growth.TITLE}{grown}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="NAME")
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    # one thread, also of child processes, before numpy is imported
    os.environ.update(dict.fromkeys(THREADS, "1"), TOKENIZERS_PARALLELISM="false", PYTHONPATH=str(ROOT / "src"))
    from tests.speed import growth

    chosen, growing = benchmarks(args.words), growth.rows(args.words)
    if not chosen and not growing:
        parser.error(f"no benchmark of these names; there are:\n{chr(10).join([*REGISTERED, *growth.ITEMS])}")
    here, rows, slow = machine(), [], False
    for benchmark in chosen:
        try:
            of_benchmark = measure(benchmark, benchmark.tiny if args.tiny else benchmark.size, benchmark.rounds)
        except (ImportError, Unavailable) as error:
            print(f"{benchmark.item}: not measured: {error}", flush=True)
            continue
        for row in of_benchmark:
            slow |= row.ratio < row.floor and not args.tiny
            print(" | ".join(row.cells(here)), flush=True)
            rows.append(row.cells(here))
        if not args.tiny:  # after each, so that a stop loses nothing
            write_page(rows)
    for item in growing:
        cells = growth.cells(item, growth.measure(item, item.tiny if args.tiny else item.sizes), here)
        slow |= growth.too_steep(cells) and not args.tiny
        print(" | ".join(cells), flush=True)
        if not args.tiny:
            write_page(growing=[cells])
    return int(slow)


def same(ours: Any, theirs: Any) -> bool:
    return operator.eq(ours, theirs)


if __name__ == "__main__":
    # under its own name, so that the benchmarks enter themselves in this table
    sys.exit(importlib.import_module("tests.speed.table").main())

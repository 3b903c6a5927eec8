"""What SLURM's accounting says of jobs, where a cluster has it and it answers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

FIELDS = ("JobIDRaw", "State", "ElapsedRaw", "TotalCPU", "MaxRSS")
SECONDS = 30.0  # for an answer
AT_ONCE = 500  # jobs in one question: a command line has an end
UNITS = {"": 1 / 2**20, "K": 1 / 2**10, "M": 1, "G": 2**10, "T": 2**20}  # of 1024, in MB


@dataclass(frozen=True)
class Account:
    """A SLURM job: its last state, how often it was started, seconds on nodes and of CPU, the most memory of a task.

    A job that was requeued has the sums of all its starts.
    """

    state: str
    starts: int
    elapsed: float
    cpu: float
    peak_mb: float | None


def clock(text: str) -> float:
    """Seconds in a time as sacct writes it: [DD-[HH:]]MM:SS[.mmm].

    >>> clock("00:01.500"), clock("01:02:03"), clock("2-00:00:01"), clock("")
    (1.5, 3723.0, 172801.0, 0.0)
    """
    days, _, rest = text.rpartition("-")
    seconds = 0.0
    for part in rest.split(":") if rest else ():
        seconds = 60 * seconds + float(part)
    return seconds + 86_400 * int(days or 0)


def megabytes(text: str) -> float | None:
    """Memory as sacct writes it; None where it wrote none.

    >>> megabytes("2048K"), megabytes("1.50G"), megabytes("0"), megabytes("")
    (2.0, 1536.0, 0.0, None)
    """
    match = re.fullmatch(r"([\d.]+)([KMGT]?)", text.strip())
    return float(match[1]) * UNITS[match[2]] if match else None


def read(text: str) -> dict[str, Account]:
    """Jobs by id from `sacct --parsable2 --noheader --duplicates` with FIELDS; lines that are none of it are left out.

    A job has a line for each start, and one for each step ("7.batch", "7.0"), which alone know of memory.
    """
    starts: dict[str, list[Sequence[str]]] = {}
    peaks: dict[str, float] = {}
    for line in text.splitlines():
        values = line.split("|")
        if len(values) == len(FIELDS):
            job, _, step = values[0].partition(".")
            if not step and values[2].isdecimal():
                starts.setdefault(job, []).append(values)
            if (peak := megabytes(values[4])) is not None:
                peaks[job] = max(peaks.get(job, 0), peak)
    return {
        job: Account(
            state=rows[-1][1].split(" ")[0],  # "CANCELLED by 1000"
            starts=len(rows),
            elapsed=sum(float(row[2]) for row in rows),
            cpu=sum(clock(row[3]) for row in rows),
            peak_mb=peaks.get(job),
        )
        for job, rows in starts.items()
    }


def accounts(jobs: Iterable[str]) -> dict[str, Account]:
    """What accounting says of SLURM jobs; nothing where there is none (no sacct, storage disabled) or no answer."""
    wanted, by_id = sorted(set(jobs)), {}
    for start in range(0, len(wanted), AT_ONCE):
        ids = ",".join(wanted[start : start + AT_ONCE])
        options = ["--parsable2", "--noheader", "--duplicates", f"--format={','.join(FIELDS)}", f"--jobs={ids}"]
        try:
            done = subprocess.run(["sacct", *options], capture_output=True, text=True, check=False, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return {}
        if done.returncode:
            return {}
        by_id |= read(done.stdout)
    return by_id

"""Whether the disk has space for what a run will keep, on each file system and within the user's quota there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from stele.cluster.requests import JobRequest
from stele.cost.work import Work

ROUGHLY = 3  # estimates of sizes are right within this factor
GB = 1e9
SMALL = GB  # below this no quota is looked up
WAYS = "free some space, name fewer papers, or make work/ and resources/ links to a larger disk"
SECONDS = 5.0  # for the answer of `quota`, which queries file servers
QUOTA = ("quota", "--no-wrap", "--raw-grace", "--show-mntpoint", "--hide-device")


def needed(jobs: Iterable[JobRequest]) -> dict[Path, float]:
    """Mount point -> bytes that jobs will keep there, and the most that lies there beside while one of them runs."""
    mount = cache(_mount)
    works: dict[Path, list[Work]] = {}
    for job in jobs:
        if job.work is not None:
            path = Path(job.outputs[0])
            works.setdefault(mount(path.parent if path.is_absolute() else Path(path.parts[0])), []).append(job.work)
    return {at: sum(one.kept for one in on) + max(one.temporary for one in on) for at, on in works.items()}


def _mount(path: Path) -> Path:
    """Where the file system of a path, which need not be there yet, is mounted."""
    path = path.resolve()
    return next(folder for folder in (path, *path.parents) if os.path.ismount(folder))


def quotas(text: str) -> dict[Path, float]:
    """Mount point -> bytes left of a user's quota, as QUOTA prints them (in KiB); none where there is no limit.

    >>> quotas("/home 1000* 500 1500 0 7 0 0 0\\n/data 10 0 0 0 1 0 0 0")
    {PosixPath('/home'): 512000.0}
    """
    left = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[0].startswith("/"):
            used, soft, hard = (float(part.rstrip("*")) for part in parts[1:4])
            if hard or soft:
                left[Path(parts[0])] = 1024 * ((hard or soft) - used)
    return left


def _left_of_quotas() -> dict[Path, float]:
    """What is left of this user's quotas, where the system has them and can tell."""
    try:
        done = subprocess.run(QUOTA, capture_output=True, text=True, check=False, timeout=SECONDS)
        return quotas(done.stdout)  # the exit code says only whether one is exceeded
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}


def problems(jobs: Iterable[JobRequest]) -> tuple[list[str], list[str]]:
    """(what surely does not fit, what may not fit)."""
    wanted = needed(jobs)
    quota = _left_of_quotas() if any(size > SMALL for size in wanted.values()) else {}
    impossible, doubtful = [], []
    for at, size in wanted.items():
        free, what = shutil.disk_usage(at).free, "free"
        if at in quota and quota[at] < free:
            free, what = max(quota[at], 0), "left of your quota"
        if size > free:
            text = f"{at}: this run keeps about {size / GB:,.0f} GB there, and {free / GB:,.0f} GB are {what}"
            (impossible if size > ROUGHLY * free else doubtful).append(f"{text}: {WAYS}")
    return impossible, doubtful

"""Cancel the jobs of this folder that are in SLURM's queue, whichever run submitted them.

For after a run was killed: its jobs go on, and the next run waits for them unless they are cancelled.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stele.cluster import squeue


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="the folder that the workflow ran in; default: here"
    )


def run(args: argparse.Namespace) -> None:
    jobs = squeue.of_folder(args.folder, timeout=60)
    squeue.cancel([job.id for job in jobs])
    for job in jobs:
        print(f"cancelled {job.id}: {job.comment}, {job.state.lower()}")
    if not jobs:
        print(f"no job of {args.folder.resolve()} is in the queue")

"""Cancel the jobs of this folder that are in SLURM's queue, whichever run submitted them.

Use this after a run was killed: its jobs continue, and the next run waits for them unless they are cancelled.
"""

from pathlib import Path

from stele.cluster import squeue
from stele.command.arguments import Job


class Cancel(Job):
    folder: Path = Path()
    """Folder in which the workflow ran; default: this folder."""


def run(args: Cancel) -> None:
    jobs = squeue.of_folder(args.folder, timeout=60)
    squeue.cancel([job.id for job in jobs])
    for job in jobs:
        print(f"cancelled {job.id}: {job.comment}, {job.state.lower()}")
    if not jobs:
        print(f"no job of {args.folder.resolve()} is in the queue")

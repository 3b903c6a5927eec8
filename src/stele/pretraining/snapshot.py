"""Export a snapshot of a pretraining as a model of its own, by hard links to its files if the disk allows them."""

from typing import Annotated

from stele.artifacts import records
from stele.command.arguments import Job, NewRecord, Record, record_of
from stele.errors import SteleError
from stele.files.atomic import link_or_copy
from stele.files.paths import inside

KEPT = ("processes", "diverged", "seed")  # facts that a snapshot shares with its run

JOB = "snapshot"


class Snapshot(Job):
    model: str
    """Name of the exported model."""
    encoder: Record
    """Record of the `pretraining pretrain` that kept the snapshot."""
    step: int
    """Step after which the snapshot was kept."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Snapshot) -> None:
    folders = {path.name: path for path in (args.encoder.parent / "snapshots").glob("step-*")}
    if (name := f"step-{args.step}") not in folders:
        steps = ", ".join(sorted(folders, key=lambda step: int(step.removeprefix("step-")))) or "none"
        raise SteleError(f"{args.encoder}: no snapshot of step {args.step}; choose one of these: {steps}")
    of_run = records.read_record(folders[name] / "record.json")
    with records.output_folder(args.output, JOB, {"encoder": args.encoder}) as (temp, facts):
        for file in of_run["outputs"]:
            (target := inside(temp, file, f"{folders[name]}/record.json")).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(folders[name] / file, target)
        facts |= {key: of_run[key] for key in KEPT if key in of_run}
        facts |= {"model": args.model, "step": args.step, "outputs": of_run["outputs"]}

"""rules.yaml: what is true of a rule of the workflow."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stele.files.strict import Strict

Whole = Annotated[int, Field(ge=0)]


class Growing(Strict):
    """A size that grows with what a job reads: `base`, and `per_mb` for each MB of dump."""

    base: Whole
    per_mb: Annotated[float, Field(gt=0)]


Size = Whole | Growing


class RuleFacts(Strict):
    """One rule. Sizes are of a job's first attempt, on each of its nodes; None: the profile's default.

    gpus        GPUs at the papers' sizes where cluster.yaml names none, one process each; None: it never uses one
    parallel    whether several processes can share a job, on several nodes too; otherwise it uses one GPU at most
    mem_mb      memory in MB, and `each_mb` more for each process
    minutes     the time limit; "estimated": from the cost formula
    disk_mb     disk space in MB; "estimated": from the cost formula
    threads     CPU threads of each process; "scale": as many as the scale says
    trains      whether it trains: its formula also counts operations at a generated scale, and it starts with the GPUs
                that it requested or not at all, where others take those that are there (command/launch.py)
    miniature_seconds   CPU seconds of a job in the miniature (measured); None: as other short jobs
    """

    FILE: ClassVar = "rules"

    gpus: Annotated[int, Field(ge=1)] | None = None
    parallel: bool = False
    mem_mb: Size | None = None
    each_mb: Whole = 0
    minutes: Size | Literal["estimated"] | None = None
    disk_mb: Size | Literal["estimated"] | None = None
    threads: Literal[1, "scale"] = 1
    trains: bool = False
    miniature_seconds: Annotated[float, Field(ge=0)] | None = None

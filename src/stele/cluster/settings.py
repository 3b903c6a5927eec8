"""Read the settings of a cluster from the user's `cluster.yaml`, or from the file that STELE_CLUSTER names.

`profiles/slurm/cluster.example.yaml` shows every key. Without a file, the cluster's own defaults apply.
"""

import math
import os
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, create_model, model_validator

from stele.catalogue import read_yaml
from stele.catalogue.schema.costs import on_gpus, rule_facts
from stele.errors import SteleError
from stele.files.strict import Strict, validate

VARIABLE = "STELE_CLUSTER"
DEFAULT = "cluster.yaml"
IMAGE = "stele.sif"  # default image of `software: container`, in the Snakefile's folder
Name = Annotated[str, Field(pattern=r"^[\w.,:@/+-]+$")]


def _gpu(model: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.]+", model):
        raise ValueError(
            "want only A-Z, a-z, digits, _ and ., as the SLURM plugin takes no others; for another name leave this key "
            "out and give a partition with these GPUs"
        )
    return model


class Partitions(Strict):
    cpu: Name | None = None
    gpu: Name | None = None


class Most(Strict):
    """Largest request of a job, by kind of work."""

    cpu: Annotated[float, Field(gt=0)] | None = None
    gpu: Annotated[float, Field(gt=0)] | None = None


def _of_rules(name: str, **bounds: Any) -> type[Strict]:
    """Makes a model of whole numbers by rule, each within its bounds; None: Stele's default."""
    numbers = {rule: (Annotated[int, Field(strict=True, **bound)] | None, None) for rule, bound in bounds.items()}
    return create_model(name, __base__=Strict, **numbers)


Gpus = _of_rules("Gpus", **{rule: {"ge": 0} if rule_facts(rule).parallel else {"ge": 0, "le": 1} for rule in on_gpus()})
NodesOfRules = _of_rules("NodesOfRules", **{rule: {"ge": 1} for rule in on_gpus(parallel=True)})


class ClusterSettings(Strict):
    """Settings of one cluster: names, limits, and the software of jobs."""

    partitions: Partitions = Partitions()
    account: Name | None = None
    qos: Name | None = None
    gpu_model: Annotated[str, AfterValidator(_gpu)] | None = None
    gpus: Gpus = Gpus()
    nodes: NodesOfRules = NodesOfRules()
    hours: Most = Most()
    gigabytes: Most = Most()
    scratch: str | None = None
    software: Literal["conda", "container"] | None = None
    container: str | None = None
    setup: list[str] = Field([])

    @model_validator(mode="after")
    def _software_can(self) -> Self:
        if self.container and self.software != "container":
            raise ValueError("container: names an image that is not used without `software: container`")
        for rule, number in self.nodes:
            if self.software == "container" and (number or 1) > 1:
                raise ValueError(
                    f"nodes: {rule}: several nodes need srun, which containers lack; use `software: conda`"
                )
        return self

    def most(self, what: Literal["hours", "gigabytes"], kind: str) -> float:
        """Largest request of a job of a kind of work ("cpu", "gpu"); infinite if the file sets no limit."""
        named = getattr(getattr(self, what), kind)
        return math.inf if named is None else named

    @property
    def image(self) -> Path:
        """Absolute path of the container image."""
        return Path(os.path.expandvars(self.container or IMAGE)).expanduser().absolute()


def path() -> Path:
    """Path of the user's cluster file, which need not exist."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def read(file: Path | None = None) -> ClusterSettings:
    """Reads this cluster's settings; without a file, all are defaults. Raises SteleError if the file is invalid."""
    return _read(file or path())


@cache
def _read(path: Path) -> ClusterSettings:
    if not path.exists():
        if os.environ.get(VARIABLE) == str(path):
            raise SteleError(f"{VARIABLE} names {path}, which does not exist; copy profiles/slurm/cluster.example.yaml")
        return ClusterSettings()
    return validate(ClusterSettings, read_yaml(path), str(path))

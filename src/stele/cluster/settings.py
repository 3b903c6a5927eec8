"""The names of a cluster, from one small file of the user's: `cluster.yaml`, or the file that STELE_CLUSTER names.

`profiles/slurm/cluster.example.yaml` shows every key. Where there is no such file the cluster's defaults are taken.
"""

from __future__ import annotations

import math
import os
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model, model_validator

from stele.catalogue import read_yaml
from stele.catalogue.schema.costs import on_gpus, rule_facts
from stele.errors import SteleError
from stele.files.strict import Strict, validate

VARIABLE = "STELE_CLUSTER"
DEFAULT = "cluster.yaml"
IMAGE = "stele.sif"  # of `software: container`, in the folder of the Snakefile
Name = Annotated[str, Field(pattern=r"^[\w.,:@/+-]+$")]


def _gpu(model: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.]+", model):
        raise ValueError(
            "want letters of English, digits, _ and . only, as the SLURM plugin takes no others: leave it empty, and "
            "name a partition of such GPUs"
        )
    return model


class Partitions(Strict):
    cpu: Name | None = None
    gpu: Name | None = None


class Most(Strict):
    """The most that a job may request, by kind of work."""

    cpu: Annotated[float, Field(gt=0)] | None = None
    gpu: Annotated[float, Field(gt=0)] | None = None


def _of_rules(name: str, **bounds: Any) -> type[Strict]:
    """Whole numbers by rule, each within the bounds of its Field; None: Stele's default."""
    numbers = {rule: (Annotated[int, Field(strict=True, **bound)] | None, None) for rule, bound in bounds.items()}
    return create_model(name, __base__=Strict, **numbers)


Gpus = _of_rules("Gpus", **{rule: {"ge": 0} if rule_facts(rule).parallel else {"ge": 0, "le": 1} for rule in on_gpus()})
NodesOfRules = _of_rules("NodesOfRules", **{rule: {"ge": 1} for rule in on_gpus(parallel=True)})


class ClusterSettings(Strict):
    """The settings of one cluster: its names and limits, and where jobs find their software."""

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
    def _software_can(self) -> ClusterSettings:
        if self.container and self.software != "container":
            raise ValueError("container: names an image that is not used without `software: container`")
        for rule, number in self.nodes:
            if self.software == "container" and (number or 1) > 1:
                raise ValueError(
                    f"nodes: {rule}: several nodes need srun, which no container has: use `software: conda`"
                )
        return self

    def most(self, what: Literal["hours", "gigabytes"], kind: str) -> float:
        """The most that a job of a kind of work ("cpu", "gpu") may request; infinite where the file says nothing."""
        named = getattr(getattr(self, what), kind)
        return math.inf if named is None else named

    @property
    def image(self) -> Path:
        """The container image."""
        return Path(os.path.expandvars(self.container or IMAGE)).expanduser().absolute()


def path() -> Path:
    """The user's file."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def read(file: Path | None = None) -> ClusterSettings:
    """The settings of this cluster; all of them the cluster's defaults where there is no file."""
    return _read(file or path())


@cache
def _read(path: Path) -> ClusterSettings:
    if not path.exists():
        if os.environ.get(VARIABLE) == str(path):
            raise SteleError(f"{VARIABLE} names {path}, which does not exist: copy profiles/slurm/cluster.example.yaml")
        return ClusterSettings()
    return validate(ClusterSettings, read_yaml(path), str(path))

"""The software that jobs run in: this interpreter's, conda environments (envs/*.yaml), or one container image.

Snakemake deploys it (`--software-deployment-method`; the slurm profile gives it where cluster.yaml says `software:`).
Here is what it leaves out: Stele itself in an environment, exact versions of what envs/*.yaml do not name, the image
of each rule that runs on nodes, and folders outside of this one that a container must see. Rules that run where the
workflow was started run in no container: they need its network and its TeX.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stele.catalogue.schema.models import ModelKeys
from stele.cluster import settings
from stele.cluster.node import as_prefix
from stele.errors import SteleError

CONDA, CONTAINER = "conda", "apptainer"


def methods(workflow: Any) -> set[str]:
    """How Snakemake deploys software in this run: "conda", "apptainer", both, or not at all."""
    return {str(method) for method in workflow.deployment_settings.deployment_method}


def prepare(workflow: Any, root: Path) -> set[str]:
    """Prepares this process for the way in which software is deployed, and returns that."""
    from snakemake.shell import shell

    deployed = methods(workflow)
    if CONDA in deployed:  # pip, which conda calls, takes what no environment names in the locked versions too
        os.environ["PIP_CONSTRAINT"] = " ".join(sorted(path.as_uri() for path in (root / "envs").glob("*.lock.txt")))
    if deployed:
        shell.prefix(as_prefix(["set -euo pipefail", *lines(root, deployed)]))
    return deployed


def lines(root: Path, deployed: set[str]) -> list[str]:
    """What a shell does in an environment before a command: Stele from here, nothing of the user's own Python.

    Snakemake takes PYTHONPATH away where it activates a conda environment, and makes the folder of the run the home in
    a container, where libraries would leave their caches.
    """
    variables = {"PYTHONPATH": root / "src", "PYTHONNOUSERSITE": 1}
    if CONTAINER in deployed:
        variables |= dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME"), Path.cwd() / ".snakemake/cache")
    words = [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    return [" ".join(["export", *words])] if deployed else []


def finish_rules(workflow: Any) -> None:
    """Gives every rule that runs on nodes the container image; one that is wanted and not there is an error."""
    if CONTAINER not in methods(workflow):
        return
    path = settings.read().image
    if not path.exists():
        way = "make it (apptainer build stele.sif envs/stele.def), or name yours as `container:`"
        raise SteleError(f"{path}: no such container image; {way} in {settings.path()}")
    if " " in str(path):
        raise SteleError(f"{path}: Snakemake takes no image in a path with a blank; name another as `container:`")
    for rule in workflow.rules:
        if rule.name not in workflow._localrules:
            rule.container_img = lambda wildcards: str(path)  # a text would be formatted


def folders(configuration: Any, models: Iterable[ModelKeys]) -> list[Path]:
    """What jobs read and write beside the folder that they run in: the user's own data, and where its links lead."""
    checkpoints = [model.checkpoint or "" for model in models]
    named = [*configuration.user_data.values(), configuration.results_dir, *(c for c in checkpoints if os.sep in c)]
    links = [path for path in Path.cwd().iterdir() if path.is_symlink()]
    temporary = [os.environ["TMPDIR"]] if "TMPDIR" in os.environ else []
    return [Path(path).expanduser().resolve() for path in [*named, *links, *temporary]]


def bind(wanted: Iterable[Path]) -> None:
    """Shows folders to all containers that this process starts, beside those that the user binds already."""
    variable = f"{'APPTAINER' if shutil.which('apptainer') else 'SINGULARITY'}_BINDPATH"
    given = [item for item in os.environ.get(variable, "").split(",") if item]
    here = Path.cwd().resolve()
    outside = [str(path) for path in wanted if path.is_dir() and not path.is_relative_to(here)]
    if odd := [path for path in outside if {",", ":"}.intersection(path)]:
        raise SteleError(f"{odd[0]}: no container sees a folder with ',' or ':' in its path: rename it")
    os.environ[variable] = ",".join(dict.fromkeys([*given, *outside]))

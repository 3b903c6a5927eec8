"""The environment of the jobs: their software, and on a node their temporary files and their time to act on signals.

Jobs run in this interpreter's software, in conda environments (envs/*.yaml), or in one container image. Snakemake
deploys it (`--software-deployment-method`; the slurm profile gives it where cluster.yaml says `software:`). This module
adds Stele itself in an environment, exact versions of packages that envs/*.yaml do not name, the image of each rule
that runs on nodes, and outside folders that a container must see. Rules that run where the workflow was started run in
no container: they need its network and its TeX.

On a node, a notice before the time limit or a preemption (SIGTERM, SIGUSR1) reaches Snakemake, its shell and the
command alike. The command saves its state and ends; Snakemake and the shell must outlive it, since SLURM kills all
other processes as soon as the process that it started has ended.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stele.catalogue.schema.models import ModelKeys
from stele.cluster import settings
from stele.command.parent_watch import JOB
from stele.errors import SteleError

CONDA, CONTAINER = "conda", "apptainer"
# a shell that catches a signal waits for its command; what it starts gets the signal as ever
OUTLIVE = "set -euo pipefail; trap : TERM USR1"


def methods(workflow: Any) -> set[str]:
    """How Snakemake deploys software in this run: "conda", "apptainer", both, or not at all."""
    return {str(method) for method in workflow.deployment_settings.deployment_method}


def prepare_software(workflow: Any, root: Path) -> set[str]:
    """Prepares this process for the way in which software is deployed, and returns that."""
    from snakemake.shell import shell

    deployed = methods(workflow)
    if CONDA in deployed:  # pip, which conda calls, takes what no environment names in the locked versions too
        os.environ["PIP_CONSTRAINT"] = " ".join(sorted(path.as_uri() for path in (root / "envs").glob("*.lock.txt")))
    if deployed:
        shell.prefix(as_prefix(["set -euo pipefail", *shell_lines(root, deployed)]))
    return deployed


def shell_lines(root: Path, deployed: set[str]) -> list[str]:
    """Lines of shell before a command in an environment: Stele from here, nothing of the user's own Python.

    Snakemake takes PYTHONPATH away where it activates a conda environment, and makes the folder of the run the home in
    a container, where libraries would leave their caches.
    """
    variables = {"PYTHONPATH": root / "src", "PYTHONNOUSERSITE": 1}
    if CONTAINER in deployed:
        variables |= dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME"), Path.cwd() / ".snakemake/cache")
    words = [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    return [" ".join(["export", *words])] if deployed else []


def finish_rules(workflow: Any) -> None:
    """Gives every rule that runs on nodes the container image. Raises SteleError where that does not exist."""
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


def outside_folders(configuration: Any, models: Iterable[ModelKeys]) -> list[Path]:
    """Folders that jobs read and write outside of their own: the user's data, checkpoints, and where links lead."""
    folders = [*configuration.user_data.values(), configuration.results_dir]
    folders += [model.checkpoint for model in models if os.sep in (model.checkpoint or "")]
    folders += [path for path in Path.cwd().iterdir() if path.is_symlink()]
    if "TMPDIR" in os.environ:
        folders.append(os.environ["TMPDIR"])
    return [Path(path).expanduser().resolve() for path in folders]


def bind(folders: Iterable[Path]) -> None:
    """Shows folders to all containers that this process starts, beside those that the user binds already."""
    variable = f"{'APPTAINER' if shutil.which('apptainer') else 'SINGULARITY'}_BINDPATH"
    users = [item for item in os.environ.get(variable, "").split(",") if item]
    here = Path.cwd().resolve()
    outside = [str(path) for path in folders if path.is_dir() and not path.is_relative_to(here)]
    unreadable = [path for path in outside if {",", ":"}.intersection(path)]
    if unreadable:
        raise SteleError(f"{unreadable[0]}: no container sees a folder with ',' or ':' in its path: rename it")
    os.environ[variable] = ",".join(dict.fromkeys([*users, *outside]))


def as_prefix(lines: Sequence[str]) -> str:
    """Lines of shell as Snakemake takes them before a command: with braces doubled.

    >>> as_prefix(["set -e", "module load ${CUDA}"])
    'set -e; module load ${{CUDA}}; '
    """
    return "".join(f"{line}; " for line in lines).replace("{", "{{").replace("}", "}}")


# --- on a node --------------------------------------------------------------------------------------------------------
def prepare_node(lines: Sequence[str] = (), contained: bool = False) -> None:
    """Prepares this process and the shells that it starts: `lines` of shell come before each command.

    `setup` of cluster.yaml does too; for a command in a container, which has no modules, it is run here and now.
    """
    from snakemake.shell import shell

    os.environ[JOB] = "1"
    cluster = settings.read()
    if contained:
        take_environment(cluster.setup)
    else:
        lines = [*cluster.setup, *lines]
    signal.signal(signal.SIGUSR1, lambda number, frame: None)  # not inherited by what it starts, unlike SIG_IGN
    shell.prefix(as_prefix([OUTLIVE, *lines]))
    if cluster.scratch:
        use_scratch(cluster.scratch)


def take_environment(lines: Sequence[str]) -> None:
    """Runs lines of shell and takes over what they leave in the environment, as `module load` does."""
    text = "\n".join(["set -e", "{", ":", *lines, "} >&2", "env -0"])
    done = subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SteleError(f"{settings.path()}: setup: failed with exit code {done.returncode} on {socket.gethostname()}")
    os.environ.update(item.split("=", 1) for item in done.stdout.decode().split("\0") if "=" in item)


def use_scratch(folder: str) -> None:
    """Takes a folder of this node, in which variables of the environment are replaced, for temporary files."""
    path = Path(os.path.expandvars(folder))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SteleError(f"{settings.path()}: scratch: {path} cannot be made on this node ({error.strerror})") from None
    os.environ["TMPDIR"] = str(path)
    tempfile.tempdir = None  # read anew from the environment

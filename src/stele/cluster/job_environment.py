"""Prepare the environment of jobs: software, and on a node temporary files and the handling of signals.

Jobs run in this interpreter's software, in conda environments (envs/*.yaml), or in one container image. Snakemake
deploys it (`--software-deployment-method`; the slurm profile sets it if cluster.yaml has `software:`). This module adds
Stele itself to an environment, exact versions of packages that envs/*.yaml do not name, the image for each rule that
runs on nodes, and the outside folders that a container must see. Local rules run outside containers, since they need
the network and TeX of the host where the workflow was started.

On a node, the warning before a time limit or a preemption (SIGTERM, SIGUSR1) reaches Snakemake, its shell and the
command alike. The command saves its state and ends; Snakemake and the shell must outlive it, since SLURM kills all
other processes as soon as the process that it started has ended.
"""

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

from snakemake.shell import shell

from stele.catalogue.schema.models import ModelKeys
from stele.cluster import settings
from stele.command.parent_watch import JOB
from stele.errors import SteleError

CONDA, CONTAINER = "conda", "apptainer"
# a shell that traps a signal waits for its command, which still receives the signal
OUTLIVE = "set -euo pipefail; trap : TERM USR1"


def methods(workflow: Any) -> set[str]:
    """Methods by which Snakemake deploys software in this run: "conda", "apptainer", both, or none."""
    return {str(method) for method in workflow.deployment_settings.deployment_method}


def prepare_software(workflow: Any, root: Path) -> set[str]:
    """Prepares this process for the methods by which software is deployed; returns the methods."""
    deployed = methods(workflow)
    if CONDA in deployed:  # pip, called by conda, also locks packages that no environment names
        os.environ["PIP_CONSTRAINT"] = " ".join(sorted(path.as_uri() for path in (root / "envs").glob("*.lock.txt")))
    if deployed:
        shell.prefix(as_prefix(["set -euo pipefail", *shell_lines(root, deployed)]))
    return deployed


def shell_lines(root: Path, deployed: set[str]) -> list[str]:
    """Shell lines before a command in an environment: they add this Stele and exclude the user's own Python packages.

    Snakemake removes PYTHONPATH when it activates a conda environment. In a container it makes the run's folder the
    home folder, in which libraries would leave their caches.
    """
    variables = {"PYTHONPATH": root / "src", "PYTHONNOUSERSITE": 1}
    if CONTAINER in deployed:
        variables |= dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME"), Path.cwd() / ".snakemake/cache")
    words = [f"{name}={shlex.quote(str(value))}" for name, value in variables.items()]
    return [" ".join(["export", *words])] if deployed else []


def finish_rules(workflow: Any) -> None:
    """Sets the container image of every rule that runs on nodes. Raises SteleError if the image does not exist."""
    if CONTAINER not in methods(workflow):
        return
    path = settings.read().image
    if not path.exists():
        way = "make it (apptainer build stele.sif envs/stele.def), or name yours as `container:`"
        raise SteleError(f"{path}: no such container image; {way} in {settings.path()}")
    if " " in str(path):
        raise SteleError(f"{path}: Snakemake accepts no image whose path has a blank; name another as `container:`")
    for rule in workflow.rules:
        if rule.name not in workflow._localrules:
            rule.container_img = lambda wildcards: str(path)  # a string would be formatted


def outside_folders(configuration: Any, models: Iterable[ModelKeys]) -> list[Path]:
    """Folders outside this one that jobs use: user data, results, checkpoints, targets of links, and TMPDIR."""
    folders = [*configuration.user_data.values(), configuration.results_dir]
    folders += [model.checkpoint for model in models if os.sep in (model.checkpoint or "")]
    folders += [path for place in ("*", "[!.]*/*") for path in Path.cwd().glob(place) if path.is_symlink()]
    if "TMPDIR" in os.environ:
        folders.append(os.environ["TMPDIR"])
    return [Path(path).expanduser().resolve() for path in folders]


def bind(folders: Iterable[Path]) -> None:
    """Makes folders visible in all containers that this process starts, beside those that the user binds.

    Raises SteleError if a folder's path has a comma or colon, which separate folders in the variable.
    """
    variable = f"{'APPTAINER' if shutil.which('apptainer') else 'SINGULARITY'}_BINDPATH"
    users = [item for item in os.environ.get(variable, "").split(",") if item]
    here = Path.cwd().resolve()
    outside = [str(path) for path in folders if path.is_dir() and not path.is_relative_to(here)]
    unreadable = [path for path in outside if {",", ":"}.intersection(path)]
    if unreadable:
        raise SteleError(f"{unreadable[0]}: a container cannot see a folder with ',' or ':' in its path; rename it")
    os.environ[variable] = ",".join(dict.fromkeys([*users, *outside]))


def as_prefix(lines: Sequence[str]) -> str:
    """Joins shell lines into a prefix for Snakemake's commands, with braces doubled.

    >>> as_prefix(["set -e", "module load ${CUDA}  # 12.8"])
    'set -e\\nmodule load ${{CUDA}}  # 12.8\\n'
    """
    return "".join(f"{line}\n" for line in lines).replace("{", "{{").replace("}", "}}")


# --- on a node --------------------------------------------------------------------------------------------------------
def prepare_node(lines: Sequence[str] = (), contained: bool = False) -> None:
    """Prepares this process and the shells that it starts; each shell runs cluster.yaml's `setup`, then `lines`.

    A container has no modules, so for a contained command `setup` runs only once, here.
    """
    os.environ[JOB] = "1"
    cluster = settings.read()
    if contained:
        take_environment(cluster.setup)
    else:
        lines = [*cluster.setup, *lines]
    signal.signal(signal.SIGUSR1, lambda number, frame: None)  # not inherited by child processes, unlike SIG_IGN
    shell.prefix(as_prefix([OUTLIVE, *lines]))
    if cluster.scratch:
        use_scratch(cluster.scratch)


def take_environment(lines: Sequence[str]) -> None:
    """Runs shell lines such as `module load` and adopts their environment. Raises SteleError if they fail."""
    text = "\n".join(["set -e", "{", ":", *lines, "} >&2", "env -0"])
    done = subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SteleError(f"{settings.path()}: setup: failed with exit code {done.returncode} on {socket.gethostname()}")
    os.environ.update(item.split("=", 1) for item in done.stdout.decode().split("\0") if "=" in item)


def use_scratch(folder: str) -> None:
    """Uses a node's folder (with variables expanded) for temporary files. Raises SteleError if it cannot be made."""
    path = Path(os.path.expandvars(folder)).expanduser()
    if not path.is_absolute():  # a variable that is not set here stays as it is written
        raise SteleError(f"{settings.path()}: scratch: want a path that begins with /, found {path} on this node")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SteleError(f"{settings.path()}: scratch: {path} cannot be made on this node ({error.strerror})") from None
    os.environ["TMPDIR"] = str(path)
    tempfile.tempdir = None  # read anew from the environment

"""Patches: all changes to private code of Snakemake and of its SLURM plugins; README.md has the reason for each.

A patch is applied to the versions in SERIES only; with another version, a message says so and the run continues.
"""

import importlib.metadata
import sys
from functools import cache

SNAKEMAKE = "snakemake"
SLURM = "snakemake-executor-plugin-slurm"
JOBSTEP = "snakemake-executor-plugin-slurm-jobstep"
SERIES = {SNAKEMAKE: "9.27", SLURM: "2.8", JOBSTEP: "0.6"}  # versions that the patches fit ("9.27": every 9.27.*)


def applies(package: str) -> bool:
    """Whether the patches of a package fit the installed version; if not, prints a message, once."""
    difference = misfit(package)
    if difference:
        _warn(f"Stele: {difference}; Stele's patches of it are not applied")
    return not difference


def misfit(package: str) -> str:
    """Describes the installed and the fitting versions of a package if they differ; else returns ""."""
    installed, series = importlib.metadata.version(package), SERIES[package]
    if f"{installed}.".startswith(f"{series}."):
        return ""
    return f"{package} {installed} is installed, and Stele is made for {series}.* (`make setup` installs that)"


@cache
def _warn(sentence: str) -> None:
    print(sentence, file=sys.stderr)

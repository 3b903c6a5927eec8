"""Patches: all changes to private code of Snakemake and of its SLURM plugins, each with the versions that it fits.

A `Patch` names the upstream issue that it works around, or holds the text of one that is ready to file, and says what
makes it unnecessary. With other versions it is not applied; one message says so, and the run continues.
"""

import importlib.metadata
import sys
from dataclasses import dataclass
from functools import cache

SNAKEMAKE = "snakemake"
SLURM = "snakemake-executor-plugin-slurm"
JOBSTEP = "snakemake-executor-plugin-slurm-jobstep"
SERIES = {SNAKEMAKE: "9.27", SLURM: "2.8", JOBSTEP: "0.6"}  # versions that the patches fit ("9.27": every 9.27.*)


@dataclass(frozen=True)
class Patch:
    """A change to the code of another package.

    package     the package, by its name on PyPI
    upstream    the address of the issue, or the text of one that is ready to file: a title, an empty line, the body
    until       what makes the patch unnecessary
    """

    package: str
    upstream: str
    until: str

    def applies(self) -> bool:
        """Whether the patch fits the installed version; if not, prints a message, once."""
        misfit = self.misfit()
        if misfit:
            _warn(f"Stele: {misfit}; Stele's patches of it are not applied")
        return not misfit

    def misfit(self) -> str:
        """Describes the installed and the fitting versions if they differ; else returns ""."""
        installed = importlib.metadata.version(self.package)
        series = f"{SERIES[self.package]}."
        if f"{installed}.".startswith(series):
            return ""
        return f"{self.package} {installed} is installed, and Stele is made for {series}* (`make setup` installs that)"


@cache
def _warn(sentence: str) -> None:
    print(sentence, file=sys.stderr)

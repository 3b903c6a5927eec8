"""Create a project in a new folder: Snakefile, rules, config.yaml, profiles and the papers' tables.

    stele new my_project && cd my_project && snakemake -n results/tables/msm/table_16.md

For users of the installed package, without a clone. The tests, docs and evidence of a clone are left out.
"""

import os
import shutil
from pathlib import Path

from stele.command.arguments import Job, Positional
from stele.errors import SteleError
from stele.files.paths import FILES, project_folder

SLURM = ("slurm", "profiles/slurm")  # so that `--profile slurm` is found


class New(Job):
    folder: Positional[Path]
    """Folder of the project; it must be new or empty."""


def run(args: New) -> None:
    folder = args.folder.resolve()  # a link to an empty folder, too
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SteleError(f"{folder}: exists and is not empty; give a new folder")
    source = project_folder()
    unfinished = folder / f".unfinished.{os.getpid()}"
    try:
        for file in (file for part in FILES for file in (source / part, *(source / part).rglob("*")) if file.is_file()):
            copy = unfinished / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)  # without its mode: an installation may be read-only
        (unfinished / SLURM[0]).symlink_to(SLURM[1])
        for part in unfinished.iterdir():
            part.rename(folder / part.name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    print(f"{folder}: cd there, and run `snakemake -n all_tables` to see what would be built")

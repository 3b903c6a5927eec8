"""make real says before what it downloads and how long it takes: at most half an hour of two cores."""

import re
import subprocess
import sys

from tests.workflow.conftest import copy_project, environment


def test_the_first_real_table_is_planned_without_a_network(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    recipe = subprocess.run(["make", "-n", "real"], cwd=root, capture_output=True, text=True, check=True).stdout
    planned = next(line for line in recipe.replace("\\\n", " ").splitlines() if " -n " in line)
    command = planned.replace(".venv/bin/snakemake", f"{sys.executable} -m snakemake --cores 2")
    run = subprocess.run(command, cwd=project, shell=True, env=environment(), capture_output=True, text=True)
    figures = re.fullmatch(r"Stele: about (\d+) min on 2 cores, .*, (\d+) MB of it downloaded .*\n", run.stdout)
    assert figures, run.stdout + run.stderr
    assert int(figures[1]) <= 30 and int(figures[2]) < 1000
    assert not any((project / folder).exists() for folder in ("results_real", "work", "resources"))

"""What a dry run takes beside Snakemake's own work: a workflow of as many jobs that only copy files, ten in a chain."""

import os
import subprocess
import sys
from pathlib import Path

from tests.speed.table import ROOT, speed

LENGTH = 10  # jobs of a chain, each of a rule of its own
COPIES = f"""
rule all:
    input: expand("{LENGTH}/{{n}}.txt", n=range(int(config["chains"])))

rule start:
    output: "1/{{n}}.txt"
    log: "logs/1/{{n}}.log"
    params: word="text"
    message: "Start chain {{wildcards.n}}"
    shell: "echo {{params.word}} > {{output}} 2> {{log}}"

for number in range(2, {LENGTH} + 1):
    rule:
        name: f"copy_{{number}}"
        input: f"{{number - 1}}/{{{{n}}}}.txt"
        output: f"{{number}}/{{{{n}}}}.txt"
        log: f"logs/{{number}}/{{{{n}}}}.log"
        params: flags="-p"
        message: "Copy {{wildcards.n}}"
        shell: "cp {{params.flags}} {{input}} {{output}} 2> {{log}}"
"""


def planned(folder: Path, *arguments: str) -> int:
    """The number of jobs of a dry run in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "snakemake", "-n", *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return next(int(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("total"))


def enter(name: str, target: str, scale: str, wanted: float) -> None:
    tiny = {"target": "results/tables/context.json", "scale": "miniature"}

    @speed({"as many copies of files": wanted}, {"target": target, "scale": scale}, tiny, rounds=2, name=name)
    def dry_run(folder, target, scale):
        """Ours is planned once before: a plan keeps values of YAML files for the next."""
        ours, copies = folder / "ours", folder / "copies"
        for place in (ours, copies):
            place.mkdir()
        (copies / "Snakefile").write_text(COPIES)
        stele = ("-s", str(ROOT / "Snakefile"), target, "--config", f"scale={scale}")
        toy = ("--scheduler", "greedy", "--config", f"chains={max(1, round(planned(ours, *stele) / LENGTH))}")
        return lambda: planned(ours, *stele), [lambda: planned(copies, *toy)], lambda a, b: abs(a - b) <= LENGTH


enter("all tables, miniature", "all_tables", "miniature", 1 / 1.5)
enter("all tables, paper scale", "all_tables", "paper", 1 / 1.5)
enter("one result", "results/mrtydi/msm/zero_shot_nq.json", "miniature", 1 / 1.3)

"""What a job costs under SLURM beside its own work: the same jobs through `sbatch`, the local and the slurm profile.

    python -m tests.benchmarks.bench_slurm [jobs]

Brings a private cluster up (see tests/cluster/private.py), and runs one layer of `jobs` equal jobs of no work and a
chain of as many, each way. Prints seconds a job, and the ratio to plain `sbatch --wait` of the same shell command.
Nearly all of it is waiting for the next look at the queue (4 s here, 20 s in the profile) and starting Snakemake twice.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.cluster.private import Cluster, install
from tests.workflow.conftest import environment

RULES = """
rule wide:
    input: expand("wide.{{n}}.txt", n=range({jobs}))

rule deep:
    input: "deep.{jobs}.txt"

rule one:
    output: "wide.{{n}}.txt"
    shell: "true > {{output}}"

rule next:
    input: lambda w: f"deep.{{int(w.n) - 1}}.txt" if int(w.n) > 1 else []
    output: "deep.{{n}}.txt"
    shell: "true > {{output}}"
"""
LOOK = 4
SLURM = [
    "--executor",
    "slurm",
    "--jobs",
    "100",
    "--slurm-status-command",
    "squeue",
    "--default-resources",
    "mem_mb=1000",  # Snakemake itself, twice
]
WAYS = {
    "local profile": ["--cores", "2"],
    "slurm profile": [
        *SLURM,
        "runtime=5",
        "--slurm-init-seconds-before-status-checks",
        str(LOOK),
        "--latency-wait",
        "5",
    ],
}


def keep_configuration(cluster: Cluster) -> None:
    """An srun that finds its cluster: the plugin drops SLURM_CONF, which Stele's own workflow puts back."""
    wrapper = cluster.folder / "bin/srun"
    wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={cluster.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    wrapper.chmod(0o755)


def seconds(command: list[str], folder: Path, settings: dict[str, str]) -> float:
    """Wall time of a command that must succeed."""
    started = time.monotonic()
    subprocess.run(command, cwd=folder, env=settings, check=True, capture_output=True)
    return time.monotonic() - started


def measure(cluster: Cluster, jobs: int, folder: Path) -> dict[str, dict[str, float]]:
    """Way -> seconds of a layer of jobs and of a chain of them."""
    settings = environment(**cluster.environment)
    (folder / "Snakefile").write_text(RULES.format(jobs=jobs))
    plain = ["sbatch", "--wait", "-o", "/dev/null", "--wrap", "true"]
    layer = f"for i in $(seq {jobs}); do sbatch --wait -o /dev/null --wrap true & done; wait"
    actual = {
        "plain sbatch": {
            "layer": seconds(["bash", "-c", layer], folder, settings),
            "chain": sum(seconds(plain, folder, settings) for _ in range(jobs)),
        }
    }
    for name, options in WAYS.items():
        actual[name] = {}
        for shape, target in (("layer", "wide"), ("chain", "deep")):
            for made in folder.glob("*.txt"):
                made.unlink()
            command = [sys.executable, "-m", "snakemake", *options, "--", target]
            actual[name][shape] = seconds(command, folder, settings)
    return actual


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    if reason := install():
        sys.exit(f"no SLURM cluster: {reason}")
    with tempfile.TemporaryDirectory(prefix="slurm-") as state, tempfile.TemporaryDirectory() as work:
        os.chmod(state, 0o755)
        cluster = Cluster(Path(state))
        try:
            cluster.up()
            keep_configuration(cluster)
            actual = measure(cluster, jobs, Path(work))
        finally:
            cluster.down()
    base = actual["plain sbatch"]
    print(f"{jobs} jobs of no work; looks at the queue every {LOOK} s and up")
    for name, times in actual.items():
        each = ", ".join(
            f"{shape} {took:.1f} s ({took / jobs:.1f} s a job, {took / base[shape]:.1f} times sbatch)"
            for shape, took in times.items()
        )
        print(f"{name}: {each}")


if __name__ == "__main__":
    main()

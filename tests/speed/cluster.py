"""What a job costs under SLURM beside its own work: jobs of no work on a private cluster (tests/cluster/private.py)."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.speed.table import Unavailable, speed

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
# looks at the queue every 4 s; memory is that of Snakemake itself, twice
SLURM = [
    *("--executor", "slurm", "--jobs", "100", "--slurm-status-command", "squeue"),
    *("--default-resources", "mem_mb=1000", "runtime=5"),
    *("--slurm-init-seconds-before-status-checks", "4", "--latency-wait", "5"),
]


def enter_shape(shape: str, target: str, plain: str, wanted: float) -> None:
    peers = {"sbatch --wait of the same jobs": wanted, "the local profile": wanted}

    @speed(peers, {"jobs": 4}, {"jobs": 1}, rounds=1, unit="s of wall time", name=f"SLURM profile, {shape}")
    def jobs_of_no_work(folder, jobs):
        """Nearly all is waiting for the next look at the queue and starting Snakemake twice."""
        from tests.cluster.private import Cluster, install
        from tests.workflow.conftest import environment

        if reason := install():
            raise Unavailable(f"no SLURM cluster: {reason}")
        state, work = folder / "state", folder / "work"
        state.mkdir()
        work.mkdir()
        for reached in (folder, state):  # munged wants its socket within everybody's reach
            reached.chmod(0o755)
        cluster, times = Cluster(state), {}
        (work / "Snakefile").write_text(RULES.format(jobs=jobs))

        def seconds(command: list[str]) -> float:
            for made in work.glob("*.txt"):
                made.unlink()
            begin = time.monotonic()
            settings = environment(**cluster.environment)
            subprocess.run(command, cwd=work, env=settings, check=True, capture_output=True)
            return time.monotonic() - begin

        snakemake = [sys.executable, "-m", "snakemake"]
        try:
            cluster.up()
            # an srun that finds its cluster: the plugin drops SLURM_CONF, which Stele's own workflow puts back
            wrapper = Path(cluster.folder) / "bin/srun"
            command = f'SLURM_CONF={cluster.folder}/slurm.conf exec {shutil.which("srun")} "$@"'
            wrapper.write_text(f"#!/bin/sh\n{command}\n")
            wrapper.chmod(0o755)
            times["ours"] = seconds([*snakemake, *SLURM, "--", target])
            times["sbatch"] = seconds(["bash", "-c", plain.format(jobs=jobs)])
            times["local"] = seconds([*snakemake, "--cores", "2", "--", target])
        finally:
            cluster.down()
        return lambda: times["ours"], [lambda: times["sbatch"], lambda: times["local"]], lambda a, b: True


JOB = "sbatch --wait -o /dev/null --wrap true"
enter_shape("a layer", "wide", f"for i in $(seq {{jobs}}); do {JOB} & done; wait", 0.02)
enter_shape("a chain", "deep", f"for i in $(seq {{jobs}}); do {JOB}; done", 0.02)

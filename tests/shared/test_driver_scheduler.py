"""Snakemake's scheduler as a run sets it up: a rate limit without a chain of timers."""

import subprocess
import sys

import pytest

JOBS = 40
# each job notes how many threads Snakemake, the parent of its shell, has then
SNAKEFILE = f"""
from stele.driver.scheduler import limit_rate

onstart:
    if config["local"] != "untouched":
        limit_rate(workflow.scheduler, local=config["local"])

rule all:
    input: expand("{{n}}.txt", n=range({JOBS}))

rule one:
    output: "{{n}}.txt"
    shell: "grep Threads /proc/$PPID/status | cut -f 2 > {{output}}; date +%s.%N >> {{output}}; sleep 0.3"
"""


def build(folder, local, *arguments):
    """The most threads that a run of the toy workflow had, and the seconds from its first job to its last."""
    (folder / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "4", "--config", f"local={local}", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    made = [(folder / f"{n}.txt").read_text().split() for n in range(JOBS)]
    started = [float(time) for _, time in made]
    return max(int(threads) for threads, _ in made), max(started) - min(started)


@pytest.mark.slow
def test_a_run_here_has_no_timers(tmp_path):
    threads, _ = build(tmp_path, True)
    assert threads <= 12, "Snakemake itself, and a thread for each core and for five more"


@pytest.mark.slow
def test_on_a_cluster_the_limit_holds_with_one_timer_at_a_time(tmp_path):
    threads, seconds = build(tmp_path, False, "--max-jobs-per-timespan", "10/1s")
    assert threads <= 12
    assert seconds >= 3 - 0.5, "40 jobs at 10 a second: the last ones wait for three seconds"


@pytest.mark.slow
def test_the_scheduler_that_is_locked_still_starts_timers_of_its_own(tmp_path):
    """Should this fail with a new Snakemake, `limit_rate` may go."""
    threads, _ = build(tmp_path, "untouched")
    assert threads > 12

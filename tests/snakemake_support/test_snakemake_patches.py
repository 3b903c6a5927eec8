"""The rate limit, which starts a chain of timers, is gone unless a user gives one; what is removed is made again."""

import subprocess
import sys

import pytest

from tests.waiting import PATIENCE

JOBS = 24
# each job notes how many threads Snakemake, the parent of its shell, has then
SNAKEFILE = f"""
import threading
from stele.snakemake_support.patches.snakemake_patches import drop_rate_limit

timers = []

class Timer(threading.Timer):
    def __init__(self, *arguments):
        timers.append(arguments)
        super().__init__(*arguments)

threading.Timer = Timer

onstart:
    drop_rate_limit(workflow, local=config["local"])

onsuccess:
    with open("timers", "w") as handle:
        handle.write(str(len(timers)))

rule all:
    input: expand("{{n}}.txt", n=range({JOBS}))

rule one:
    output: "{{n}}.txt"
    shell: "grep Threads /proc/$PPID/status | cut -f 2 > {{output}}; date +%s.%N >> {{output}}; sleep 0.1"
"""


def build(folder, local, *arguments):
    """A run of the toy workflow: its timers, its most threads, and the seconds from its first job to its last."""
    (folder / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "4", "--config", f"local={local}", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    made = [(folder / f"{n}.txt").read_text().split() for n in range(JOBS)]
    started = [float(time) for _, time in made]
    threads = max(int(threads) for threads, _ in made)
    return int((folder / "timers").read_text()), threads, max(started) - min(started)


@pytest.mark.slow
def test_a_run_here_has_no_timers(tmp_path):
    timers, threads, _ = build(tmp_path, True)
    assert timers == 0 and threads <= 12, "Snakemake itself, and a thread for each core and for five more"


@pytest.mark.slow
def test_on_a_cluster_only_a_limit_that_the_user_gives_holds(tmp_path):
    assert build(tmp_path, False)[0] == 0
    for made in tmp_path.glob("*.txt"):
        made.unlink()
    _, _, seconds = build(tmp_path, False, "--max-jobs-per-timespan", "4/1s")
    assert seconds >= 5 - 0.5, "24 jobs at 4 a second: the last ones wait for five seconds"


SHOWN = """
from stele.snakemake_support.patches.snakemake_patches import make_removed_results_again

make_removed_results_again()

rule all_tables:
    input: "table.md"
    output: "page.html"
    shell: "cp {input} {output}"

rule table:
    input: "result.json"
    output: "table.md"
    shell: "cp {input} {output}"

rule average:
    input: "seed.json"
    output: "result.json"
    shell: "cp {input} {output}"

rule score:
    output: "seed.json"
    shell: "echo 1 > {output}"
"""


@pytest.mark.slow
@pytest.mark.parametrize("removed", [["table.md"], ["result.json"], ["table.md", "result.json", "seed.json"], []])
def test_what_a_page_shows_is_made_again_if_it_was_removed(tmp_path, removed):
    (tmp_path / "Snakefile").write_text(SHOWN)
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    for _ in range(2):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 0, run.stderr
        assert all((tmp_path / name).exists() for name in ("page.html", "table.md", "result.json"))
        for name in removed:
            (tmp_path / name).unlink(missing_ok=True)
    assert ("Nothing to be done" in run.stderr) == (not removed)
